/** The in-core lens: which phase inside one fused kernel is long, and which core sets it. */

import { useMemo } from "preact/hooks";
import { address } from "../lib/api";
import type { ComparedRow, ComparisonDocument, Problem } from "../lib/documents";
import { type ComparedFigure, Comparison } from "../ui/comparison";
import { useRecordDocument } from "../ui/documents";
import { ExportMenu, Switch } from "../ui/menu";
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
  const ofPairs = document.rows.some(({ key }) => OF_RUN.test(key));
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
      <Comparison
        document={document}
        figure={comparedFigure}
        first="cycles_x2"
        rowTitle={ofPairs ? "pair and phase" : "phase"}
        rowName={comparedName}
        {...(document.rows.some((row) => setupOf(row) !== "") ? { note: SETUP } : {})}
        exported={(format) =>
          address("export", {
            ...session.recordParameters.value,
            ...session.state.value.options,
            lens: "incore",
            format,
          })
        }
      />
    </>
  );
}

/** Rows of a pair of runs, or of a run that stands alone. */
const OF_RUN = /^(pair|run) -?\d+\//;

/** `pair 3/merged/total` as words; boundaries with names of their own in the order of time, as everywhere else. */
export function comparedName(key: string): string {
  if (OF_RUN.test(key)) return wordsOf(key.replace("merged-split", "merged − split").replaceAll("/", " · "));
  const [later = "", earlier = "", ...more] = key.split("-");
  return later.length > 1 && earlier.length > 1 && more.length === 0 ? `${earlier} → ${later}` : wordsOf(key);
}

const SETUP = {
  title: "setup",
  help: "The run's device, inputs and configuration; with an arrow from the baseline's where the two differ",
  of: setupOf,
};

/** What a run was made with; where this run's differs from the baseline's, from which to which. */
export function setupOf({ a, b }: ComparedRow): string {
  const words = ["variant", "device", "inputs", "configuration"].map((name) => {
    const [mine, other] = [a?.[name] ?? "", b?.[name] ?? ""].map(String);
    if (mine !== other && mine && other) return `${other} → ${mine}`;
    return name === "variant" ? "" : mine || other;
  });
  return words.filter(Boolean).join(" · ");
}

/** Medians are kept as twice their value, so that they are whole. */
function comparedFigure(name: string): ComparedFigure | null {
  return name === "cycles_x2" ? { title: "cycles (median)", quantity: "cycles", factor: 0.5 } : null;
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

const asChoice = (word: string) => ({ word, title: word });

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
          value={pane ?? ""}
          choices={panes.map(asChoice)}
          onPick={(one) => session.update({ pane: one, key: "", zoom: null })}
        />
      )}
      {timed && (
        <Switch
          label="Unit"
          value={unit}
          choices={["cycles", "time"].map(asChoice)}
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
      <ExportMenu title="The figures of this record, in its own units" url={exported} />
    </div>
  );
}

function problemsOf({ detail, codes, warnings }: InCoreDocument): Problem[] {
  const found =
    detail?.problems ??
    [...(codes ?? []), ...(warnings ?? [])].map((code) => ({ ...code, remedy: "", invocation: null }));
  return found.map(({ code, slots, pairs, runs, remedy, invocation }) => ({
    where: invocation === null ? "" : `invocation ${invocation}`,
    what: code + placesText("slot", slots) + placesText("pair", pairs) + placesText("run", runs),
    remedy,
  }));
}

function placesText(word: string, places: readonly number[] = []): string {
  if (places.length === 0) return "";
  const more = places.length > 8 ? ` and ${places.length - 8} more` : "";
  return ` in ${word} ${places.slice(0, 8).join(", ")}${more}`;
}
