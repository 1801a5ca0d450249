/** What no first screen needs, in a file of its own that is loaded when one of these is opened. */

export * from "./lens_parts";
export { ViewComparison } from "./views/comparison";
