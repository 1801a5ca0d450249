import { readHash } from "../lib/address";
import { parseState } from "../lib/state";
import { percent } from "../lib/units";
import { useSession } from "../ui/session";
import type { OverviewFinding, OverviewSummary } from "./documents";

const SHOWN = 5;

/** The runs that a finding is about. */
function runsOf(evidence: OverviewFinding["evidence"]): string {
  return [...new Set(evidence.map(({ run }) => run))].filter((run) => run !== "" && run !== ".").join(", ");
}

/** One sentence for each run: where its step goes, how it differs from the baseline, and the first thing to do. */
export function Summaries({ summaries }: { summaries: readonly OverviewSummary[] }) {
  const told = summaries.filter(({ sentence }) => sentence !== "").slice(0, SHOWN);
  if (told.length === 0) return null;
  return (
    <ul class="plain summaries">
      {told.map(({ run, sentence, difference, first, saving_share }) => (
        <li key={run}>
          {run !== "" && run !== "." && <strong>{`${run}: `}</strong>}
          {[sentence, difference].filter(Boolean).join(" ")}
          {first !== "" && (
            <span>{` First: ${first}${saving_share === null ? "" : ` (saves up to ${percent(saving_share, 1)})`}.`}</span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The findings that come first; each leads to its evidence. */
export function Findings({ findings }: { findings: readonly OverviewFinding[] }) {
  const session = useSession();
  if (findings.length === 0) return <p class="muted">No issues found.</p>;
  return (
    <ol class="plain ranked">
      {findings.slice(0, SHOWN).map(({ title, saving_share, evidence, certainty, state }, at) => (
        <li key={at}>
          <span
            class="num"
            title={saving_share === null ? `${certainty}; what can be saved is unknown` : "Saved at most"}
          >
            {percent(saving_share, 1)}
          </span>
          <span class="name" title={title}>
            {evidence[0] === undefined ? (
              title
            ) : (
              <button
                type="button"
                class="link"
                onClick={() => session.accept(parseState(readHash(evidence[0]?.hash ?? "")))}
              >
                {title}
              </button>
            )}
          </span>
          <span class="muted name run" title={runsOf(evidence)}>
            {[state, runsOf(evidence)].filter(Boolean).join(" · ")}
          </span>
        </li>
      ))}
      {findings.length > SHOWN && (
        <li class="muted">
          <span>{`and ${findings.length - SHOWN} more`}</span>
        </li>
      )}
    </ol>
  );
}
