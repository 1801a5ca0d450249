/** The views lens: an icicle and a tree-table over the same rows, and the detail of one. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { useCommands, useSession } from "../ui/session";
import { Busy, Empty, Failure, Problems, Skeleton } from "../ui/states";
import { CallersPane } from "./callers_pane";
import { defaultMetric, quantityIn } from "./columns";
import { ask, useDocuments } from "./documents";
import { Drawer } from "./drawer";
import { IciclePane } from "./icicle_pane";
import { treeCommands } from "./moves";
import { Toolbar, TreeCrumbs } from "./toolbar";
import { TreePane } from "./tree_pane";

interface ViewsLensProps {
  /** What is shown of two profiles. */
  readonly comparison: () => ComponentChildren;
}

export function ViewsLens({ comparison }: ViewsLensProps) {
  const session = useSession();
  return session.state.value.compare === "" ? <Tree /> : comparison();
}

function Tree() {
  const session = useSession();
  const documents = useDocuments();
  useCommands(useMemo(() => treeCommands(session, documents), [session, documents]));
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
              <CallersPane quantity={quantityIn(head, metric || defaultMetric(head))} />
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
