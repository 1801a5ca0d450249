/** Views, or another question to the same profile. Only what the profile has is offered. */

import { address } from "../lib/api";
import { CHART, ExportMenu, Switch } from "../ui/menu";
import { useSession } from "../ui/session";
import { windowOf } from "./questions";

const TITLES: Readonly<Record<string, readonly [title: string, help: string]>> = {
  "": ["views", "Ops, scopes, code and calls with their costs"],
  steps: ["steps", "The time of each step by what it is spent on, and how busy each accelerator is"],
  trace: ["trace", "What every thread and stream ran when"],
  shapes: ["shapes", "Ops by their input shapes"],
  kernels: ["kernels", "Kernels, copies and sets, and how they were launched"],
  launches: ["launches", "How long launches wait, and why streams stand idle"],
  memory: ["memory", "Memory over time, and what ops take and give back"],
  ranks: ["ranks", "The ranks of the job side by side"],
};

/** The shape of the `views` route behind each pane. */
const SHAPES: Readonly<Record<string, string>> = { steps: "breakdown", trace: "timeline" };

/** All that the pane's table holds, as a file. */
export function PaneExport() {
  const session = useSession();
  const { pane, host } = session.state.value;
  const { run, name, record_step } = session.recordParameters.value;
  const shape = SHAPES[pane] ?? pane;
  const more = {
    by: pane === "kernels" ? host : "",
    device: pane === "memory" ? host : "",
    ...windowOf(session.state.value),
  };
  const url = (format: string) => address("export", { run, name, record_step, lens: "views", shape, format, ...more });
  const picture = pane === "memory" ? CHART : null;
  return <ExportMenu title="All that this pane's tables hold, in the source's units" url={url} picture={picture} />;
}

/** The panes that can be shown. */
export function panesOf(head: { readonly panes?: readonly string[] } | null): readonly string[] {
  return head?.panes ?? [];
}

export function PaneSwitch({ panes }: { panes: readonly string[] }) {
  const session = useSession();
  if (panes.length === 0) return null;
  const { pane } = session.state.value;
  return (
    <Switch
      label="Shown"
      value={panes.includes(pane) ? pane : ""}
      choices={["", ...panes].map((word) => {
        const [title, help] = TITLES[word] ?? [word, ""];
        return { word, title, help };
      })}
      onPick={(next) => session.update({ pane: next, key: "", zoom: null, sort: "", search: "", host: "" })}
    />
  );
}
