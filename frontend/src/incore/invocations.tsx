/** Many invocations: how their figures are spread, and which one is looked at. */

import { useMemo } from "preact/hooks";
import { numberColumn, wordColumn } from "../ui/columns";
import { DataTable } from "../ui/data_table";
import { useRecordDocument } from "../ui/documents";
import { useSession } from "../ui/session";
import { Link, SmallTable } from "../ui/small_table";
import type { InCoreDocument } from "./document";
import { histogram } from "./histogram";
import type { Units } from "./units";

interface InvocationsProps {
  readonly document: InCoreDocument;
  readonly units: Units;
}

/** The spread of each phase, a histogram of the chosen one, and a row for each invocation. */
export function Invocations({ document, units }: InvocationsProps) {
  const session = useSession();
  const columns = document.columns ?? [];
  const { metric } = session.state.value;
  const shown = columns.includes(metric) ? metric : "total";
  return (
    <>
      <div class="spread">
        <Spreads document={document} units={units} shown={shown} />
        <Histogram document={document} units={units} name={shown} chosen={null} tall />
      </div>
      <InvocationTable document={document} units={units} />
    </>
  );
}

/** Each phase over the invocations. The median of the total is not the sum of the phases' medians. */
function Spreads({ document, units, shown }: InvocationsProps & { shown: string }) {
  const session = useSession();
  const known = Object.entries(document.detail?.distributions ?? {});
  const rows = known.flatMap(([name, found]) => {
    if (found === null) return [];
    const { min, median_x2, p99_nearest_rank, max } = found;
    const link = <Link text={name} chosen={name === shown} onPick={() => session.update({ metric: name })} />;
    const figures = [min, median_x2 / 2, p99_nearest_rank, max].map(units.cell);
    return [{ key: name, chosen: name === shown, cells: [link, ...figures] }];
  });
  return (
    <SmallTable
      title={`Over ${(known[0]?.[1]?.n ?? 0).toLocaleString()} usable invocations`}
      columns={["", "min", "median", "p99", "max"]}
      rows={rows}
      note="Medians of phases do not add up to the median of the total."
    />
  );
}

interface HistogramProps extends InvocationsProps {
  readonly name: string;
  readonly chosen: number | null;
  readonly tall?: boolean;
}

const BINS = 60;

/** How many invocations lie where; a bar leads to one of its invocations. */
export function Histogram({ document, units, name, chosen, tall = false }: HistogramProps) {
  const session = useSession();
  const at = document.columns?.indexOf(name) ?? -1;
  const found = useMemo(
    () =>
      histogram(
        (document.per_invocation ?? []).map((row) => row?.[at] ?? null),
        BINS,
      ),
    [document, at],
  );
  if (found === null) return null;
  const own = chosen === null ? null : (document.per_invocation?.[chosen]?.[at] ?? null);
  const most = Math.max(...found.bins.map(({ count }) => count));
  return (
    <figure class={tall ? "histogram tall" : "histogram"} aria-label={`${name} over the invocations`}>
      <div class="bars">
        {found.bins.map(({ from, to, count, invocation }) => (
          <button
            key={from}
            type="button"
            tabIndex={-1}
            disabled={count === 0}
            class={own !== null && own >= from && own <= to ? "bar own" : "bar"}
            title={`${units.say(from)} to ${units.say(to)}: ${count.toLocaleString()} invocations; shows invocation ${invocation}`}
            onClick={() => session.setOption("invocation", String(invocation))}
          >
            <span style={{ height: `${(count / most) * 100}%` }} />
          </button>
        ))}
      </div>
      <figcaption>
        <span>{units.say(found.low)}</span>
        <span>
          {own === null ? name : `longer than ${found.below(own).toLocaleString()} of ${found.n.toLocaleString()}`}
        </span>
        <span>{units.say(found.high)}</span>
      </figcaption>
    </figure>
  );
}

/** Which invocation of how many is shown; its place among all of them. */
export function InvocationPicker({ invocation, units }: { invocation: number; units: Units }) {
  const session = useSession();
  const all = useRecordDocument<InCoreDocument>("incore", { detail: "full", compare: "" }, ["invocation"]).data.value;
  if (all?.per_invocation === undefined) return null;
  const last = all.per_invocation.length - 1;
  const go = (to: number) => {
    if (to >= 0 && to <= last) session.setOption("invocation", String(to));
  };
  return (
    <>
      <div class="picker invocation">
        <button type="button" class="button" onClick={() => session.setOption("invocation", null)}>
          All invocations
        </button>
        <button type="button" class="icon-button" aria-label="Earlier invocation" onClick={() => go(invocation - 1)}>
          ‹
        </button>
        <input
          type="text"
          inputMode="numeric"
          aria-label="Invocation"
          value={invocation}
          onChange={(event) => go(Number(event.currentTarget.value))}
        />
        <span class="muted">{`of 0 to ${last.toLocaleString()}`}</span>
        <button type="button" class="icon-button" aria-label="Later invocation" onClick={() => go(invocation + 1)}>
          ›
        </button>
      </div>
      <Histogram document={all} units={units} name="total" chosen={invocation} />
    </>
  );
}

interface InvocationRow {
  readonly index: number;
  readonly values: readonly number[] | null;
}

/** One row for each invocation; Enter or a double click shows it alone. */
function InvocationTable({ document, units }: InvocationsProps) {
  const session = useSession();
  const { sort, key } = session.state.value;
  const rows = useMemo(() => (document.per_invocation ?? []).map((values, index) => ({ index, values })), [document]);
  const columns = useMemo(() => invocationColumns(document, rows, units), [document, rows, units]);
  return (
    <DataTable
      label="Invocations"
      columns={columns}
      rows={rows}
      id={({ index }) => String(index)}
      sort={sort}
      onSort={(next) => session.update({ sort: next })}
      selected={key}
      onSelect={(next) => session.update({ key: next })}
      onOpen={({ index }) => session.setOption("invocation", String(index))}
    />
  );
}

function invocationColumns(document: InCoreDocument, rows: readonly InvocationRow[], units: Units) {
  const number = numberColumn<InvocationRow>(rows, {
    key: "invocation",
    title: "invocation",
    help: "Counted from 0; Enter or a double click shows one alone",
    quantity: "count",
    value: ({ index }) => index,
  });
  const figures = (document.columns ?? []).map((name, at) => figureColumn(rows, name, at, units));
  const problems = (document.bad_invocations ?? []).length > 0 ? [problemColumn(document)] : [];
  return [number, ...figures, ...problems];
}

function figureColumn(rows: readonly InvocationRow[], name: string, at: number, units: Units) {
  const value = ({ values }: InvocationRow) => values?.[at] ?? null;
  const title = name.replaceAll("_", " ");
  const column = numberColumn(rows, { key: name, title, help: `${title}, in cycles`, quantity: "cycles", value });
  const inFull = (row: InvocationRow) => {
    const found = value(row);
    return found === null ? "not usable" : units.exact(found);
  };
  return { ...column, cell: (row: InvocationRow) => ({ ...column.cell(row), title: inFull(row) }) };
}

function problemColumn({ bad_invocations = [] }: InCoreDocument) {
  const codes = new Map(
    bad_invocations.map(({ invocation, codes }) => [invocation, codes.map(({ code }) => code).join(", ")]),
  );
  const column = wordColumn<InvocationRow>({
    key: "problem",
    title: "problem",
    help: "What is wrong with its stamps; the notice above has slots and remedies",
    width: 200,
    grows: true,
    value: ({ index }) => codes.get(index) ?? null,
  });
  return { ...column, cell: ({ index }: InvocationRow) => ({ text: codes.get(index) ?? "" }) };
}
