/** Where the time of each step goes, and what each accelerator did in it. */

import { useMemo } from "preact/hooks";
import { CATEGORIES } from "../lib/parts";
import { counted, exact, format, percent } from "../lib/units";
import { largestOf, numberColumn, wordColumn } from "../ui/columns";
import { type DataColumn, DataTable } from "../ui/data_table";
import { Fact } from "../ui/facts";
import { useSession } from "../ui/session";
import { Empty, Loaded } from "../ui/states";
import { useShape } from "../ui/trace_document";
import { Bar, Legend } from "./bar";
import type { BreakdownDocument, DeviceSummary, StepTime } from "./documents";

export function Steps() {
  const resource = useShape<BreakdownDocument>("breakdown");
  return <Loaded resource={resource}>{(document) => <Breakdown document={document} />}</Loaded>;
}

function Breakdown({ document }: { document: BreakdownDocument }) {
  const session = useSession();
  const { sort, key } = session.state.value;
  const columns = useMemo(() => stepColumns(document), [document]);
  const rows = document.steps;
  if (rows.length === 0) return <Empty title="No time in this profile">It holds no executions on any thread.</Empty>;
  return (
    <div class="main-column">
      <StepSpread document={document} />
      <DataTable
        label="Time of each step"
        columns={columns}
        rows={rows}
        id={stepKey}
        sort={sort}
        onSort={(next) => session.update({ sort: next })}
        selected={key}
        onSelect={(next) => session.update({ key: next })}
        onOpen={({ start_ps, duration_ps }) =>
          session.update({ pane: "trace", zoom: [start_ps, start_ps + duration_ps], key: "" })
        }
        rowClass={({ complete }) => (complete ? "" : "muted")}
      />
      {document.devices.length > 0 && <Devices devices={document.devices} />}
    </div>
  );
}

function StepSpread({ document }: { document: BreakdownDocument }) {
  const { count, min_ps, p50_ps, p95_ps, max_ps } = document.step_time;
  const cut = document.steps.length - count;
  return (
    <div class="pane-head">
      <div>
        <b title={exact("ps", p50_ps)}>{format("ps", p50_ps)}</b> <span class="muted">median of</span>{" "}
        {count === 1 && document.steps[0]?.id === null
          ? "the whole profile, which names no steps"
          : counted(count, "step")}
        {count > 1 && (
          <span class="muted">
            {` · shortest ${format("ps", min_ps)} · 95th percentile ${format("ps", p95_ps)} · longest ${format("ps", max_ps)}`}
          </span>
        )}
        {cut > 0 && <span class="muted">{` · ${cut} more cut off by the profiler, in no total`}</span>}
      </div>
      <Legend parts={CATEGORIES} values={document.total_ps} />
    </div>
  );
}

function stepKey({ id, name }: StepTime): string {
  return String(id ?? name);
}

function stepColumns({ steps, categories, total_ps }: BreakdownDocument): DataColumn<StepTime>[] {
  const largest = largestOf(steps, (step) => step.duration_ps);
  const title = ({ id, name, complete }: StepTime) =>
    `${name || (id === null ? "whole profile" : `step ${id}`)}${complete ? "" : " (cut off)"}`;
  const help = "From its start on the host, or the end of the step before, to its end with its last device work";
  return [
    wordColumn<StepTime>({ key: "step", title: "step", help: "Enter opens its trace", width: 170, value: title }),
    numberColumn(steps, { key: "time", title: "time", help, quantity: "ps", value: (step) => step.duration_ps }),
    {
      ...wordColumn<StepTime>({
        key: "parts",
        title: "parts",
        help: "A moment is of the first part, from the left, that runs in it on any thread or stream",
        width: 240,
        grows: true,
        value: () => null,
      }),
      content: (step) => <Bar parts={CATEGORIES} values={step.parts_ps} whole={largest} />,
    },
    ...categories
      .filter((category) => (total_ps[category] ?? 0) > 0)
      .map((category) =>
        numberColumn(steps, {
          key: category,
          title: CATEGORIES[category]?.title ?? category,
          help: `Time that is ${category} and nothing before it in the order of the parts`,
          quantity: "ps" as const,
          largest,
          value: (step) => step.parts_ps[category] ?? 0,
        }),
      ),
  ];
}

function Devices({ devices }: { devices: readonly DeviceSummary[] }) {
  return (
    <div class="pane-cards">
      {devices.map((device) => (
        <section key={device.name} class="pane-card">
          <h2>
            {device.name} <span class="muted">{device.model}</span>
          </h2>
          <dl class="facts">
            {deviceFacts(device).map(([name, value, title]) => (
              <Fact key={name} name={name} value={value} title={title} />
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}

type NamedFact = readonly [name: string, value: string, title: string];

/** Those that are known, each with what it means. */
function deviceFacts(device: DeviceSummary): NamedFact[] {
  const { busy_ps, span_ps, sm_efficiency, occupancy, tensor_cores, memory_bytes } = device;
  const busy = `The share of the steps in which a kernel runs on any stream: ${ofWhole(busy_ps, span_ps)}`;
  const facts: (NamedFact | null)[] = [
    ["utilization", percent(busy_ps, span_ps), busy],
    sm_efficiency === null ? null : ["est. SM efficiency", percent(sm_efficiency, 1), SM_EFFICIENCY],
    occupancy === null ? null : ["est. achieved occupancy", percent(occupancy, 100), OCCUPANCY],
    tensor_cores === null ? null : tensorCoreFact(tensor_cores),
    ["kernels", device.kernels.toLocaleString(), "Kernels that ran in the steps"],
    memory_bytes === null ? null : ["memory", format("bytes", memory_bytes), exact("bytes", memory_bytes)],
    device.compute_capability === "" ? null : ["compute capability", device.compute_capability, ""],
  ];
  return facts.filter((fact) => fact !== null);
}

const SM_EFFICIENCY = "Estimate: blocks per SM of the kernels that run, at most 1, mean over the steps";
const OCCUPANCY = "The profiler's estimate, a mean over kernel time";
const TENSOR_CORES =
  "The share of kernel time of kernels that use Tensor Cores (on AMD: Matrix Cores), as far as their names say";

/** A share of kernel time; of a range where names leave something open. */
function tensorCoreFact({ uses_ps, silent_ps, kernel_ps }: NonNullable<DeviceSummary["tensor_cores"]>): NamedFact {
  const open = silent_ps > 0 ? ` · ${percent(silent_ps, kernel_ps)} of kernels whose names say nothing` : "";
  const share = silent_ps > 0 && uses_ps === 0 ? "none by name" : percent(uses_ps, kernel_ps);
  const value = silent_ps > 0 && uses_ps > 0 ? `at least ${share}` : share;
  return ["Tensor Core kernels", value, `${TENSOR_CORES}: ${ofWhole(uses_ps, kernel_ps)}${open}`];
}

function ofWhole(part_ps: number, whole_ps: number): string {
  return `${exact("ps", part_ps)} of ${exact("ps", whole_ps)}`;
}
