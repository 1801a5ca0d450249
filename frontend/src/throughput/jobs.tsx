import { format } from "../lib/units";
import type { JobDocument } from "./document";

/** What the ranks of a job did together, and which one the others wait for. */
export function Jobs({ jobs }: { jobs: readonly JobDocument[] }) {
  if (jobs.length === 0) return null;
  return (
    <ul class="plain foot-note">
      {jobs.map((job) => (
        <li key={`${job.job} ${job.name}`}>{sentence(job)}</li>
      ))}
    </ul>
  );
}

function sentence({
  job,
  name,
  unit = "samples",
  ranks,
  per_sec,
  slowest_rank,
  slowest_run,
  slowest_p50_ns,
}: JobDocument) {
  const rate = format("rate", per_sec.whole_time).replace("/s", "");
  const together = `${[job, name].filter(Boolean).join(" · ")}: ${ranks.length} ranks, together ${rate} ${unit}/s`;
  if (slowest_rank === null) return `${together}.`;
  return `${together}; the slowest is rank ${slowest_rank} (${slowest_run}), ${format("ns", slowest_p50_ns)} a step.`;
}
