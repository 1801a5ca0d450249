/** The document of the in-core lens, with its detail. Differences are cycles; absolute stamps are decimal texts. */

import type { Figure } from "../lib/documents";

export interface CodeDocument {
  readonly code: string;
  readonly slots?: readonly number[];
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

export interface DetailDocument {
  readonly title?: string;
  readonly unit?: string;
  readonly clock_freq_hz?: number | null;
  readonly problems?: readonly ProblemDocument[];
  readonly cores?: readonly { readonly slot: number; readonly name: string; readonly engine: string }[];
  readonly events?: readonly { readonly name: string; readonly meaning: string; readonly kind: string }[];
  readonly boundaries?: readonly BoundaryDocument[];
  readonly lanes?: readonly LaneDocument[];
  readonly distributions?: Readonly<Record<string, DistributionDocument | null>>;
}

export type Parts = Readonly<Record<string, number | boolean>>;

export interface InCoreDocument {
  readonly status: "ok" | "warning" | "error" | "mixed";
  readonly codes?: readonly CodeDocument[];
  readonly warnings?: readonly CodeDocument[];
  readonly partition?: Readonly<Record<string, number>>;
  readonly phases?: readonly { readonly from: string; readonly to: string; readonly cycles: number }[];
  readonly total?: number;
  readonly ordered?: boolean;
  readonly collective?: Readonly<Record<string, number | readonly number[]>>;
  readonly l2?: { readonly ordered: boolean | null; readonly partition?: Readonly<Record<string, number>> | null };
  readonly dims?: readonly string[];
  readonly columns?: readonly string[];
  readonly per_invocation?: readonly (readonly number[] | null)[];
  readonly per_run?: readonly Parts[];
  readonly per_pair?: readonly {
    readonly pair: number;
    readonly merged: Parts | null;
    readonly split: Parts | null;
    readonly total_delta: Figure;
  }[];
  readonly read_cost?: DistributionDocument;
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
  return (document.phases ?? []).map(({ from, to, cycles }) => ({ name: `${from} → ${to}`, cycles }));
}

/** The sum of the phases, and whether it is the total that the document states. */
export function sumOf(phases: readonly Phase[]): number {
  return phases.reduce((sum, { cycles }) => sum + cycles, 0);
}

/** What a slot is called: its core where that is known. */
export function slotNames({ cores }: DetailDocument): (slot: number) => string {
  const names = new Map((cores ?? []).map(({ slot, name }) => [slot, name]));
  return (slot) => names.get(slot) || `slot ${slot}`;
}

/** Blocks of a lane: from each stamp that the slot has to the next one. */
export function blocksOf({
  stamps,
}: LaneDocument): { readonly from: number; readonly to: number; readonly phase: number }[] {
  const known = stamps.flatMap((stamp, at) => (stamp === null ? [] : [{ stamp, at }]));
  return known.slice(1).map(({ stamp, at }, k) => ({ from: known[k]?.stamp ?? stamp, to: stamp, phase: at - 1 }));
}
