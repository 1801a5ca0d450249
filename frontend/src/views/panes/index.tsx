/** What a profile's single executions answer, beside its views: steps, trace, shapes, kernels, launches, memory, ranks. */

import { useSession } from "../../ui/session";
import { Kernels } from "./kernels";
import { Launches } from "./launches";
import { Memory } from "./memory";
import { Ranks } from "./ranks";
import { Shapes } from "./shapes";
import { Steps } from "./steps";
import { Trace } from "./trace";

const PANES: Readonly<Record<string, () => preact.JSX.Element | null>> = {
  steps: Steps,
  trace: Trace,
  shapes: Shapes,
  kernels: Kernels,
  launches: Launches,
  memory: Memory,
  ranks: Ranks,
};

export function ViewPane() {
  const { pane } = useSession().state.value;
  const Shown = PANES[pane];
  return Shown === undefined ? null : <Shown key={pane} />;
}
