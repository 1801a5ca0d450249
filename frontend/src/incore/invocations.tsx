/** Many invocations: how their figures are spread, and which one is looked at. */

import { useMemo } from "preact/hooks";
import { numberColumn } from "../ui/columns";
import { DataTable } from "../ui/data_table";
import { useRecordDocument } from "../ui/documents";
import { useSession } from "../ui/session";
import type { DistributionDocument, InCoreDocument } from "./document";
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
  const known = Object.entries(document.detail?.distributions ?? {}).flatMap(([name, found]) =>
    found === null ? [] : [{ name, found }],
  );
  const n = known[0]?.found.n ?? 0;
  return (
    <section>
      <h2>{`Over ${n.toLocaleString()} usable invocations`}</h2>
      <table class="small-table">
        <thead>
          <tr>
            {["", "min", "median", "p99", "max"].map((title, at) => (
              <th key={title} scope="col" class={at > 0 ? "num" : ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {known.map(({ name, found }) => (
            <tr key={name} class={name === shown ? "chosen" : ""}>
              <th scope="row">
                <button
                  type="button"
                  class="link"
                  aria-pressed={name === shown}
                  onClick={() => session.update({ metric: name })}
                >
                  {name}
                </button>
              </th>
              {figuresOf(found).map(([title, value]) => (
                <td key={title} class="num" title={units.exact(value)}>
                  {units.say(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted">Medians of phases do not add up to the median of the total.</p>
    </section>
  );
}

function figuresOf(found: DistributionDocument): [string, number][] {
  return [
    ["min", found.min],
    ["median", found.median_x2 / 2],
    ["p99", found.p99_nearest_rank],
    ["max", found.max],
  ];
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
          {own === null
            ? name
            : `${name} of this one: ${units.say(own)}, longer than ${found.below(own)} of ${found.n}`}
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
  const names = document.columns ?? [];
  const rows = useMemo(() => (document.per_invocation ?? []).map((values, index) => ({ index, values })), [document]);
  const columns = useMemo(() => {
    const number = numberColumn<InvocationRow>(rows, {
      key: "invocation",
      title: "invocation",
      help: "Counted from 0; Enter or a double click shows one alone",
      quantity: "count",
      value: ({ index }) => index,
    });
    const figures = names.map((name, at) => {
      const value = ({ values }: InvocationRow) => values?.[at] ?? null;
      const title = name.replaceAll("_", " ");
      const column = numberColumn(rows, { key: name, title, help: `${title}, in cycles`, quantity: "cycles", value });
      const say = (row: InvocationRow) => {
        const found = value(row);
        return found === null ? "not usable" : units.exact(found);
      };
      return { ...column, cell: (row: InvocationRow) => ({ ...column.cell(row), title: say(row) }) };
    });
    return [number, ...figures];
  }, [rows, names, units]);
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
