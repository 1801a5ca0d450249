/** The views lens: an icicle and a tree-table over the same rows, and the detail of one. */

import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Command } from "../lib/commands";
import type { IcicleDocument, NodeDocument, RowsDocument } from "../lib/documents";
import { VIEWS } from "../lib/state";
import { PagedRows } from "../ui/paged_rows";
import { Resource } from "../ui/resource";
import { type Session, useCommands, useSession } from "../ui/session";
import { Busy, Empty, Failure, Problems, Skeleton } from "../ui/states";
import { CallersPane } from "./callers_pane";
import { ViewComparison } from "./comparison";
import { Drawer } from "./drawer";
import { IciclePane } from "./icicle_pane";
import { PaneExport, PaneSwitch, panesOf } from "./pane_switch";
import { DEFAULT_METRIC, icicleAddress, nodeAddress, rowsParameters } from "./questions";
import { Toolbar, TreeCrumbs } from "./toolbar";
import { CLOSE_ALL, OPEN_ALL } from "./tree";
import { TreePane } from "./tree_pane";

export interface Documents {
  readonly rows: PagedRows;
  readonly icicle: Resource<IcicleDocument>;
  /** The selected row, and the row that the tree starts from. */
  readonly node: Resource<NodeDocument>;
  readonly root: Resource<NodeDocument>;
}

interface ViewsLensProps {
  /** What is shown instead of the views when another question is chosen. */
  readonly pane: () => ComponentChildren;
}

export function ViewsLens({ pane }: ViewsLensProps) {
  const session = useSession();
  return session.state.value.compare === "" ? <Shown pane={pane} /> : <ViewComparison />;
}

function Shown({ pane }: ViewsLensProps) {
  const session = useSession();
  const documents = useDocuments(session);
  const panes = panesOf(documents.rows.head.value);
  if (!panes.includes(session.state.value.pane)) return <Tree documents={documents} />;
  return (
    <>
      <div class="toolbar">
        <PaneSwitch panes={panes} />
        <span class="spacer" />
        <PaneExport />
      </div>
      {pane()}
    </>
  );
}

function Tree({ documents }: { documents: Documents }) {
  const session = useSession();
  useCommands(useMemo(() => viewCommands(session, documents), [session, documents]));
  const { rows } = documents;
  const { direction, drawer, metric } = session.state.value;
  const head = rows.head.value;
  const error = rows.error.value;
  return (
    <>
      <Toolbar documents={documents} />
      <Busy on={head !== null && rows.slow.value} />
      {head !== null && <Problems problems={head.problems} />}
      {error !== null && <Failure error={error} retry={() => ask(session, documents, true)} />}
      {error === null && head === null && rows.slow.value && <Skeleton />}
      {error === null && head !== null && head.total_rows <= 1 && <NoRows view={head.view} />}
      {error === null && head !== null && head.total_rows > 1 && (
        <div class="split">
          <div class="main-column">
            <IciclePane documents={documents} />
            <TreeCrumbs documents={documents} />
            {direction === "up" ? (
              <CallersPane unit={metricUnit(head, metric)} />
            ) : (
              <TreePane documents={documents} head={head} />
            )}
          </div>
          {drawer === "open" && <Drawer documents={documents} head={head} />}
        </div>
      )}
    </>
  );
}

function metricUnit({ columns }: RowsDocument, metric: string): string {
  return columns.find(({ name }) => name === (metric || DEFAULT_METRIC))?.unit ?? "us";
}

const NEEDED: Readonly<Record<string, string>> = {
  code: "The profile has no call stacks. Record it with them: with_stack=True in PyTorch, traces in TensorFlow.",
  graph: "The profile has no edges between its ops.",
};

/** Which it is: options hide every row, or the profile has nothing for this view. */
function NoRows({ view }: { view: string }) {
  const session = useSession();
  const changed = Object.keys(session.state.value.options);
  if (changed.length > 0) {
    const clear = () => session.showRecord({ options: {} });
    return (
      <Empty title="The options hide every row" action={{ label: "Clear the options", run: clear }}>
        {`Changed from their defaults: ${changed.join(", ")}.`}
      </Empty>
    );
  }
  return <Empty title={`Nothing to show by ${view}`}>{NEEDED[view] ?? "No op of this profile has a cost."}</Empty>;
}

function useDocuments(session: Session): Documents {
  const documents = useMemo(() => {
    const { fetcher } = session;
    return {
      rows: new PagedRows(fetcher),
      icicle: new Resource<IcicleDocument>(fetcher),
      node: new Resource<NodeDocument>(fetcher),
      root: new Resource<NodeDocument>(fetcher),
    };
  }, [session]);
  const written = useSignal("");
  useSignalEffect(() => {
    if (!session.visible.value || session.choices.value.chosen === null) return;
    // The same record written anew is another answer to the same question.
    const now = `${session.reloads.value} ${session.choices.value.chosen.written_wall_ns}`;
    const again = written.peek() !== "" && written.peek() !== now;
    written.value = now;
    ask(session, documents, again);
  });
  useEffect(() => () => documents.rows.close(), [documents]);
  return documents;
}

function ask(session: Session, documents: Documents, again = false): void {
  const state = session.state.value;
  const record = session.recordParameters.value;
  documents.rows.show(rowsParameters(state, record), again);
  void documents.icicle.load(icicleAddress(state, record), again);
  if (state.drawer === "open") void documents.node.load(nodeAddress(state, record, state.selected), again);
  if (state.root > 0) void documents.root.load(nodeAddress(state, record, state.root), again);
}

/** Starts the tree from the parent of the row that it starts from. */
export function upFrom(session: Session, root: NodeDocument | null): void {
  const { root: from } = session.state.value;
  const parent = root?.parent;
  if (from > 0) session.update({ root: typeof parent === "number" ? Math.max(parent, 0) : 0, selected: from });
}

function viewCommands(session: Session, { rows, root }: Documents): Command[] {
  const group = "Views";
  const match = (by: number) => () => {
    const matches = rows.head.value?.matches;
    if (matches && matches.count > 0) session.update({ match: (matches.index + by + matches.count) % matches.count });
  };
  return [
    ...VIEWS.map((view, at) => ({
      keys: [String(at + 1)],
      title: `By ${view}`,
      group,
      run: () => session.showRecord({ view, sort: "", metric: "" }),
    })),
    { keys: ["n"], title: "Next match", group, run: match(1) },
    { keys: ["p"], title: "Previous match", group, run: match(-1) },
    { keys: ["*"], title: "Open all rows", group, run: () => session.update(OPEN_ALL) },
    { keys: ["-"], title: "Close all rows", group, run: () => session.update(CLOSE_ALL) },
    {
      keys: ["z"],
      title: "Start from the selected row",
      group,
      run: () => session.update({ root: session.state.value.selected }),
    },
    {
      keys: ["b"],
      title: "From the bottom up: callers of the selected row",
      group,
      run: () => session.update({ direction: session.state.value.direction === "up" ? "down" : "up" }),
    },
    { keys: ["u", "Backspace"], title: "Up to the parent", group, run: () => upFrom(session, root.data.value) },
    { keys: ["Escape"], title: "Show the whole tree", group, run: () => session.update({ root: 0 }) },
    {
      keys: ["d"],
      title: "Details of the selected row",
      group,
      run: () => session.update({ drawer: session.state.value.drawer === "open" ? "" : "open" }),
    },
  ];
}
