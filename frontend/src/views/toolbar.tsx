import { address } from "../lib/api";
import type { Matches, RowsDocument } from "../lib/documents";
import { VIEWS, type View } from "../lib/state";
import { format, percent } from "../lib/units";
import { ColumnMenu, Menu, Switch } from "../ui/menu";
import { OptionChips } from "../ui/options";
import { SearchBox } from "../ui/search_box";
import { useSession } from "../ui/session";
import { Picker } from "../ui/shell";
import { figureOf, quantityOf, rowName, usefulColumns } from "./columns";
import type { Documents } from "./index";
import { PaneSwitch, panesOf } from "./pane_switch";
import { DEFAULT_METRIC, viewParameters } from "./questions";

const VIEW_HELP: Record<View, string> = {
  op: "One row for each type of op",
  scope: "The tree of name scopes, modules and ranges",
  graph: "The tree of ops by what feeds them, or who calls them",
  code: "The tree of source lines that made the ops",
};
/** Options with a control of their own, and those that only shape text output. */
const ELSEWHERE = ["view", "step", "detail", "select", "output"];

export function Toolbar({ documents }: { documents: Documents }) {
  const session = useSession();
  const state = session.state.value;
  const head = documents.rows.head.value;
  const matches = state.search === "" ? null : (head?.matches ?? null);
  const go = (by: number) => {
    if (matches && matches.count > 0) session.update({ match: (matches.index + by + matches.count) % matches.count });
  };
  const metric = state.metric || DEFAULT_METRIC;
  return (
    <div class="toolbar">
      <PaneSwitch panes={panesOf(head)} />
      <Switch
        label="View"
        value={state.view}
        choices={VIEWS.map((view) => ({ word: view, title: view, help: VIEW_HELP[view] }))}
        onPick={(view) => session.showRecord({ view, sort: "", metric: "" })}
      />
      <SearchBox
        value={state.search}
        onSearch={(search) => session.update({ search, match: 0 })}
        found={matches}
        onGo={go}
        note={shareNote(matches, metric, head)}
      />
      <StepPicker documents={documents} />
      <OptionChips
        lens="views"
        except={ELSEWHERE}
        command={`stepscope views LOGDIR --run '${session.choices.value.chosen?.run ?? ""}' --view ${state.view}`}
      />
      <span class="spacer" />
      {!panesOf(head).includes("memory") && (documents.memory.data.value?.series.length ?? 0) > 0 && (
        <button
          type="button"
          class="button"
          aria-pressed={state.pane === "memory"}
          title="What was allocated when"
          onClick={() => session.update({ pane: state.pane === "memory" ? "" : "memory" })}
        >
          Memory
        </button>
      )}
      <button
        type="button"
        class="button"
        aria-pressed={state.direction === "up"}
        title="From the selected row to its callers, in all its places (b)"
        onClick={() => session.update({ direction: state.direction === "up" ? "down" : "up" })}
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
      <ColumnControls documents={documents} metric={metric} />
    </div>
  );
}

function ColumnControls({ documents, metric }: { documents: Documents; metric: string }) {
  const session = useSession();
  const state = session.state.value;
  const head = documents.rows.head.value;
  if (head === null) return null;
  const useful = usefulColumns(head);
  const totals = useful.filter((column) => column.total);
  const exported = (kind: string) =>
    address("export", { ...viewParameters(state, session.recordParameters.value), lens: "views", format: kind });
  return (
    <>
      {totals.length > 1 && (
        <Picker
          label="Width"
          value={metric}
          words={totals.map(({ name }) => name)}
          titles={Object.fromEntries(totals.map(({ name, title }) => [name, title]))}
          onPick={(name) => session.update({ metric: name })}
        />
      )}
      <ColumnMenu
        columns={useful.map(({ name, title, help }) => ({ key: name, title, help }))}
        hidden={state.hidden}
        onHidden={(hidden) => session.update({ hidden })}
      />
      <Menu label="Export" title="All rows of this view, in the source's units">
        <div class="check-list">
          {["csv", "json"].map((kind) => (
            <a key={kind} class="link" href={exported(kind)} download>
              {kind.toUpperCase()}
            </a>
          ))}
        </div>
      </Menu>
    </>
  );
}

/** What the matches cost together, and their share of all. */
function shareNote(matches: Matches | null, metric: string, head: RowsDocument | null): string {
  const share = matches?.share ?? null;
  const part = typeof share === "number" ? share : share?.[metric];
  if (part === undefined || part === null) return "";
  const whole = head === null ? null : figureOf(head.root, metric);
  const unit = head?.columns.find(({ name }) => name === metric)?.unit ?? "us";
  return whole === null ? percent(part, 1) : `${format(quantityOf(unit), part * whole)}, ${percent(part, 1)}`;
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
export function Crumbs({ documents }: { documents: Documents }) {
  const session = useSession();
  const { root } = session.state.value;
  if (root === 0) return null;
  const node = documents.root.data.value;
  const parent = typeof node?.parent === "number" ? Math.max(node.parent, 0) : 0;
  return (
    <nav class="crumbs" aria-label="Start of the tree">
      <button type="button" class="button" onClick={() => session.update({ root: 0 })} title="Escape">
        Whole tree
      </button>
      {parent > 0 && (
        <button type="button" class="button" onClick={() => session.update({ root: parent })} title="u">
          Up
        </button>
      )}
      <span class="muted">from</span>
      <strong class="name">{rowName(String(node?.path ?? node?.name ?? ""))}</strong>
    </nav>
  );
}
