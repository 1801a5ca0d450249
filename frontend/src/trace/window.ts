/** The zoom as a window of time. */

import type { Parameters } from "../lib/api";
import type { PanelState } from "../lib/state";

export function windowOf({ zoom }: PanelState): Parameters {
  return zoom === null ? {} : { start_ps: Math.floor(zoom[0]), end_ps: Math.ceil(zoom[1]) };
}
