/** What the executions of a profile answer. Times are in ps; starts are relative to the profile's anchor. */

import type { Figure, Problem } from "../lib/documents";

export interface BreakdownDocument {
  readonly categories: readonly string[];
  readonly steps: readonly StepTime[];
  readonly total_ps: Readonly<Record<string, number>>;
  readonly step_time: {
    readonly count: number;
    readonly min_ps: Figure;
    readonly p50_ps: Figure;
    readonly p95_ps: Figure;
    readonly max_ps: Figure;
  };
  readonly devices: readonly DeviceSummary[];
}

export interface StepTime {
  readonly id: number | null;
  readonly name: string;
  readonly start_ps: number;
  readonly duration_ps: number;
  readonly complete: boolean;
  readonly parts_ps: Readonly<Record<string, number>>;
}

export interface DeviceSummary {
  readonly name: string;
  readonly model: string;
  readonly memory_bytes: Figure;
  readonly compute_capability: string;
  readonly busy_ps: number;
  readonly span_ps: number;
  readonly kernels: number;
  readonly sm_efficiency: Figure;
  readonly occupancy: Figure;
  readonly tensor_cores: { readonly uses_ps: number; readonly silent_ps: number; readonly kernel_ps: number } | null;
}

/** `[level, start, duration, name, category, count, execution]`; the start is relative to the window's. */
export type TimelineBlock = readonly [number, number, number, number, number, number, number];

export interface TimelineLane {
  readonly id: number;
  readonly device: string;
  readonly name: string;
  readonly kind: "host" | "accelerator";
  readonly levels: number;
  readonly blocks: readonly TimelineBlock[];
}

export interface TimelineDocument {
  readonly start_ps: number;
  readonly end_ps: number;
  readonly first_ps: number;
  readonly last_ps: number;
  readonly lanes: readonly TimelineLane[];
  readonly names: readonly string[];
  readonly counters: readonly TimelineCounter[];
}

/** A value for each of equal parts of the window. */
export interface TimelineCounter {
  readonly device: string;
  readonly what: string;
  readonly allocator?: string;
  readonly values: readonly Figure[];
}

export interface MomentDocument {
  readonly id: number;
  readonly name: string;
  readonly category: string;
  readonly lane: number;
  readonly start_ps: number;
  readonly duration_ps: number;
}

export interface EventDocument extends MomentDocument {
  readonly self_ps: number;
  readonly step: Figure;
  readonly input_shape: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly arrows: readonly ArrowDocument[];
}

export interface ArrowDocument {
  /** Of a call to what it launches, or of a forward call to its backward one. */
  readonly kind: "launch" | "backward";
  readonly from: EndDocument;
  readonly to: EndDocument;
  readonly delay_ps: number;
}

interface EndDocument extends MomentDocument {
  readonly level: number;
}

export interface MemoryDocument {
  readonly series: readonly {
    readonly device: string;
    readonly allocator: string;
    readonly time_ps: readonly number[];
    readonly allocated_bytes: readonly number[];
    readonly reserved_bytes: readonly Figure[];
    readonly peak_bytes: number;
  }[];
  readonly devices: readonly string[];
  readonly device: string | null;
  readonly ops: readonly MemoryOp[];
  readonly blocks: { readonly count: number; readonly events: readonly MemoryBlock[] };
}

export interface MemoryOp {
  readonly name: string;
  readonly self_allocations: number;
  readonly self_allocated_bytes: number;
  readonly self_released_bytes: number;
  readonly self_increase_bytes: number;
  readonly allocations: number;
  readonly allocated_bytes: number;
  readonly increase_bytes: number;
}

export interface MemoryBlock {
  readonly name: string;
  readonly caller: string;
  readonly bytes: number;
  readonly allocated_ps: Figure;
  readonly released_ps: Figure;
  readonly held_ps: Figure;
}

export interface LaunchesDocument {
  readonly launches: number;
  readonly short: number;
  readonly rows: readonly LaunchRow[];
  readonly streams: readonly StreamRow[];
}

export interface LaunchRow {
  readonly name: string;
  readonly count: number;
  readonly short: number;
  readonly device_ps: number;
  readonly host_ps: number;
  readonly delay_ps: number;
  readonly delay_p50_ps: number;
  readonly delay_p95_ps: number;
  readonly delay_max_ps: number;
}

export interface StreamRow {
  readonly device: string;
  readonly stream: string;
  readonly count: number;
  readonly busy_ps: number;
  readonly host_bound_ps: number;
  readonly kernel_gap_ps: number;
  readonly other_ps: number;
  readonly queue_mean: readonly [number, number];
  readonly queue_max: number;
}

export interface RanksDocument {
  readonly ranks: readonly RankRow[];
  readonly rows: readonly CollectiveRow[];
  readonly problems: readonly Problem[];
}

export interface RankRow {
  readonly run: string;
  readonly rank: Figure;
  readonly span_ps: number;
  readonly computation_ps: number;
  readonly overlap_ps: number;
  readonly communication_ps: number;
  readonly other_ps: number;
  readonly transfer_ps: number;
  readonly waiting_ps: number;
  readonly unpaired: number;
  readonly came_last: number;
  readonly caused_waiting_ps: number;
}

export interface CollectiveRow {
  readonly run: string;
  readonly rank: Figure;
  readonly name: string;
  readonly group: string;
  readonly calls: number;
  readonly bytes: Figure;
  readonly latency_ps: number;
  readonly transfer_ps: Figure;
}

export interface TableDocument<R> {
  readonly count: number;
  /** Those with most time. */
  readonly rows: readonly R[];
}

export interface ShapeRow {
  readonly name: string;
  readonly input_shape: string;
  readonly calls: number;
  readonly host_ps: number;
  readonly host_total_ps: number;
  readonly device_ps: number;
  readonly device_total_ps: number;
  readonly tensor_core_ps: Figure;
  readonly tensor_core_total_ps: Figure;
}

export interface KernelRow {
  readonly name: string;
  readonly category: string;
  readonly op?: string;
  readonly grid?: string;
  readonly block?: string;
  readonly registers_per_thread?: string;
  readonly shared_memory?: string;
  readonly calls: number;
  readonly total_ps: number;
  readonly min_ps: number;
  readonly max_ps: number;
  readonly blocks_per_sm: Figure;
  readonly occupancy: Figure;
  /** As far as its name says. */
  readonly tensor_core: boolean | null;
}

export interface PathRow {
  readonly name: string;
  readonly kind: string;
  readonly path_ps: number;
  readonly path_share: number;
  readonly segments: number;
  readonly execution: number | null;
}

export interface PathSegment {
  readonly start_ps: number;
  readonly duration_ps: number;
  readonly kind: string;
  readonly name: string;
  readonly lane: string;
  readonly execution: number | null;
}

export interface CriticalPathDocument {
  readonly step_count: number;
  readonly total_ps: number;
  readonly parts_ps: Readonly<Record<string, number>>;
  readonly rows: readonly PathRow[];
  /** The longest ones, in order of time. */
  readonly segments: readonly PathSegment[];
  readonly left_out_ps: number;
}
