/** What no first screen needs, in a file of its own that is loaded when one of these is opened. */

export { DcnLens } from "./dcn";
export { InCoreLens } from "./incore";
export { ThroughputLens } from "./throughput";
export { ViewComparison } from "./views/comparison";
export { ViewPane } from "./views/panes";
