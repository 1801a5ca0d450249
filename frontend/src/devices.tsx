/** The lenses of what happens inside and between devices, and the panes of single executions: a file of their own. */

export { DcnLens } from "./dcn";
export { InCoreLens } from "./incore";
export { ViewPane } from "./views/panes";
