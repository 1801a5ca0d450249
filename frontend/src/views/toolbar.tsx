import { address } from "../lib/api";
import type { Matches, RowsDocument } from "../lib/documents";
import { VIEWS, type View } from "../lib/state";
import { format, percent } from "../lib/units";
import { ColumnMenu, ExportMenu, ICICLE, Switch } from "../ui/menu";
import { OptionChips } from "../ui/options";
import { SearchBox } from "../ui/search_box";
import { useSession } from "../ui/session";
import { Picker } from "../ui/shell";
import { defaultMetric, figureOf, quantityIn, rowName, usefulColumns } from "./columns";
import { Crumbs } from "./crumbs";
import type { Documents } from "./documents";
import { goToMatch, showView, turn, upFrom } from "./moves";
import { viewParameters } from "./questions";

const VIEW_HELP: Record<View, string> = {
  op: "One row for each type of op",
  scope: "The tree of name scopes, modules and ranges",
  graph: "The tree of ops by what feeds them, or who calls them",
  code: "The tree of source lines that made the ops",
};
/** Options with a control of their own, and those that only shape text output. */
const ELSEWHERE = ["view", "step", "resource", "detail", "select", "output"];

export function Toolbar({ documents }: { documents: Documents }) {
  const session = useSession();
  const state = session.state.value;
  const head = documents.rows.head.value;
  const matches = state.search === "" ? null : (head?.matches ?? null);
  const metric = state.metric || defaultMetric(head);
  return (
    <>
      <div class="toolbar">
        <Switch
          label="View"
          value={state.view}
          choices={VIEWS.map((view) => ({ word: view, title: view, help: VIEW_HELP[view] }))}
          onPick={(view) => showView(session, view)}
        />
        <span class="spacer" />
        <ResourceSwitch head={head} />
        <StepPicker documents={documents} />
        <ColumnControls documents={documents} />
      </div>
      <div class="toolbar second">
        <SearchBox
          value={state.search}
          onSearch={(search) => session.update({ search, match: 0 })}
          found={matches}
          onGo={(by) => goToMatch(session, matches, by)}
          note={shareNote(matches, metric, head)}
        />
        <OptionChips
          lens="views"
          except={ELSEWHERE}
          command={`stepscope views LOGDIR --run '${session.choices.value.chosen?.run ?? ""}' --view ${state.view}`}
        />
        <span class="spacer" />
        <TreeControls documents={documents} metric={metric} />
      </div>
    </>
  );
}

/** How the tree is looked at: from which end, with which figures, and what an icicle's widths mean. */
function TreeControls({ documents, metric }: { documents: Documents; metric: string }) {
  const session = useSession();
  const state = session.state.value;
  const head = documents.rows.head.value;
  const totals = head === null ? [] : usefulColumns(head).filter((column) => column.total);
  return (
    <>
      <button
        type="button"
        class="button"
        aria-pressed={state.direction === "up"}
        title="From the selected row to its callers, in all its places (b)"
        onClick={() => turn(session)}
      >
        Bottom-up
      </button>
      <Switch
        label="Figures"
        value={state.side}
        choices={[
          { word: "both", title: "both", help: "Totals, and the self of times" },
          { word: "total", title: "total", help: "Of a row with all that belongs to it" },
          { word: "self", title: "self", help: "Of the row alone" },
        ]}
        onPick={(side) => session.update({ side })}
      />
      {totals.length > 1 && (
        <Picker
          label="Width"
          value={metric}
          words={totals.map(({ name }) => name)}
          titles={Object.fromEntries(totals.map(({ name, title }) => [name, title]))}
          onPick={(name) => session.update({ metric: name })}
        />
      )}
    </>
  );
}

function ColumnControls({ documents }: { documents: Documents }) {
  const session = useSession();
  const state = session.state.value;
  const head = documents.rows.head.value;
  if (head === null) return null;
  const useful = usefulColumns(head);
  const exported = (kind: string) =>
    address("export", { ...viewParameters(state, session.recordParameters.value), lens: "views", format: kind });
  return (
    <>
      <ColumnMenu
        columns={useful.map(({ name, title, help }) => ({ key: name, title, help }))}
        hidden={state.hidden}
        onHidden={(hidden) => session.update({ hidden })}
      />
      <ExportMenu
        title="All rows of this view, in the source's units"
        url={exported}
        picture={ICICLE}
        formats={head.view === "code" ? [...FORMATS, "pprof"] : FORMATS}
      />
    </>
  );
}

/** Files of a view, as the command writes them. */
const FORMATS = ["csv", "json", "text", "timeline", "speedscope"];

/** Whose time is read: the device's or the host's. Nothing to choose where only one works, or tfprof adds both up. */
function ResourceSwitch({ head }: { head: RowsDocument | null }) {
  const session = useSession();
  const device = head === null ? null : figureOf(head.root, "total_accelerator_exec_micros");
  if (head === null || !device || (head.resource !== "device" && head.resource !== "host")) return null;
  return (
    <Switch
      label="Time"
      value={head.resource}
      choices={[
        { word: "device", title: "device", help: "Time of kernels and copies, by the op that launched them" },
        { word: "host", title: "host", help: "Time on the host's threads" },
      ]}
      onPick={(word) =>
        session.showRecord({ options: { ...session.state.value.options, resource: word }, sort: "", metric: "" })
      }
    />
  );
}

/** What the matches cost together, and their share of all. */
function shareNote(matches: Matches | null, metric: string, head: RowsDocument | null): string {
  const share = matches?.share ?? null;
  const part = typeof share === "number" ? share : share?.[metric];
  if (part === undefined || part === null) return "";
  const whole = head === null ? null : figureOf(head.root, metric);
  return whole === null ? percent(part, 1) : `${format(quantityIn(head, metric), part * whole)}, ${percent(part, 1)}`;
}

/** Which profiled steps the figures are of: all, their average, or one. */
function StepPicker({ documents }: { documents: Documents }) {
  const session = useSession();
  const steps = documents.rows.head.value?.steps ?? [];
  if (steps.length < 2) return null;
  const titles = Object.fromEntries(steps.map(({ id, name }) => [String(id), name || `step ${id}`]));
  return (
    <Picker
      label="Steps"
      value={session.state.value.options.step ?? ""}
      words={["", "average", ...steps.map(({ id }) => String(id))]}
      titles={{ "": "all", average: "average", ...titles }}
      onPick={(step) => session.setOption("step", step || null)}
    />
  );
}

/** Where the tree starts from, when not at its root. */
export function TreeCrumbs({ documents }: { documents: Documents }) {
  const session = useSession();
  if (session.state.value.root === 0) return null;
  const node = documents.root.data.value;
  return (
    <Crumbs
      name={rowName(String(node?.path ?? node?.name ?? ""))}
      onWhole={() => session.update({ root: 0 })}
      onUp={typeof node?.parent === "number" && node.parent > 0 ? () => upFrom(session, node) : null}
    />
  );
}
