/** The in-core lens: which phase inside one fused kernel is long, and which core sets it. */

import { useCallback, useMemo } from "preact/hooks";
import { address } from "../lib/api";
import type { ComparisonDocument, Problem } from "../lib/documents";
import { exact, format } from "../lib/units";
import { type ComparedFigure, Comparison } from "../ui/comparison";
import { useRecordDocument } from "../ui/documents";
import { OptionChips } from "../ui/options";
import { useSession } from "../ui/session";
import { Loaded, Problems } from "../ui/states";
import { type InCoreDocument, phasesOf, sumOf } from "./document";
import { Lanes } from "./lanes";
import { Collective, Distributions, Invocations, Pairs, PhaseTable } from "./tables";

const STATUS: Readonly<Record<InCoreDocument["status"], string>> = {
  ok: "All stamps can be used",
  warning: "Usable, with warnings",
  mixed: "Some invocations cannot be used",
  error: "The stamps cannot be used",
};

export function InCoreLens() {
  const resource = useRecordDocument<InCoreDocument | ComparisonDocument>("incore", { detail: "full" });
  return (
    <Loaded resource={resource}>
      {(document) =>
        "status" in document ? (
          <InCore document={document} />
        ) : (
          <Comparison document={document} figure={comparedFigure} first="cycles_x2" rowTitle="phase" />
        )
      }
    </Loaded>
  );
}

/** Medians are kept as twice their value, so that they are whole. */
function comparedFigure(name: string): ComparedFigure | null {
  return name === "cycles_x2" ? { title: "cycles", quantity: "cycles", factor: 0.5 } : null;
}

/** Says cycles as time where the clock is known. */
export function useCycles(document: InCoreDocument): (cycles: number) => string {
  const frequency = document.detail?.clock_freq_hz ?? null;
  return useCallback(
    (cycles: number) => {
      if (!frequency) return `${cycles.toLocaleString()} cycles`;
      return format("ns", (cycles / frequency) * 1e9);
    },
    [frequency],
  );
}

function InCore({ document }: { document: InCoreDocument }) {
  const session = useSession();
  const cycles = useCycles(document);
  const phases = useMemo(() => phasesOf(document), [document]);
  const { detail } = document;
  return (
    <>
      <InCoreToolbar />
      <Problems problems={problemsOf(document)} />
      <div class="scroll" tabIndex={0}>
        <Summary document={document} cycles={cycles} />
        {phases.length > 0 && <PhaseTable phases={phases} detail={detail} cycles={cycles} />}
        {document.collective && <Collective collective={document.collective} cycles={cycles} detail={detail} />}
        {detail?.lanes && detail.lanes.length > 0 && (
          <section class="block">
            <h2>Slots</h2>
            <p class="muted">Each slot's own stamps. A dark mark is the stamp that sets its boundary.</p>
            <Lanes detail={detail} phases={phases} theme={session.theme.value} format={cycles} />
          </section>
        )}
        {detail?.distributions && <Distributions distributions={detail.distributions} cycles={cycles} />}
        {document.per_invocation && <Invocations document={document} cycles={cycles} />}
        {document.per_pair && <Pairs document={document} cycles={cycles} />}
      </div>
    </>
  );
}

function InCoreToolbar() {
  const session = useSession();
  const { options } = session.state.value;
  const exported = (kind: string) =>
    address("export", { ...session.recordParameters.value, ...options, lens: "incore", format: kind });
  return (
    <div class="toolbar">
      {options.invocation !== undefined && (
        <button type="button" class="button" onClick={() => session.setOption("invocation", null)}>
          All invocations
        </button>
      )}
      <OptionChips lens="incore" except={["detail"]} command="stepscope incore LOGDIR" />
      <span class="spacer" />
      {["csv", "json"].map((kind) => (
        <a key={kind} class="button" href={exported(kind)} download>
          {kind.toUpperCase()}
        </a>
      ))}
    </div>
  );
}

function Summary({ document, cycles }: { document: InCoreDocument; cycles: (n: number) => string }) {
  const phases = phasesOf(document);
  const sum = sumOf(phases);
  const longest = phases.reduce((most, phase) => (phase.cycles > most.cycles ? phase : most), { name: "", cycles: -1 });
  const { detail, status, per_invocation } = document;
  const frequency = detail?.clock_freq_hz;
  return (
    <div class="headline flush">
      {phases.length > 0 && (
        <>
          <div title={exact("cycles", sum)}>
            <strong>{cycles(sum)}</strong>
            <span>{frequency ? `${sum.toLocaleString()} cycles in all` : "in all"}</span>
          </div>
          <div>
            <strong>{longest.name}</strong>
            <span>longest phase, {cycles(longest.cycles)}</span>
          </div>
        </>
      )}
      {per_invocation && (
        <div>
          <strong>{per_invocation.length.toLocaleString()}</strong>
          <span>invocations</span>
        </div>
      )}
      <div>
        <strong class={status === "ok" ? "" : "bad"}>{status}</strong>
        <span>{STATUS[status]}</span>
      </div>
      {frequency ? (
        <div>
          <strong>{(frequency / 1e6).toLocaleString()}</strong>
          <span>MHz clock</span>
        </div>
      ) : null}
    </div>
  );
}

function problemsOf({ detail, codes, warnings }: InCoreDocument): Problem[] {
  const found =
    detail?.problems ??
    [...(codes ?? []), ...(warnings ?? [])].map((code) => ({ ...code, remedy: "", invocation: null }));
  return found.map(({ code, slots, remedy, invocation }) => ({
    where: invocation === null ? "" : `invocation ${invocation}`,
    what: `${code.toLowerCase().replaceAll("_", " ")}${slotText(slots)}`,
    remedy,
  }));
}

function slotText(slots: readonly number[] | undefined): string {
  if (slots === undefined || slots.length === 0) return "";
  const more = slots.length > 8 ? ` and ${slots.length - 8} more` : "";
  return ` in slot ${slots.slice(0, 8).join(", ")}${more}`;
}
