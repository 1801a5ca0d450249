/** Where collectives stall: by host and by core. */

import { useMemo } from "preact/hooks";
import { exact, format } from "../lib/units";
import { useSession } from "../ui/session";
import { type DcnDocument, heatOf, type Place, places } from "./document";

const MOST_HEAT = 30;

/** Total stall by place and collective: by host, and by core where a host has several. */
export function HeatMaps({ document }: { document: DcnDocument }) {
  const all = places(document);
  const hosts = all.filter(({ key }) => key !== "" && !key.includes("/"));
  const cores = all.filter(({ key }) => key.includes("/"));
  return (
    <div class="scroll heat-maps" tabIndex={0}>
      <HeatMap title="Host × collective" document={document} of={hosts} />
      {cores.length > 0 && <HeatMap title="Core × collective" document={document} of={cores} />}
    </div>
  );
}

function HeatMap({ title, document, of }: { title: string; document: DcnDocument; of: readonly Place[] }) {
  const session = useSession();
  const { key: chosen, host } = session.state.value;
  const heat = useMemo(() => heatOf(document.all_hosts.all_cores, of, MOST_HEAT), [document, of]);
  return (
    <section>
      <h2>{`${title}: total stall`}</h2>
      <table class="heat">
        <thead>
          <tr>
            <td />
            {heat.keys.map((key) => (
              <th key={key} scope="col" title={key}>
                {key.slice(key.indexOf("|") + 1)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {heat.places.map(({ place, stall }) => (
            <tr key={place.key}>
              <th scope="row">{place.title}</th>
              {stall.map((row, at) => (
                <td
                  key={heat.keys[at]}
                  class={heat.keys[at] === chosen && place.key === host ? "chosen" : ""}
                  style={{ "--share": `${((row?.total_stall_ms ?? 0) / (heat.most || 1)) * 100}%` }}
                  title={
                    row === null ? "none here" : `${exact("ms", row.total_stall_ms)} in ${row.occurrences} occurrences`
                  }
                  onClick={() => session.update({ key: heat.keys[at] ?? "", host: place.key })}
                >
                  {format("ms", row?.total_stall_ms)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {of.length > MOST_HEAT && <p class="muted">{`The ${MOST_HEAT} that stall most of ${of.length}`}</p>}
    </section>
  );
}
