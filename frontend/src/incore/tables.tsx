/** The figures of one kernel as tables. What names a phase or a slot selects it. */

import { percent } from "../lib/units";
import { Link, SmallTable } from "../ui/small_table";
import {
  type BoundaryDocument,
  type DetailDocument,
  type InCoreDocument,
  phasesOf,
  slotNames,
  sumOf,
} from "./document";
import type { Units } from "./units";

interface FiguresProps {
  readonly document: InCoreDocument;
  readonly units: Units;
}

export interface TablesProps extends FiguresProps {
  /** The selected phase and slot, empty for none. */
  readonly phase: string;
  readonly slot: string;
  readonly pickPhase: (name: string) => void;
  readonly pickSlot: (slot: number, boundary: number) => void;
}

const MOST_SLOTS = 6;

/** The moments between the phases: which slots set them, and what the stamps mean. */
export function Boundaries(props: TablesProps) {
  const { document, units } = props;
  const { detail = {}, boundaries, boundary_values } = document;
  const values = boundaries ?? boundary_values ?? {};
  const rows = (detail.boundaries ?? []).map((boundary, at) => {
    const { name, reduce, deciding_slots } = boundary;
    const stamp = values[name];
    const offset = stamp === undefined ? null : Number(BigInt(stamp) - BigInt(detail.base ?? "0"));
    return {
      key: name,
      title: `${reduce} over its slots: ${stamp}`,
      cells: [name, units.cell(offset), slotLinks(props, deciding_slots, at), meaningOf(boundary, detail)],
    };
  });
  const columns = ["", "stamp", "set by", "the stamp marks"];
  // Columns of the user's own say nothing of what their stamps mark.
  const shown = rows.some(({ cells }) => cells[3] !== "") ? 4 : 3;
  const cut = rows.map((row) => ({ ...row, cells: row.cells.slice(0, shown) }));
  return <SmallTable title="Boundaries" columns={columns.slice(0, shown)} rows={cut} help={BOUNDARY_HELP} />;
}

const BOUNDARY_HELP = {
  stamp: "Counts since the first boundary",
  "set by": "The slots whose stamp is the boundary",
  "the stamp marks": "What had happened on the core when it read its counter",
};

function meaningOf({ kind, column }: BoundaryDocument, { events }: DetailDocument): string {
  const event = events?.find((one) => one.column === column);
  const words = kind === "unknown" ? (event?.name ?? "") : kind;
  return [words.replaceAll("_", " "), event?.meaning].filter(Boolean).join(": ");
}

function slotLinks({ document, slot: chosen, pickSlot }: TablesProps, slots: readonly number[], boundary: number) {
  const name = slotNames(document.detail ?? {});
  return (
    <>
      {slots.slice(0, MOST_SLOTS).map((slot) => (
        <span key={slot} class="slot">
          <Link text={name(slot)} chosen={String(slot) === chosen} onPick={() => pickSlot(slot, boundary)} />
        </span>
      ))}
      {slots.length > MOST_SLOTS && `and ${slots.length - MOST_SLOTS} more`}
    </>
  );
}

/** The phases, which add up to the kernel. */
export function Phases({ document, units, phase, pickPhase }: TablesProps) {
  const phases = phasesOf(document);
  const sum = sumOf(phases);
  const most = Math.max(...phases.map(({ cycles }) => cycles));
  const figures = (length: number) => [...units.both(length), [percent(length, sum), ""] as const];
  const rows = phases.map(({ name, cycles }) => ({
    key: name,
    chosen: name === phase,
    cells: [
      <>
        <Link text={name} chosen={name === phase} onPick={() => pickPhase(name)} />
        {cycles === most && <span class="badge">longest</span>}
      </>,
      ...figures(cycles),
    ],
  }));
  const total = { key: "sum", sum: true, cells: ["sum", ...figures(sum)] };
  return <SmallTable title="Phases" columns={["", units.unit, "time", "share"]} rows={[...rows, total]} />;
}

const COLLECTIVE: readonly [string, string, string?, string?][] = [
  ["arrival_skew", "max b − min b: how unevenly the cores get there", "last_arrival_slots", "B"],
  ["first_release_service", "min a − max b: what it takes once the last has arrived", "first_release_slots", "A"],
  ["release_skew", "max a − min a: how unevenly it lets go; lies within the consumer"],
  ["full_release_tail", "max a − max b: until the last core goes on"],
  [
    "early_core_residence",
    "max (a − b): how long the earliest core is inside; contains the arrival skew",
    "early_core_residence_slots",
    "A",
  ],
];

export function Collective(props: TablesProps) {
  const { document, units } = props;
  const { collective, detail } = document;
  if (collective === undefined) return null;
  const rows = COLLECTIVE.map(([key, title, slots = "", boundary]) => {
    const at = (detail?.boundaries ?? []).findIndex(({ name }) => name === boundary);
    const found = collective[slots];
    const links = Array.isArray(found) ? slotLinks(props, found, at) : "";
    return { key, title, cells: [wordsOf(key), ...units.both(Number(collective[key])), links] };
  });
  return (
    <SmallTable
      title="Collective"
      columns={["", units.unit, "time", "slots"]}
      rows={rows}
      help={{ slots: "The slots that set it" }}
    />
  );
}

/** The kernel beside a pair of split ones: dispatch and drain lie within its producer. */
export function Merged({ document: { merged = {} }, units }: FiguresProps) {
  const rows = Object.entries(merged).map(([name, length]) => ({
    key: name,
    sum: name === "total",
    cells: [wordsOf(name), ...units.both(length)],
  }));
  return <SmallTable title="As a merged kernel" columns={["", units.unit, "time"]} rows={rows} />;
}

export function wordsOf(key: string): string {
  return key.replaceAll("_", " ");
}

/** Merged against split, pair by pair. */
export function Pairs({ document, units }: FiguresProps) {
  const pairs = document.per_pair ?? [];
  const deltas = pairs.flatMap(({ total_delta }) => (total_delta === null ? [] : [total_delta]));
  const wins = deltas.filter((delta) => delta < 0).length;
  const alone = pairs.length - deltas.length;
  const rows = pairs.map(({ pair, merged, split, total_delta }) => ({
    key: String(pair),
    cells: [
      String(pair),
      ...[merged, split].map((parts) => units.cell(parts === null ? null : Number(parts.total))),
      units.cell(total_delta),
    ],
  }));
  const partners = alone === 1 ? "1 run has" : `${alone} runs have`;
  const note = `Merging is faster in ${wins} of ${deltas.length} pairs; ${partners} no partner.`;
  const columns = ["pair", "merged", "split", "merged − split"];
  return <SmallTable title="Merged against split" columns={columns} rows={rows} note={note} help={PAIR_HELP} />;
}

const PAIR_HELP = {
  pair: "The number of the pair",
  merged: "Total of the one kernel, from its first start to its last end",
  split: "Total of the two kernels, from the first start to the last end",
  "merged − split": "Negative where merging is faster",
};

/** Split kernels without a partner: a negative gap is overlap, and stays. */
export function Runs({ document, units }: FiguresProps) {
  const names = ["producer", "gap", "consumer", "total"];
  const rows = (document.per_run ?? []).map((run) => ({
    key: String(run.run),
    cells: [
      String(run.run),
      ...names.map((name) => units.cell(Number(run[name] ?? run[`${name}_equivalent`]))),
      run.overlap ? "overlaps" : "",
    ],
  }));
  return <SmallTable title="Runs" columns={["run", ...names, ""]} rows={rows} help={RUN_HELP} />;
}

const RUN_HELP = {
  run: "The number of the run",
  producer: "The first kernel's length",
  gap: "From the producer's end to the consumer's start; negative where they overlap",
  consumer: "The second kernel's length",
};

/** What reading the counter costs, and kernels with and without probes, beside the result. */
export function Probes({ document, units }: FiguresProps) {
  const found = {
    "two reads with nothing between": document.read_cost,
    "kernel with probes": document.envelopes?.instrumented,
    "kernel without probes": document.envelopes?.uninstrumented,
  };
  const rows = Object.entries(found).flatMap(([title, one]) =>
    one ? [{ key: title, cells: [title, ...[one.min, one.median_x2 / 2, one.max].map(units.cell)] }] : [],
  );
  const note = document.detail?.probes?.note;
  return <SmallTable title="What the probes cost" columns={["", "min", "median", "max"]} rows={rows} note={note} />;
}
