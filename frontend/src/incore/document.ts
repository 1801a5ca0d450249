/** The document of the in-core lens, with its detail. Differences are cycles; absolute stamps are decimal texts. */

import type { Figure } from "../lib/documents";

export interface CodeDocument {
  readonly code: string;
  readonly slots?: readonly number[];
  readonly pairs?: readonly number[];
  readonly runs?: readonly number[];
}

export interface ProblemDocument extends CodeDocument {
  readonly error: boolean;
  readonly remedy: string;
  readonly invocation: number | null;
}

export interface LaneDocument {
  readonly slot: number;
  /** One stamp for each boundary, from the first boundary; null where the slot does not owe it. */
  readonly stamps: readonly Figure[];
}

export interface BoundaryDocument {
  readonly name: string;
  readonly column?: number;
  readonly reduce: string;
  readonly kind: string;
  readonly deciding_slots: readonly number[];
}

export interface DistributionDocument {
  readonly n: number;
  readonly min: number;
  readonly median_x2: number;
  readonly p99_nearest_rank: number;
  readonly max: number;
}

/** What a record says of the capture that it holds. */
export interface CaptureDocument {
  readonly capture_format?: string;
  readonly base_time_cycles?: string;
  readonly base_time_ns?: string;
}

export interface CoreDocument {
  readonly slot: number;
  readonly core?: number;
  readonly name: string;
  readonly engine: string;
}

export interface DetailDocument {
  readonly title?: string;
  readonly unit?: string;
  readonly clock_freq_hz?: number | null;
  readonly problems?: readonly ProblemDocument[];
  readonly cores?: readonly CoreDocument[];
  readonly events?: readonly {
    readonly name: string;
    readonly column?: number;
    readonly meaning: string;
    readonly kind: string;
  }[];
  /** The absolute stamp that the lanes count from. */
  readonly base?: string;
  readonly boundaries?: readonly BoundaryDocument[];
  readonly lanes?: readonly LaneDocument[];
  readonly distributions?: Readonly<Record<string, DistributionDocument | null>>;
  /** Where the record holds stamps and a capture. */
  readonly capture?: CaptureDocument;
  readonly probes?: { readonly note: string; readonly [samples: string]: unknown };
}

/** All rows of a capture as columns; times count from its base, figures are indices into the tables beside them. */
export interface TasksDocument {
  readonly unit: string;
  readonly task_ids: readonly string[];
  readonly functions: readonly string[];
  readonly cores: readonly { readonly core: number; readonly name: string; readonly engine: string }[];
  readonly rows: {
    readonly task: readonly number[];
    readonly core: readonly number[];
    readonly start: readonly number[];
    readonly end: readonly number[];
    readonly function: readonly number[];
  };
  readonly activities: {
    readonly lanes: readonly string[];
    readonly kinds: readonly string[];
    readonly lane: readonly number[];
    readonly kind: readonly number[];
    readonly start: readonly number[];
    readonly end: readonly number[];
    readonly on_host_clock: readonly boolean[];
  };
}

export interface NeighbourDocument {
  readonly id: string;
  readonly function: string | null;
  readonly start: Figure;
  readonly end: Figure;
}

export interface TaskDocument {
  readonly id: string;
  readonly function: string | null;
  readonly rows: readonly {
    readonly core: number;
    readonly start: number;
    readonly end: number;
    readonly receive: Figure;
    readonly dispatch: Figure;
    readonly finish: Figure;
  }[];
  readonly predecessors: readonly NeighbourDocument[];
  readonly successors: readonly NeighbourDocument[];
  /** From the last end of what it waited for to its own start. */
  readonly gap: Figure;
}

export type Parts = Readonly<Record<string, number | boolean>>;

export interface InCoreDocument extends CaptureDocument {
  readonly status: "ok" | "warning" | "error" | "mixed";
  readonly codes?: readonly CodeDocument[];
  readonly warnings?: readonly CodeDocument[];
  readonly partition?: Readonly<Record<string, number>>;
  readonly phases?: readonly { readonly from: string; readonly to: string; readonly cycles: number }[];
  readonly total?: number;
  readonly ordered?: boolean;
  readonly boundaries?: Readonly<Record<string, string>>;
  readonly boundary_values?: Readonly<Record<string, string>>;
  readonly collective?: Readonly<Record<string, number | readonly number[]>>;
  readonly l2?: {
    readonly ordered: boolean | null;
    readonly partition?: Readonly<Record<string, number>> | null;
    readonly total?: number;
  };
  readonly merged?: Readonly<Record<string, number>>;
  readonly dims?: readonly string[];
  readonly columns?: readonly string[];
  readonly per_invocation?: readonly (readonly number[] | null)[];
  readonly bad_invocations?: readonly { readonly invocation: number; readonly codes: readonly CodeDocument[] }[];
  readonly per_run?: readonly Parts[];
  readonly per_pair?: readonly {
    readonly pair: number;
    readonly merged: Parts | null;
    readonly split: Parts | null;
    readonly total_delta: Figure;
  }[];
  readonly read_cost?: DistributionDocument;
  readonly envelopes?: Readonly<Record<"instrumented" | "uninstrumented", DistributionDocument | null>>;
  /** The bounds of the task that the stamps are of, absolute, where they come from a capture. */
  readonly l2_bounds?: Readonly<Record<"M0" | "M1", string>>;
  readonly tasks?: TasksDocument;
  readonly task?: TaskDocument;
  readonly detail?: DetailDocument;
}

/** A phase of one task: what it is called, and how long it lasts. */
export interface Phase {
  readonly name: string;
  readonly cycles: number;
}

/** The phases in order: within the task's own bounds where those are known. */
export function phasesOf(document: InCoreDocument): Phase[] {
  const partition = document.l2?.partition ?? document.partition;
  if (partition) return Object.entries(partition).map(([name, cycles]) => ({ name, cycles }));
  return (document.phases ?? []).map(({ from, to, cycles }) => ({ name: phaseName(from, to, true), cycles }));
}

/** What the time between two boundaries is called. */
export function phaseName(from: string, to: string, named: boolean): string {
  return named ? `${from} → ${to}` : `${to}-${from}`;
}

/** What a phase is called in comparisons: the later boundary first, whoever named the boundaries. */
export function comparedKey(name: string): string {
  return name.includes(" → ") ? name.split(" → ").reverse().join("-") : name;
}

/** The total that the document states for its phases. */
export function totalOf(document: InCoreDocument): number | undefined {
  return document.l2?.partition ? document.l2.total : document.total;
}

export function sumOf(phases: readonly Phase[]): number {
  return phases.reduce((sum, { cycles }) => sum + cycles, 0);
}

/** The moment that the rows of a capture count from. */
export function captureBase({ detail, ...document }: InCoreDocument): bigint {
  const { base_time_cycles, base_time_ns } = detail?.capture ?? document;
  return BigInt(base_time_cycles ?? base_time_ns ?? 0);
}

/** Whether a task is the one that the stamps of the record are of. */
export function isMeasured(document: InCoreDocument, { rows }: TaskDocument): boolean {
  const { l2_bounds: bounds } = document;
  if (bounds === undefined || rows.length === 0) return false;
  const base = captureBase(document);
  const first = Math.min(...rows.map(({ start }) => start));
  const last = Math.max(...rows.map(({ end }) => end));
  return base + BigInt(first) === BigInt(bounds.M0) && base + BigInt(last) === BigInt(bounds.M1);
}

/** What a slot is called: its core where that is known. */
export function slotNames({ cores }: DetailDocument): (slot: number) => string {
  const names = new Map((cores ?? []).map(({ slot, name }) => [slot, name]));
  return (slot) => names.get(slot) || `slot ${slot}`;
}

/** Blocks of a lane: from each stamp that the slot has to the next one, with the boundaries at its ends. */
export function blocksOf({
  stamps,
}: LaneDocument): { readonly from: number; readonly to: number; readonly first: number; readonly last: number }[] {
  const known = stamps.flatMap((stamp, at) => (stamp === null ? [] : [{ stamp, at }]));
  return known.slice(1).map(({ stamp, at }, k) => {
    const before = known[k] ?? { stamp, at };
    return { from: before.stamp, to: stamp, first: before.at, last: at };
  });
}
