/** The document of the throughput lens. */

import type { Figure } from "../lib/documents";

export interface SpanDocument {
  readonly kind: string;
  readonly start_ns: string;
  readonly end_ns: string;
  readonly open: boolean;
}

export interface AnnotationDocument {
  readonly kind: string;
  readonly title: string;
  readonly text: string;
  readonly start_ns: string | null;
  readonly end_ns: string | null;
  readonly step: Figure;
}

export interface AverageDocument {
  readonly label: string;
  readonly per_sec: Figure;
  readonly per_sec_per_device?: Figure;
}

export interface StepTimeDocument {
  readonly count: Figure;
  readonly mean_ns: Figure;
  readonly p50_ns: Figure;
  readonly p95_ns: Figure;
  readonly max_ns: Figure;
  /** One edge more than counts; absent where single steps are not known. */
  readonly histogram?: { readonly edge_ns: readonly number[]; readonly count: readonly number[] } | null;
}

export interface StatisticsDocument {
  readonly samples_to_date: Figure;
  readonly last_step: Figure;
  /** Stretches between resets and resumes. */
  readonly stretches?: Figure;
  readonly time_to_first_sample_ns?: Figure;
  readonly whole_time: AverageDocument;
  readonly windowed: AverageDocument;
  readonly training_only: AverageDocument;
  readonly steps_per_sec: Figure;
  readonly step_time: StepTimeDocument | null;
  readonly data_wait_share: Figure;
  readonly mfu: Figure;
  /** As the source states them. */
  readonly stated?: { readonly tflops_per_device: Figure; readonly mfu: Figure } | null;
  readonly time_left_ns: Figure;
}

export interface SeriesDocument {
  readonly run: string;
  readonly name: string;
  readonly rank: Figure;
  readonly unit: string;
  readonly smoothing: number;
  readonly sampling_rule: string;
  readonly measured_at: string;
  /** `unix`, or a clock whose origin is not known. */
  readonly clock: string;
  readonly recorded_points: number;
  readonly step: readonly Figure[];
  readonly time_ns: readonly string[];
  readonly total: readonly number[];
  readonly local_samples_per_sec: readonly Figure[];
  readonly avg_samples_per_sec: readonly Figure[];
  readonly spans: readonly SpanDocument[];
  readonly annotations: readonly AnnotationDocument[];
  readonly statistics: StatisticsDocument;
  readonly problems: readonly string[];
}

/** What the ranks of a job did together. */
export interface JobDocument {
  readonly job: string;
  readonly name: string;
  readonly unit?: string;
  readonly ranks: readonly number[];
  readonly per_sec: { readonly whole_time: Figure; readonly windowed?: Figure; readonly training_only?: Figure };
  readonly slowest_rank: Figure;
  readonly slowest_run: string | null;
  readonly slowest_p50_ns: Figure;
  /** The ranks' rates added up by time; empty where their clocks do not share an origin. */
  readonly time_ns?: readonly string[];
  readonly step?: readonly Figure[];
  readonly total?: readonly number[];
  readonly local_samples_per_sec?: readonly Figure[];
  readonly avg_samples_per_sec?: readonly Figure[];
}

/** The difference of one displayed rate from the baseline's, and whether it is significant. */
export interface DifferenceDocument {
  readonly verdict: "different" | "indistinguishable" | "too_short";
  readonly sentence: string;
}

/** Whether a run and its baseline differ in speed. */
export interface SignificanceDocument {
  readonly series: string;
  readonly figures?: {
    readonly whole_time?: DifferenceDocument;
    readonly [figure: string]: DifferenceDocument | undefined;
  };
}

export interface ComparedDocument {
  readonly significance?: readonly SignificanceDocument[];
}

export interface ThroughputDocument {
  readonly series: readonly SeriesDocument[];
  readonly jobs?: readonly JobDocument[];
}
