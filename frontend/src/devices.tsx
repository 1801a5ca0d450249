/** The lenses of what happens inside and between devices, in a file of their own. */

export { DcnLens } from "./dcn";
export { InCoreLens } from "./incore";
