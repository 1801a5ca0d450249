/** The figures of one kernel as tables. A row that names a phase or a slot selects it. */

import type { ComponentChildren } from "preact";
import { percent } from "../lib/units";
import {
  type BoundaryDocument,
  type DetailDocument,
  type DistributionDocument,
  type InCoreDocument,
  phasesOf,
  slotNames,
  sumOf,
} from "./document";
import type { Units } from "./units";

interface TableProps {
  readonly document: InCoreDocument;
  readonly units: Units;
  /** The selected phase and slot, empty for none. */
  readonly phase: string;
  readonly slot: string;
  readonly pickPhase: (name: string) => void;
  readonly pickSlot: (slot: number, boundary: number) => void;
}

const MOST_SLOTS = 6;

/** The moments between the phases: what each stamp means, and which slots set it. */
export function BoundaryTable({ document, units, slot, pickSlot }: TableProps) {
  const detail = document.detail ?? {};
  const values = document.boundaries ?? document.boundary_values ?? {};
  const boundaries = detail.boundaries ?? [];
  if (boundaries.length === 0) return null;
  const base = BigInt(detail.base ?? "0");
  return (
    <Section title="Boundaries" columns={["", "stamp", "set by", "the stamp marks"]} numeric={[1]}>
      {boundaries.map((boundary, at) => (
        <tr key={boundary.name}>
          <th scope="row" title={`${boundary.reduce} over its slots`}>
            {boundary.name}
          </th>
          <td class="num" title={values[boundary.name]}>
            {values[boundary.name] === undefined ? "—" : units.say(Number(BigInt(values[boundary.name] ?? 0) - base))}
          </td>
          <td>
            <Slots detail={detail} slots={boundary.deciding_slots} chosen={slot} onPick={(one) => pickSlot(one, at)} />
          </td>
          <td class="muted">{meaningOf(boundary, detail)}</td>
        </tr>
      ))}
    </Section>
  );
}

function meaningOf({ kind, column }: BoundaryDocument, { events }: DetailDocument): string {
  const event = events?.find((one) => one.column === column);
  const words = kind === "unknown" ? (event?.name ?? "") : kind;
  return [words.replaceAll("_", " "), event?.meaning].filter(Boolean).join(": ");
}

interface SlotsProps {
  readonly detail: DetailDocument;
  readonly slots: readonly number[];
  readonly chosen: string;
  readonly onPick: (slot: number) => void;
}

function Slots({ detail, slots, chosen, onPick }: SlotsProps) {
  const name = slotNames(detail);
  return (
    <>
      {slots.slice(0, MOST_SLOTS).map((slot) => (
        <button
          key={slot}
          type="button"
          class="link slot"
          aria-pressed={String(slot) === chosen}
          onClick={() => onPick(slot)}
        >
          {name(slot)}
        </button>
      ))}
      {slots.length > MOST_SLOTS && <span class="muted">{`and ${slots.length - MOST_SLOTS} more`}</span>}
    </>
  );
}

/** The phases, which add up to the kernel. */
export function PhaseTable({ document, units, phase: chosen, pickPhase }: TableProps) {
  const phases = phasesOf(document);
  const sum = sumOf(phases);
  const most = Math.max(...phases.map((phase) => phase.cycles));
  if (phases.length === 0) return null;
  return (
    <Section title="Phases" columns={["", units.unit, "time", "share"]} numeric={[1, 2, 3]}>
      {phases.map(({ name, cycles }) => (
        <tr key={name} class={name === chosen ? "chosen" : ""}>
          <th scope="row">
            <button type="button" class="link" aria-pressed={name === chosen} onClick={() => pickPhase(name)}>
              {name}
            </button>
            {cycles === most && <span class="badge">longest</span>}
          </th>
          <Figures length={cycles} units={units} />
          <td class="num">{percent(cycles, sum)}</td>
        </tr>
      ))}
      <tr class="sum">
        <th scope="row">sum</th>
        <Figures length={sum} units={units} />
        <td class="num">{percent(1, 1)}</td>
      </tr>
    </Section>
  );
}

/** A length as a count and as time. */
function Figures({ length, units }: { length: number; units: Units }) {
  const [counted = "", timed = "—"] = units.exact(length).split(" · ");
  return (
    <>
      <td class="num">{counted.replace(` ${units.unit}`, "")}</td>
      <td class="num">{timed}</td>
    </>
  );
}

const COLLECTIVE: readonly [string, string, string, string?, string?][] = [
  ["arrival_skew", "arrival skew", "max b − min b: how unevenly the cores get there", "last_arrival_slots", "B"],
  [
    "first_release_service",
    "first release service",
    "min a − max b: what it takes once the last has arrived",
    "first_release_slots",
    "A",
  ],
  ["release_skew", "release skew", "max a − min a: how unevenly it lets go; lies within the consumer"],
  ["full_release_tail", "full release tail", "max a − max b: until the last core goes on"],
  [
    "early_core_residence",
    "early core residence",
    "max (a − b): how long the earliest core is inside; contains the arrival skew",
    "early_core_residence_slots",
    "A",
  ],
];

interface CollectiveProps extends TableProps {
  readonly collective: NonNullable<InCoreDocument["collective"]>;
}

export function Collective({ collective, document, units, slot, pickSlot }: CollectiveProps) {
  const detail = document.detail ?? {};
  const slotsOf = (key: string | undefined) => {
    const found = key === undefined ? undefined : collective[key];
    return Array.isArray(found) ? (found as readonly number[]) : [];
  };
  const indexOf = (name: string | undefined) => (detail.boundaries ?? []).findIndex((one) => one.name === name);
  return (
    <Section title="Collective" columns={["", units.unit, "time", "slots"]} numeric={[1, 2]}>
      {COLLECTIVE.filter(([key]) => typeof collective[key] === "number").map(([key, title, help, slots, boundary]) => (
        <tr key={key} title={help}>
          <th scope="row">{title}</th>
          <Figures length={Number(collective[key])} units={units} />
          <td>
            <Slots
              detail={detail}
              slots={slotsOf(slots)}
              chosen={slot}
              onPick={(one) => pickSlot(one, indexOf(boundary))}
            />
          </td>
        </tr>
      ))}
    </Section>
  );
}

/** The kernel beside a pair of split ones: dispatch and drain lie within its producer. */
export function Merged({ parts, units }: { parts: Readonly<Record<string, number>>; units: Units }) {
  return (
    <Section title="As a merged kernel" columns={["", units.unit, "time"]} numeric={[1, 2]}>
      {Object.entries(parts).map(([name, length]) => (
        <tr key={name} class={name === "total" ? "sum" : ""}>
          <th scope="row">{name.replaceAll("_", " ")}</th>
          <Figures length={length} units={units} />
        </tr>
      ))}
    </Section>
  );
}

interface SectionProps {
  readonly title: string;
  readonly columns: readonly string[];
  readonly numeric: readonly number[];
  readonly children: ComponentChildren;
}

export function Section({ title, columns, numeric, children }: SectionProps) {
  return (
    <section>
      <h2>{title}</h2>
      <table class="small-table full">
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th key={column || "name"} scope="col" class={numeric.includes(at) ? "num" : ""}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** Merged against split, pair by pair. */
export function Pairs({ document, units }: { document: InCoreDocument; units: Units }) {
  const pairs = document.per_pair ?? [];
  const total = (parts: (typeof pairs)[number]["merged"]) => (parts === null ? "—" : units.say(Number(parts.total)));
  const deltas = pairs.flatMap(({ total_delta }) => (total_delta === null ? [] : [total_delta]));
  const wins = deltas.filter((delta) => delta < 0).length;
  return (
    <>
      <p class="muted">
        {`Merging is faster in ${wins} of ${deltas.length} pairs; ${pairs.length - deltas.length} runs have no partner.`}
      </p>
      <Section title="Merged against split" columns={["pair", "merged", "split", "merged − split"]} numeric={[1, 2, 3]}>
        {pairs.slice(0, 500).map(({ pair, merged, split, total_delta }) => (
          <tr key={pair}>
            <td>{pair}</td>
            <td class="num">{total(merged)}</td>
            <td class="num">{total(split)}</td>
            <td class={total_delta === null ? "num" : total_delta < 0 ? "num less" : "num more"}>
              {total_delta === null ? "—" : units.say(total_delta)}
            </td>
          </tr>
        ))}
      </Section>
    </>
  );
}

/** Split kernels without a partner: a negative gap is overlap, and stays. */
export function Runs({ document, units }: { document: InCoreDocument; units: Units }) {
  const names = ["producer", "gap", "consumer", "total"];
  return (
    <Section title="Runs" columns={["run", ...names, ""]} numeric={[1, 2, 3, 4]}>
      {(document.per_run ?? []).slice(0, 500).map((run, at) => (
        <tr key={String(run.run ?? at)}>
          <td>{String(run.run ?? at)}</td>
          {names.map((name) => (
            <td key={name} class="num">
              {units.say(Number(run[name] ?? run[`${name}_equivalent`]))}
            </td>
          ))}
          <td class="muted">{run.overlap ? "overlaps" : ""}</td>
        </tr>
      ))}
    </Section>
  );
}

/** What reading the counter costs, and kernels with and without probes, beside the result. */
export function Probes({ document, units }: { document: InCoreDocument; units: Units }) {
  const rows: [string, Omit<DistributionDocument, "n" | "p99_nearest_rank"> | null | undefined][] = [
    ["two reads with nothing between", document.read_cost],
    ["kernel with probes", document.envelopes?.instrumented],
    ["kernel without probes", document.envelopes?.uninstrumented],
  ];
  return (
    <>
      <Section title="What the probes cost" columns={["", "min", "median", "max"]} numeric={[1, 2, 3]}>
        {rows.map(([title, found]) =>
          found ? (
            <tr key={title}>
              <th scope="row">{title}</th>
              {[found.min, found.median_x2 / 2, found.max].map((value, at) => (
                <td key={["min", "median", "max"][at]} class="num" title={units.exact(value)}>
                  {units.say(value)}
                </td>
              ))}
            </tr>
          ) : null,
        )}
      </Section>
      <p class="muted">{document.detail?.probes?.note}</p>
    </>
  );
}
