/** The documents of the findings and of the summary of each run. */

export interface Evidence {
  readonly lens: string;
  readonly run: string;
  readonly name: string;
  readonly key: string;
  readonly hash: string;
}

export interface Finding {
  readonly rule: string;
  readonly title: string;
  /** What the change saves, as a part of the whole; null where it is not known. */
  readonly saving_share: number | null;
  readonly cost_share: number | null;
  readonly step: number | null;
  /** Concrete changes, in the words of the framework. */
  readonly try: readonly string[];
  readonly evidence: readonly Evidence[];
  readonly advice: string;
  readonly certainty: "measured" | "derived" | "hint";
  /** Beside a baseline. */
  readonly state?: "new" | "gone" | "larger" | "smaller" | "same";
}

export interface Cost {
  readonly title: string;
  readonly kind: string;
  readonly share: number;
  readonly note: string;
  readonly evidence: readonly Evidence[];
}

export interface RunSummary {
  readonly run: string;
  readonly sentence: string;
  readonly first: string;
  readonly saving_share: number | null;
  readonly kinds: readonly { readonly kind: string; readonly share: number }[];
  readonly costs: readonly Cost[];
  /** Which run is slower than the baseline, by how much, and why; empty without a baseline. */
  readonly difference: string;
}

/** The findings of each run, in the order of the summaries; those of other runs last. */
export function byRun(
  summaries: readonly RunSummary[],
  findings: readonly Finding[],
): { readonly run: string; readonly summary: RunSummary | null; readonly findings: readonly Finding[] }[] {
  const runOf = ({ evidence }: Finding) => evidence[0]?.run ?? "";
  const known = new Set(summaries.map(({ run }) => run));
  const others = [...new Set(findings.map(runOf))].filter((run) => !known.has(run));
  const groups = [
    ...summaries.map((summary) => ({ run: summary.run, summary })),
    ...others.map((run) => ({ run, summary: null })),
  ];
  return groups
    .map((group) => ({ ...group, findings: findings.filter((finding) => runOf(finding) === group.run) }))
    .filter(({ summary, findings: own }) => own.length > 0 || (summary?.costs.length ?? 0) > 0);
}
