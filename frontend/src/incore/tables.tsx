/** The figures of the in-core lens as tables. */

import { useMemo } from "preact/hooks";
import { percent } from "../lib/units";
import { numberColumn } from "../ui/columns";
import { DataTable } from "../ui/data_table";
import { useSession } from "../ui/session";
import {
  type DetailDocument,
  type DistributionDocument,
  type InCoreDocument,
  type Phase,
  slotNames,
  sumOf,
} from "./document";

type Say = (cycles: number) => string;

interface PhaseTableProps {
  readonly phases: readonly Phase[];
  readonly detail: DetailDocument | undefined;
  readonly cycles: Say;
}

/** The phases of one task, which add up to it. */
export function PhaseTable({ phases, detail, cycles }: PhaseTableProps) {
  const sum = sumOf(phases);
  const most = Math.max(...phases.map((phase) => phase.cycles));
  return (
    <section class="block">
      <h2>Phases</h2>
      <table class="small-table">
        <thead>
          <tr>
            <th>phase</th>
            <th class="num">cycles</th>
            <th class="num">time</th>
            <th class="num">share</th>
            <th>ends with</th>
          </tr>
        </thead>
        <tbody>
          {phases.map((phase) => (
            <tr key={phase.name} class={phase.cycles === most ? "longest" : ""}>
              <td>{phase.cycles === most ? `${phase.name} (longest)` : phase.name}</td>
              <td class="num">{phase.cycles.toLocaleString()}</td>
              <td class="num">{cycles(phase.cycles)}</td>
              <td class="num">{percent(phase.cycles, sum)}</td>
              <td class="muted">{endOf(phase, detail)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>sum</td>
            <td class="num">{sum.toLocaleString()}</td>
            <td class="num">{cycles(sum)}</td>
            <td class="num">{percent(1, 1)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

/** The slots that set the boundary at which a phase ends. */
function endOf({ name }: Phase, detail: DetailDocument | undefined): string {
  const end = name.includes(" → ") ? name.slice(name.indexOf(" → ") + 3) : name.slice(0, name.indexOf("-"));
  const boundary = detail?.boundaries?.find((one) => one.name === end);
  if (detail === undefined || boundary === undefined || boundary.deciding_slots.length === 0) return "";
  const names = boundary.deciding_slots.slice(0, 4).map(slotNames(detail)).join(", ");
  const more = boundary.deciding_slots.length > 4 ? ` and ${boundary.deciding_slots.length - 4} more` : "";
  return `${boundary.reduce} of ${end}: ${names}${more}`;
}

const COLLECTIVE: readonly [string, string, string, string?][] = [
  ["arrival_skew", "arrival skew", "From the first to the last arrival", "last_arrival_slots"],
  [
    "first_release_service",
    "first release service",
    "From the last arrival to the first release",
    "first_release_slots",
  ],
  ["release_skew", "release skew", "From the first to the last release"],
  ["full_release_tail", "full release tail", "From the last arrival to the last release"],
  [
    "early_core_residence",
    "early core residence",
    "The longest that a core waits inside",
    "early_core_residence_slots",
  ],
];

interface CollectiveProps {
  readonly collective: NonNullable<InCoreDocument["collective"]>;
  readonly cycles: Say;
  readonly detail: DetailDocument | undefined;
}

export function Collective({ collective, cycles, detail }: CollectiveProps) {
  const name = slotNames(detail ?? {});
  const slots = (key: string | undefined) => {
    const found = key === undefined ? undefined : collective[key];
    return Array.isArray(found) ? found.slice(0, 6).map(name).join(", ") : "";
  };
  return (
    <section class="block">
      <h2>Collective</h2>
      <table class="small-table">
        <tbody>
          {COLLECTIVE.filter(([key]) => typeof collective[key] === "number").map(([key, title, help, slotKey]) => (
            <tr key={key} title={help}>
              <td>{title}</td>
              <td class="num">{Number(collective[key]).toLocaleString()}</td>
              <td class="num">{cycles(Number(collective[key]))}</td>
              <td class="muted">{slots(slotKey) || help}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface DistributionsProps {
  readonly distributions: Readonly<Record<string, DistributionDocument | null>>;
  readonly cycles: Say;
}

/** Each phase over the invocations. The median of the total is not the sum of the phases' medians. */
export function Distributions({ distributions, cycles }: DistributionsProps) {
  const known = Object.entries(distributions).flatMap(([name, found]) => (found === null ? [] : [{ name, found }]));
  if (known.length === 0) return null;
  return (
    <section class="block">
      <h2>Phases over the invocations</h2>
      <table class="small-table">
        <thead>
          <tr>
            {["phase", "min", "median", "p99", "max", "n"].map((title, at) => (
              <th key={title} class={at > 0 ? "num" : ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {known.map(({ name, found }) => (
            <tr key={name}>
              <td>{name}</td>
              {[found.min, found.median_x2 / 2, found.p99_nearest_rank, found.max].map((value, at) => (
                <td key={["min", "median", "p99", "max"][at]} class="num" title={`${value.toLocaleString()} cycles`}>
                  {cycles(value)}
                </td>
              ))}
              <td class="num">{found.n.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted">Medians of phases do not add up to the median of the total.</p>
    </section>
  );
}

interface InvocationRow {
  readonly index: number;
  readonly values: readonly number[] | null;
}

/** One row for each invocation; Enter or a double click shows it alone. */
export function Invocations({ document, cycles }: { document: InCoreDocument; cycles: Say }) {
  const session = useSession();
  const { sort, key } = session.state.value;
  const names = document.columns ?? [];
  const rows = useMemo(() => (document.per_invocation ?? []).map((values, index) => ({ index, values })), [document]);
  const columns = useMemo(() => {
    const number = numberColumn<InvocationRow>(rows, {
      key: "invocation",
      title: "invocation",
      help: "Counted from 0; double-click shows one alone",
      quantity: "count",
      value: ({ index }) => index,
    });
    const figures = names.map((name, at) => {
      const value = ({ values }: InvocationRow) => values?.[at] ?? null;
      const column = numberColumn(rows, {
        key: name,
        title: name,
        help: `${name}, in cycles`,
        quantity: "cycles",
        value,
      });
      const say = (row: InvocationRow) => {
        const found = value(row);
        return found === null ? "not usable" : cycles(found);
      };
      return { ...column, cell: (row: InvocationRow) => ({ ...column.cell(row), title: say(row) }) };
    });
    return [number, ...figures];
  }, [rows, names, cycles]);
  return (
    <section class="block tall">
      <h2>Invocations, in cycles</h2>
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
    </section>
  );
}

/** Merged against split, pair by pair. */
export function Pairs({ document, cycles }: { document: InCoreDocument; cycles: Say }) {
  const total = (parts: NonNullable<InCoreDocument["per_pair"]>[number]["merged"]) =>
    parts === null ? "—" : cycles(Number(parts.total));
  return (
    <section class="block">
      <h2>Merged against split</h2>
      <table class="small-table">
        <thead>
          <tr>
            {["pair", "merged", "split", "merged − split"].map((title, at) => (
              <th key={title} class={at > 0 ? "num" : ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(document.per_pair ?? []).slice(0, 500).map(({ pair, merged, split, total_delta }) => (
            <tr key={pair}>
              <td>{pair}</td>
              <td class="num">{total(merged)}</td>
              <td class="num">{total(split)}</td>
              <td class="num">{total_delta === null ? "—" : cycles(total_delta)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
