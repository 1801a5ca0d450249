/** Two profiles, aligned by stable path in each of the four views. */

import { useCallback, useMemo } from "preact/hooks";
import { address, snapshot } from "../lib/api";
import type { Command } from "../lib/commands";
import type { ComparisonDocument } from "../lib/documents";
import { VIEWS } from "../lib/state";
import type { Quantity } from "../lib/units";
import { type ComparedFigure, Comparison } from "../ui/comparison";
import { useDocument } from "../ui/documents";
import { Switch } from "../ui/menu";
import { type Session, useCommands, useSession } from "../ui/session";
import { Loaded } from "../ui/states";
import { rowName } from "./columns";
import { ComparedPicture } from "./course_pane";
import { Crumbs } from "./crumbs";
import { below } from "./diverging";
import { keyAbove } from "./diverging_pane";
import { command, showView, viewCommands } from "./moves";
import { viewParameters } from "./questions";

export function ViewComparison() {
  const session = useSession();
  const resource = useDocument<ComparisonDocument>(({ state, recordParameters }) =>
    address("views", viewParameters(state.value, recordParameters.value)),
  );
  useCommands(useMemo(() => commandsOf(session), [session]));
  return <Loaded resource={resource}>{(document) => <Compared document={document} />}</Loaded>;
}

function Compared({ document }: { document: ComparisonDocument }) {
  const session = useSession();
  const { view, from } = session.state.value;
  const { rows } = document;
  const flat = view === "op";
  const start = useMemo(() => rows.findIndex((row) => row.key === from), [rows, from]);
  const shown = useMemo(() => ({ ...document, rows: below(rows, start, flat) }), [document, rows, start, flat]);
  const { time = "" } = document;
  const figure = useCallback((name: string) => figureOf(name, time), [time]);
  const up = () => session.update({ from: keyAbove(rows, start, flat) });
  useCommands(useMemo(() => [command(["u", "Backspace"], "Up to the parent", up)], [session, rows, start, flat]));
  return (
    <Comparison
      document={shown}
      figure={figure}
      first="cost_micros"
      rowTitle={view}
      rowName={rowName}
      controls={<Controls per={document.per ?? "total"} />}
      exported={(format) =>
        address("export", {
          ...viewParameters(session.state.value, session.recordParameters.value),
          lens: "views",
          format,
        })
      }
      picture={(metric, quantity) => (
        <>
          <Renames document={document} />
          <ComparedPicture
            document={document}
            metric={metric}
            quantity={quantity}
            view={view}
            start={Math.max(start, 0)}
          />
          {start > 0 && <From rows={rows} start={start} flat={flat} />}
        </>
      )}
    />
  );
}

function Controls({ per }: { per: "step" | "total" }) {
  const session = useSession();
  const { view } = session.state.value;
  return (
    <>
      <Switch
        label="View"
        value={view}
        choices={VIEWS.map((word) => ({ word, title: word }))}
        onPick={(word) => showView(session, word)}
      />
      <Switch
        label="Figures"
        value={per}
        choices={[
          { word: "step", title: "per step", help: "The average over the steps of each profile" },
          { word: "total", title: "total", help: "The sum over all steps of each profile" },
        ]}
        disabled={snapshot() === undefined ? "" : "A report compares in one way. For the other, open the source itself"}
        onPick={(word) => session.setOption("step", word === "step" ? "average" : "all")}
      />
    </>
  );
}

function commandsOf(session: Session): Command[] {
  return [
    ...viewCommands(session),
    command(["z"], "Start from the selected row", () => session.update({ from: session.state.value.key })),
    command(["Escape"], "Show the whole tree", () => session.update({ from: "" })),
  ];
}

interface FromProps {
  readonly rows: ComparisonDocument["rows"];
  readonly start: number;
  readonly flat: boolean;
}

function From({ rows, start, flat }: FromProps) {
  const session = useSession();
  const above = keyAbove(rows, start, flat);
  return (
    <Crumbs
      name={rowName(rows[start]?.key ?? "")}
      onWhole={() => session.update({ from: "" })}
      onUp={above === "" ? null : () => session.update({ from: above })}
    />
  );
}

/** What may only have moved. */
function Renames({ document: { renames = [] } }: { document: ComparisonDocument }) {
  if (renames.length === 0) return null;
  const count = renames.length;
  return (
    <details class="foot-note">
      <summary>
        {count === 1 ? "1 subtree may only have moved" : `${count.toLocaleString()} subtrees may only have moved`}
      </summary>
      <ul class="plain">
        {renames.slice(0, 100).map(({ from, to, rows }) => (
          <li key={from}>{`${rowName(from)} may be ${rowName(to)} now: ${rows.toLocaleString()} rows are alike.`}</li>
        ))}
      </ul>
    </details>
  );
}

const RESOURCES: Readonly<Record<string, string>> = {
  accelerator_exec_micros: "device time",
  cpu_exec_micros: "host time",
};

/** The figure that adds up comes first; its title says whose time it is. */
function figureOf(name: string, time: string): ComparedFigure {
  if (name === "cost_micros") return { title: RESOURCES[time] ?? "time", quantity: "micros" };
  const title = name
    .replace(/^(accelerator_|cpu_)?exec_micros$/, "self_$&")
    .replace(/_micros$/, "")
    .replace(/_exec$/, " time")
    .replaceAll("_", " ")
    .replace("exec", "time");
  return { title, quantity: quantityOfName(name) };
}

function quantityOfName(name: string): Quantity {
  if (name.endsWith("_micros")) return "micros";
  return name.endsWith("bytes") ? "bytes" : "count";
}
