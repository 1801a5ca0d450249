/** What the views lens asks the server, from the state. */

import { address, type Parameters } from "../lib/api";
import type { PanelState } from "../lib/state";
import { openDepth } from "./tree";

const ICICLE_LEVELS = 40;
/** A fixed grain: the picture is asked once and scaled to the width that there is. */
const ICICLE_WIDTH_PX = 1600;

/** What every question about a view has in common: the record, the view and its options. */
export function viewParameters(state: PanelState, record: Parameters): Parameters {
  return { ...record, ...state.options, view: state.view };
}

export function rowsParameters(state: PanelState, record: Parameters): Parameters {
  return {
    ...viewParameters(state, record),
    depth: openDepth(state),
    toggled: state.toggled.join(","),
    below: state.below.join(","),
    sort: state.sort,
    search: state.search,
    match: state.search === "" ? "" : state.match,
    root: state.root,
  };
}

export function icicleAddress(state: PanelState, record: Parameters): string {
  return address("views", {
    ...viewParameters(state, record),
    shape: "icicle",
    metric: state.metric,
    root: state.root,
    width_px: ICICLE_WIDTH_PX,
    levels: ICICLE_LEVELS,
  });
}

export function nodeAddress(state: PanelState, record: Parameters, id: number): string {
  return address("views", { ...viewParameters(state, record), shape: "node", id });
}
