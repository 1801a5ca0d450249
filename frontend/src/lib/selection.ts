/** Which records there are for a lens, and which one is shown. */

import type { IndexDocument, RecordInfo } from "./documents";
import { LENS_INFO, type LensInfo } from "./lenses";
import type { Lens, PanelState } from "./state";

/** What is known of a lens; null for overview and findings, which stand on the records of all. */
export function infoOf(lens: Lens): LensInfo | null {
  return lens === "overview" || lens === "findings" ? null : LENS_INFO[lens];
}

/** Whether a lens shows one run; the others show all. */
export function showsOneRun(lens: Lens): boolean {
  const shows = infoOf(lens)?.shows;
  return shows === "record" || shows === "run";
}

export interface RunRecord extends RecordInfo {
  readonly run: string;
}

export interface Choices {
  readonly runs: readonly string[];
  readonly names: readonly string[];
  /** Steps of the chosen run and name, ascending. */
  readonly steps: readonly number[];
  readonly chosen: RunRecord | null;
  /** Whether the address names a record that is not there. */
  readonly missing: boolean;
}

/** Worked out once for each index: there can be tens of thousands of records. */
const known = new WeakMap<IndexDocument, Map<Lens, readonly RunRecord[]>>();

/** The records of a lens; overview and findings stand on all of them. */
export function recordsOf(index: IndexDocument, lens: Lens): readonly RunRecord[] {
  const byLens = known.get(index) ?? new Map<Lens, readonly RunRecord[]>();
  known.set(index, byLens);
  const records = byLens.get(lens) ?? select(index, lens);
  byLens.set(lens, records);
  return records;
}

/** Whether a lens has something to show: a profile whose cores exchanged nothing is a record, but nothing to look at. */
export function claims(index: IndexDocument, lens: Lens): boolean {
  const needsRows = infoOf(lens)?.needsRows ?? false;
  return recordsOf(index, lens).some(({ rows }) => !needsRows || rows !== 0);
}

function select(index: IndexDocument, lens: Lens): RunRecord[] {
  const kind = infoOf(lens)?.kind;
  const all = index.runs.flatMap((run) => run.records.map((record) => ({ ...record, run: run.name })));
  return kind === undefined ? all : all.filter((record) => record.kind === kind);
}

function written(record: RecordInfo): bigint {
  return BigInt(record.written_wall_ns ?? 0);
}

function newer(one: RunRecord, other: RunRecord): RunRecord {
  const [p, q] = [written(one), written(other)];
  if (p !== q) return p > q ? one : other;
  return (one.last_step ?? 0) >= (other.last_step ?? 0) ? one : other;
}

function newest(records: readonly RunRecord[]): RunRecord | null {
  return records.length === 0 ? null : records.reduce(newer);
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

/** What the pickers offer, and the record that the state chooses: the newest where it leaves it open. */
export function choose(records: readonly RunRecord[], state: Pick<PanelState, "run" | "name" | "step">): Choices {
  const runs = distinct(records.map((record) => record.run)).sort();
  const run = state.run !== "" ? state.run : (newest(records)?.run ?? "");
  const ofRun = records.filter((record) => record.run === run);
  const name = state.name !== "" ? state.name : (newest(ofRun)?.name ?? "");
  const ofName = ofRun.filter((record) => record.name === name);
  const steps = distinct(ofName.map((record) => record.first_step).filter((step) => step !== null));
  const step = state.step === "" ? null : Number(state.step);
  const chosen = newest(step === null ? ofName : ofName.filter((record) => holds(record, step)));
  return {
    runs,
    names: distinct(ofRun.map((record) => record.name)).sort(),
    steps: steps.sort((p, q) => p - q),
    chosen,
    missing: chosen === null && records.length > 0,
  };
}

function holds(record: RecordInfo, step: number): boolean {
  return record.first_step !== null && record.first_step <= step && step <= (record.last_step ?? record.first_step);
}
