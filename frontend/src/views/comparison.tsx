/** Two profiles, aligned by stable path in each of the four views. */

import { useSignalEffect } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { address } from "../lib/api";
import type { ComparisonDocument } from "../lib/documents";
import { VIEWS } from "../lib/state";
import type { Quantity } from "../lib/units";
import { type ComparedFigure, Comparison } from "../ui/comparison";
import { Switch } from "../ui/menu";
import { Resource } from "../ui/resource";
import { useSession } from "../ui/session";
import { Loaded } from "../ui/states";
import { rowName } from "./columns";
import { DivergingPane } from "./diverging_pane";
import { DEFAULT_METRIC, viewParameters } from "./questions";

export function ViewComparison() {
  const session = useSession();
  const resource = useMemo(() => new Resource<ComparisonDocument>(session.fetcher), [session]);
  const { view } = session.state.value;
  useSignalEffect(() => {
    const question = viewParameters(session.state.value, session.recordParameters.value);
    if (session.visible.value && session.choices.value.chosen !== null) void resource.load(address("views", question));
  });
  const controls = (
    <Switch
      label="View"
      value={view}
      choices={VIEWS.map((word) => ({ word, title: word }))}
      onPick={(word) => session.showRecord({ view: word, sort: "", metric: "" })}
    />
  );
  return (
    <Loaded resource={resource}>
      {(document) => (
        <Comparison
          document={document}
          figure={figureOf}
          first={DEFAULT_METRIC}
          rowTitle={view}
          rowName={rowName}
          controls={controls}
          picture={(metric, quantity) => (
            <>
              <Notes document={document} />
              <DivergingPane document={document} metric={metric} quantity={quantity} view={view} />
            </>
          )}
        />
      )}
    </Loaded>
  );
}

/** How the runs are made comparable, and what may only have moved. */
function Notes({ document }: { document: ComparisonDocument }) {
  const { per, renames = [] } = document;
  if (per !== "step" && renames.length === 0) return null;
  return (
    <details class="foot-note">
      <summary>
        {[
          per === "step" ? "Compared per step." : "",
          renames.length > 0 ? `${renames.length.toLocaleString()} subtrees may only have moved.` : "",
        ].join(" ")}
      </summary>
      <ul class="plain">
        {renames.slice(0, 100).map(({ from, to, rows }) => (
          <li key={from}>{`${rowName(from)} may be ${rowName(to)} now: ${rows.toLocaleString()} rows are alike.`}</li>
        ))}
      </ul>
    </details>
  );
}

function figureOf(name: string): ComparedFigure {
  const title = name
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
