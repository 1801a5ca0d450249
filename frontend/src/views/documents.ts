/** What the tree, its icicle and the drawer show, asked for together. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { IcicleDocument, NodeDocument } from "../lib/documents";
import { recordVersion } from "../ui/documents";
import { PagedRows } from "../ui/paged_rows";
import { Resource } from "../ui/resource";
import { type Session, useSession } from "../ui/session";
import { icicleAddress, nodeAddress, rowsParameters } from "./questions";

export interface Documents {
  readonly rows: PagedRows;
  readonly icicle: Resource<IcicleDocument>;
  /** The selected row, and the row that the tree starts from. */
  readonly node: Resource<NodeDocument>;
  readonly root: Resource<NodeDocument>;
}

/** The documents of the chosen view; asked again when the record was written anew, and given up with the widget. */
export function useDocuments(): Documents {
  const session = useSession();
  const documents = useMemo(() => documentsOf(session), [session]);
  const asked = useRef("");
  useSignalEffect(() => {
    const version = recordVersion(session);
    if (!session.visible.value || version === null) return;
    ask(session, documents, version !== asked.current);
    asked.current = version;
  });
  useEffect(
    () => () => {
      documents.rows.close();
      for (const resource of [documents.icicle, documents.node, documents.root]) resource.clear();
    },
    [documents],
  );
  return documents;
}

function documentsOf({ fetcher }: Session): Documents {
  return {
    rows: new PagedRows(fetcher),
    icicle: new Resource<IcicleDocument>(fetcher),
    node: new Resource<NodeDocument>(fetcher),
    root: new Resource<NodeDocument>(fetcher),
  };
}

export function ask(session: Session, documents: Documents, again = false): void {
  const state = session.state.value;
  const record = session.recordParameters.value;
  documents.rows.show(rowsParameters(state, record), again);
  void documents.icicle.load(icicleAddress(state, record), again);
  if (state.drawer === "open") void documents.node.load(nodeAddress(state, record, state.selected), again);
  if (state.root > 0) void documents.root.load(nodeAddress(state, record, state.root), again);
}
