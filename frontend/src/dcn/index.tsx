/** The dcn lens: which cross-slice collective stalls the accelerator, and is it bandwidth. */

import { useMemo } from "preact/hooks";
import { address } from "../lib/api";
import type { ComparisonDocument, Problem } from "../lib/documents";
import { format, percent } from "../lib/units";
import { type ComparedFigure, Comparison } from "../ui/comparison";
import { DataTable, searchRows, toTsv } from "../ui/data_table";
import { useRecordDocument } from "../ui/documents";
import { ColumnMenu } from "../ui/menu";
import { OptionChips } from "../ui/options";
import { SearchBox } from "../ui/search_box";
import { useSession } from "../ui/session";
import { Picker } from "../ui/shell";
import { CopyButton, Empty, Loaded, Problems } from "../ui/states";
import { dcnColumns } from "./columns";
import { byHost, type DcnDocument, leftOut, places, rowKey } from "./document";

export function DcnLens() {
  const resource = useRecordDocument<DcnDocument | ComparisonDocument>("dcn");
  return (
    <Loaded resource={resource}>
      {(document) =>
        "hosts" in document ? (
          <Dcn document={document} />
        ) : (
          <Comparison document={document} figure={comparedFigure} first="total_stall_ms" rowTitle="rendezvous" />
        )
      }
    </Loaded>
  );
}

function comparedFigure(name: string): ComparedFigure | null {
  const title = name.replace(/_ms$|_gbps$/, "").replaceAll("_", " ");
  if (name.endsWith("_ms")) return { title, quantity: "ms" };
  if (name === "bytes") return { title: "sent", quantity: "network_bytes" };
  if (name.endsWith("_gbps")) return { title, quantity: "gbps" };
  return name === "occurrences" ? { title, quantity: "count" } : null;
}

function Dcn({ document }: { document: DcnDocument }) {
  const session = useSession();
  const state = session.state.value;
  const all = useMemo(() => places(document), [document]);
  const place = all.find(({ key }) => key === state.host) ?? all[0];
  const rows = place?.rows ?? [];
  const columns = useMemo(() => dcnColumns(rows), [rows]);
  const shown = columns.filter(({ key }, at) => at === 0 || !state.hidden.includes(key));
  const found = useMemo(() => searchRows(rows, columns, state.search), [rows, columns, state.search]);
  const stall = found.reduce((sum, row) => sum + (row.total_stall_ms ?? 0), 0);
  return (
    <>
      <div class="toolbar">
        <SearchBox
          value={state.search}
          onSearch={(search) => session.update({ search })}
          found={null}
          onGo={() => {}}
        />
        <Picker
          label="On"
          value={place?.key ?? ""}
          words={all.map(({ key }) => key)}
          titles={Object.fromEntries(all.map(({ key, title }) => [key, title]))}
          onPick={(host) => session.update({ host })}
        />
        <OptionChips lens="dcn" except={[]} command="stepscope dcn LOGDIR" />
        <span class="spacer" />
        <ColumnMenu
          columns={columns.slice(1)}
          hidden={state.hidden}
          onHidden={(hidden) => session.update({ hidden })}
        />
        <CopyButton text={toTsv(shown, found)} label="Copy" />
        {["csv", "json"].map((kind) => (
          <a
            key={kind}
            class="button"
            href={address("export", { ...session.recordParameters.value, ...state.options, lens: "dcn", format: kind })}
            download
          >
            {kind.toUpperCase()}
          </a>
        ))}
      </div>
      <Problems problems={problemsOf(document)} />
      {rows.length === 0 && <NoRows document={document} />}
      {rows.length > 0 && found.length === 0 && (
        <Empty
          title="No collective matches the search"
          action={{ label: "Clear the search", run: () => session.update({ search: "" }) }}
        />
      )}
      {found.length > 0 && (
        <div class="split">
          <div class="main-column">
            <DataTable
              label="Collectives"
              columns={shown}
              rows={found}
              id={rowKey}
              sort={state.sort || "-total_stall_ms"}
              onSort={(sort) => session.update({ sort })}
              selected={state.key}
              onSelect={(key) => session.update({ key })}
              onOpen={() => session.update({ drawer: "open" })}
            />
            <div class="status" role="status">
              <span>{found.length === 1 ? "1 collective" : `${found.length.toLocaleString()} collectives`}</span>
              <span>{`${format("ms", stall)} stalled in all`}</span>
            </div>
          </div>
          {place?.key === "" && state.key !== "" && <Hosts document={document} />}
        </div>
      )}
    </>
  );
}

function NoRows({ document }: { document: DcnDocument }) {
  const hosts = Object.keys(document.hosts).length;
  return (
    <Empty title="No cross-slice collective is complete in this profile">
      {hosts === 0
        ? "The profile holds no host with accelerator cores."
        : "Either the program uses one slice, or no send met its recv-done while it was profiled. Profile a few whole steps of a multislice run."}
    </Empty>
  );
}

function problemsOf(document: DcnDocument): Problem[] {
  const said = (document.problems ?? []).map((problem) =>
    typeof problem === "string" ? { where: "", what: problem } : problem,
  );
  const left = leftOut(document).map(({ count, what }) => ({
    where: "",
    what: `${count.toLocaleString()} ${what}; they are not in the table`,
  }));
  return [...said, ...left];
}

/** The same collective on each host: a straggler stands on top. */
function Hosts({ document }: { document: DcnDocument }) {
  const session = useSession();
  const { key } = session.state.value;
  const rows = byHost(document, key);
  const most = rows[0]?.row.total_stall_ms ?? 0;
  if (rows.length < 2) return null;
  return (
    <aside class="drawer" aria-label="The collective on each host">
      <div class="drawer-head">
        <h2>{key.slice(key.indexOf("|") + 1)}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => session.update({ key: "" })}>
          ×
        </button>
      </div>
      <h3>Total stall on each host</h3>
      <dl class="facts">
        {rows.map(({ host, row }) => (
          <>
            <dt key={host}>{host}</dt>
            <dd>
              {format("ms", row.total_stall_ms)} <span class="muted">{percent(row.total_stall_ms, most)}</span>
            </dd>
          </>
        ))}
      </dl>
    </aside>
  );
}
