/** What the overview reads of the lenses' documents. */

import type { Figure } from "../lib/documents";
import { lensVersion } from "../ui/documents";
import type { Session } from "../ui/session";

export interface OverviewSeries {
  readonly run: string;
  readonly name: string;
  readonly unit: string;
  readonly local_samples_per_sec: readonly Figure[];
  readonly avg_samples_per_sec: readonly Figure[];
  readonly statistics: {
    readonly last_step: Figure;
    readonly step_time: { readonly p50_ns: Figure } | null;
    readonly data_wait_share: Figure;
  };
}

export interface OverviewSummary {
  readonly run: string;
  readonly sentence: string;
  readonly difference: string;
  readonly first: string;
  readonly saving_share: Figure;
}

export interface OverviewFinding {
  readonly rule: string;
  readonly title: string;
  readonly saving_share: Figure;
  readonly state?: string;
  readonly cost_share: Figure;
  readonly evidence: readonly { readonly run: string; readonly key: string; readonly hash: string }[];
  readonly certainty: string;
}

/** The overview stands on all records. */
export function overviewVersion(session: Session): string | null {
  return lensVersion(session, "overview");
}
