import { format } from "../lib/units";
import type { JobDocument, SeriesDocument } from "./document";

/** What the ranks of a job did together as a series, where their clocks allow it. */
export function together(job: JobDocument): SeriesDocument[] {
  const times = job.time_ns ?? [];
  if (times.length === 0) return [];
  const unknown = { label: "", per_sec: null };
  return [
    {
      run: togetherLabel(job),
      name: job.name,
      rank: null,
      unit: job.unit ?? "samples",
      smoothing: 0,
      sampling_rule: "ranks added up by time",
      measured_at: "",
      clock: "unix",
      recorded_points: times.length,
      step: job.step ?? times.map(() => null),
      time_ns: times,
      total: job.total ?? [],
      local_samples_per_sec: job.local_samples_per_sec ?? [],
      avg_samples_per_sec: job.avg_samples_per_sec ?? [],
      spans: [],
      annotations: [],
      statistics: {
        samples_to_date: job.total?.at(-1) ?? null,
        last_step: job.step?.at(-1) ?? null,
        whole_time: { label: "", per_sec: job.per_sec.whole_time },
        windowed: { ...unknown, per_sec: job.per_sec.windowed ?? null },
        training_only: { ...unknown, per_sec: job.per_sec.training_only ?? null },
        steps_per_sec: null,
        step_time: null,
        data_wait_share: null,
        mfu: null,
        time_left_ns: null,
      },
      problems: [],
    },
  ];
}

function togetherLabel({ job, ranks }: JobDocument): string {
  return [job, `all ${ranks.length} ranks`].filter(Boolean).join(" · ");
}

/** What the ranks of a job did together, and which one the others wait for, in a sentence. */
export function jobSentence({
  job,
  name,
  unit = "samples",
  ranks,
  per_sec,
  slowest_rank,
  slowest_run,
  slowest_p50_ns,
}: JobDocument): string {
  const rate = format("rate", per_sec.whole_time).replace("/s", "");
  const together = `${[job, name].filter(Boolean).join(" · ")}: ${ranks.length} ranks, together ${rate} ${unit}/s`;
  if (slowest_rank === null) return `${together}.`;
  return `${together}; the slowest is rank ${slowest_rank} (${slowest_run}), ${format("ns", slowest_p50_ns)} a step.`;
}
