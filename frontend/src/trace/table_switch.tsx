/** Which table of the trace is shown. Only those that the profile has data for are offered. */

import { address } from "../lib/api";
import { CHART, ExportMenu, Switch } from "../ui/menu";
import { useSession } from "../ui/session";
import { windowOf } from "./window";

const TITLES: Readonly<Record<string, readonly [title: string, help: string]>> = {
  steps: ["steps", "Time of each step by category, and the utilization of each accelerator"],
  trace: ["trace", "Timeline of every thread and stream"],
  shapes: ["shapes", "Ops by their input shapes"],
  kernels: ["kernels", "Kernels, copies and sets, and how they were launched"],
  launches: ["launches", "Launch delays, and why streams are idle"],
  "critical-path": ["critical path", "The chain of work and waits that decides how long the steps take"],
  memory: ["memory", "Memory over time, and what ops allocate and release"],
  ranks: ["ranks", "The ranks of the job side by side"],
};

/** The shape of the `views` route behind each table. */
const SHAPES: Readonly<Record<string, string>> = { steps: "breakdown", trace: "timeline" };

/** All that the table holds, as a file. */
export function TableExport({ shown }: { shown: string }) {
  const session = useSession();
  const { host } = session.state.value;
  const { run, name, record_step } = session.recordParameters.value;
  const shape = SHAPES[shown] ?? shown;
  const more = {
    by: shown === "kernels" ? host : "",
    device: shown === "memory" ? host : "",
    ...windowOf(session.state.value),
  };
  const url = (format: string) => address("export", { run, name, record_step, lens: "views", shape, format, ...more });
  const picture = shown === "memory" ? CHART : null;
  return <ExportMenu title="All rows of this table, in the source's units" url={url} picture={picture} />;
}

export function TableSwitch({ tables, shown }: { tables: readonly string[]; shown: string }) {
  const session = useSession();
  return (
    <Switch
      label="Shown"
      value={shown}
      choices={tables.map((word) => {
        const [title, help] = TITLES[word] ?? [word, ""];
        return { word, title, help };
      })}
      onPick={(next) => session.update({ pane: next, key: "", zoom: null, sort: "", search: "", host: "" })}
    />
  );
}
