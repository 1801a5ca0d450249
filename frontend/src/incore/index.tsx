/** The in-core lens: which phase inside one fused kernel is long, and which core sets it. */

import { useMemo } from "preact/hooks";
import { address } from "../lib/api";
import type { ComparisonDocument, Problem } from "../lib/documents";
import { type ComparedFigure, Comparison } from "../ui/comparison";
import { useRecordDocument } from "../ui/documents";
import { OptionChips } from "../ui/options";
import { useSession } from "../ui/session";
import { Empty, Loaded, Problems } from "../ui/states";
import { Aligned } from "./aligned";
import type { InCoreDocument } from "./document";
import { InvocationPicker, Invocations } from "./invocations";
import { PhasePanel } from "./phase_panel";
import { Pairs, Probes, Runs, wordsOf } from "./tables";
import { TaskPanel } from "./task_panel";
import { type Units, unitsOf } from "./units";

interface InCoreComparison extends ComparisonDocument {
  readonly same_clock?: boolean;
}

export function InCoreLens() {
  const resource = useRecordDocument<InCoreDocument | InCoreComparison>("incore", { detail: "tasks" }, [
    "detail",
    "task",
  ]);
  return (
    <Loaded resource={resource}>
      {(document) => ("status" in document ? <InCore document={document} /> : <Compared document={document} />)}
    </Loaded>
  );
}

function Compared({ document }: { document: InCoreComparison }) {
  const session = useSession();
  if (document.rows.length === 0) {
    return (
      <Empty
        title="These two have no phase in common"
        action={{ label: "Show this run alone", run: () => session.showRecord({ compare: "" }) }}
      >
        Runs are compared by their phases, and captures of tasks have none. Choose a record with stamps, or no baseline.
      </Empty>
    );
  }
  return (
    <>
      {document.same_clock === false && (
        <Problems problems={[{ where: "", what: "the two have different clocks: cycles do not compare as time" }]} />
      )}
      <Aligned />
      <Comparison document={document} figure={comparedFigure} first="cycles_x2" rowTitle="phase" rowName={wordsOf} />
    </>
  );
}

/** Medians are kept as twice their value, so that they are whole. */
function comparedFigure(name: string): ComparedFigure | null {
  return name === "cycles_x2" ? { title: "cycles", quantity: "cycles", factor: 0.5 } : null;
}

type Pane = "phases" | "tasks";

function panesOf(document: InCoreDocument): Pane[] {
  const lanes = (document.detail?.lanes?.length ?? 0) > 0;
  return [...(lanes ? (["phases"] as const) : []), ...(document.tasks ? (["tasks"] as const) : [])];
}

function InCore({ document }: { document: InCoreDocument }) {
  const session = useSession();
  const { pane: asked, options, unit } = session.state.value;
  const panes = panesOf(document);
  const pane = panes.find((one) => one === asked) ?? panes[0];
  const units = useMemo(() => unitsOf(document, unit === "time"), [document, unit]);
  const title = document.detail?.title ?? "";
  const key = `${title} ${options.invocation ?? ""}`;
  return (
    <>
      <InCoreToolbar document={document} units={units} panes={panes} pane={pane} />
      <Problems problems={problemsOf(document)} />
      {pane === "phases" && <PhasePanel key={key} document={document} units={units} title={title} />}
      {pane === "tasks" && document.tasks && (
        <TaskPanel key={key} document={document} tasks={document.tasks} units={units} title={title} />
      )}
      {document.per_invocation && <Invocations document={document} units={units} />}
      {pane === undefined && document.per_invocation === undefined && <Figures document={document} units={units} />}
    </>
  );
}

/** What has no lanes: paired runs, probes, and records that cannot be used. */
function Figures({ document, units }: { document: InCoreDocument; units: Units }) {
  const nothing = !document.per_pair && !document.per_run && !document.read_cost && !document.envelopes;
  return (
    <div class="scroll" tabIndex={0}>
      {nothing && <Empty title="No invocation of this record can be used">{STATUS[document.status]}</Empty>}
      <Pairs document={document} units={units} />
      <Runs document={document} units={units} />
      <Probes document={document} units={units} />
    </div>
  );
}

const STATUS: Readonly<Record<InCoreDocument["status"], string>> = {
  ok: "The record holds no stamps.",
  warning: "The record holds no stamps that give a phase.",
  mixed: "What is wrong with each is said above.",
  error: "What is wrong, in which slots, and what to do about it is said above.",
};

interface ToolbarProps {
  readonly document: InCoreDocument;
  readonly units: Units;
  readonly panes: readonly Pane[];
  readonly pane: Pane | undefined;
}

function InCoreToolbar({ document, units, panes, pane }: ToolbarProps) {
  const session = useSession();
  const { options, unit } = session.state.value;
  const exported = (kind: string) =>
    address("export", { ...session.recordParameters.value, ...options, lens: "incore", format: kind });
  const invocation = options.invocation;
  const timed = (document.detail?.clock_freq_hz ?? 0) > 0;
  return (
    <div class="toolbar">
      {panes.length > 1 && (
        <Switch
          label="Shown"
          words={panes}
          chosen={pane ?? ""}
          onPick={(one) => session.update({ pane: one, key: "", zoom: null })}
        />
      )}
      {timed && (
        <Switch
          label="Unit"
          words={["cycles", "time"]}
          chosen={unit}
          onPick={(word) => session.update({ unit: word === "time" ? "time" : "cycles" })}
        />
      )}
      <span class="muted">{units.clock}</span>
      {document.detail?.title && (
        <span class="muted title" title={document.detail.title}>
          {document.detail.title}
        </span>
      )}
      {invocation !== undefined && <InvocationPicker invocation={Number(invocation)} units={units} />}
      <OptionChips lens="incore" except={["detail", "task", "invocation"]} command="stepscope incore LOGDIR" />
      <span class="spacer" />
      <span class={document.status === "ok" ? "badge" : "badge bad"}>{document.status}</span>
      {["csv", "json"].map((kind) => (
        <a key={kind} class="button" href={exported(kind)} download>
          {kind.toUpperCase()}
        </a>
      ))}
    </div>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly words: readonly string[];
  readonly chosen: string;
  readonly onPick: (word: string) => void;
}

function Switch({ label, words, chosen, onPick }: SwitchProps) {
  return (
    <div class="switch" role="radiogroup" aria-label={label}>
      {words.map((word) => (
        <button key={word} type="button" role="radio" aria-checked={word === chosen} onClick={() => onPick(word)}>
          {word}
        </button>
      ))}
    </div>
  );
}

function problemsOf({ detail, codes, warnings }: InCoreDocument): Problem[] {
  const found =
    detail?.problems ??
    [...(codes ?? []), ...(warnings ?? [])].map((code) => ({ ...code, remedy: "", invocation: null }));
  return found.map(({ code, slots, remedy, invocation }) => ({
    where: invocation === null ? "" : `invocation ${invocation}`,
    what: `${code}${slotText(slots)}`,
    remedy,
  }));
}

function slotText(slots: readonly number[] | undefined): string {
  if (slots === undefined || slots.length === 0) return "";
  const more = slots.length > 8 ? ` and ${slots.length - 8} more` : "";
  return ` in slot ${slots.slice(0, 8).join(", ")}${more}`;
}
