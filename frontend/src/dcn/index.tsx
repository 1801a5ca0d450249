/** The dcn lens: which cross-slice collective stalls the accelerator, and is it bandwidth. */

import { useMemo, useState } from "preact/hooks";
import { address } from "../lib/api";
import type { ComparisonDocument, Problem } from "../lib/documents";
import { counted, format } from "../lib/units";
import { type ComparedFigure, Comparison } from "../ui/comparison";
import { toTsv } from "../ui/copying";
import { type DataColumn, DataTable, searchRows } from "../ui/data_table";
import { useRecordDocument } from "../ui/documents";
import { ColumnMenu, ExportMenu } from "../ui/menu";
import { OptionChips } from "../ui/options";
import { SearchBox } from "../ui/search_box";
import { useSession } from "../ui/session";
import { Picker } from "../ui/shell";
import { CopyButton, Empty, Loaded, Problems } from "../ui/states";
import { Bandwidth } from "./bandwidth";
import { dcnColumns } from "./columns";
import { Diagnosis, Verdict } from "./diagnosis";
import { counterSum, type DcnDocument, type DcnRow, leftOut, type Place, places, rowKey } from "./document";
import { HeatMaps } from "./heat_maps";
import { Occurrences } from "./occurrences";

export function DcnLens() {
  const session = useSession();
  const exported = (format: string) =>
    address("export", { ...session.recordParameters.value, ...session.state.value.options, lens: "dcn", format });
  const resource = useRecordDocument<DcnDocument | ComparisonDocument>("dcn", { detail: "full" }, ["detail"]);
  return (
    <Loaded resource={resource}>
      {(document) =>
        "hosts" in document ? (
          <Dcn document={document} />
        ) : (
          <Comparison
            document={document}
            figure={comparedFigure}
            first="total_stall_ms"
            rowTitle="rendezvous"
            exported={exported}
          />
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
  const row = rows.find((one) => rowKey(one) === state.key);
  return (
    <>
      <div class="toolbar">
        <SearchBox value={state.search} onSearch={(search) => session.update({ search })} />
        <Filters all={all} place={place} />
        <OptionChips lens="dcn" except={OWN_OPTIONS} command="stepscope dcn LOGDIR" />
        <span class="spacer" />
        <ColumnMenu
          columns={columns.slice(1)}
          hidden={state.hidden}
          onHidden={(hidden) => session.update({ hidden })}
        />
        <CopyButton text={() => toTsv(shown, found)} label="Copy" />
        <ExportMenu
          title="All rows of this table, in their own units"
          url={(format) =>
            address("export", { ...session.recordParameters.value, ...state.options, lens: "dcn", format })
          }
        />
      </div>
      <Problems problems={problemsOf(document)} />
      {rows.length === 0 && <NoRows document={document} />}
      {rows.length > 0 && found.length === 0 && (
        <Empty
          title="No collective matches the search"
          action={{ label: "Clear the search", run: () => session.update({ search: "" }) }}
        />
      )}
      {found.length > 0 && place && (
        <>
          <Verdict document={document} row={row} />
          <Collectives columns={shown} rows={found} />
          <Pane document={document} rows={found} row={row ?? worstOf(found)} place={place} />
        </>
      )}
    </>
  );
}

interface CollectivesProps {
  readonly columns: readonly DataColumn<DcnRow>[];
  readonly rows: readonly DcnRow[];
}

function Collectives({ columns, rows }: CollectivesProps) {
  const session = useSession();
  const { sort, key } = session.state.value;
  const stall = rows.reduce((sum, row) => sum + (row.total_stall_ms ?? 0), 0);
  return (
    <div class="main-column collectives" style={{ height: `${heightOf(rows.length)}px` }}>
      <DataTable
        label="Collectives"
        columns={columns}
        rows={rows}
        keepsPlace
        id={rowKey}
        sort={sort || "-total_stall_ms"}
        onSort={(next) => session.update({ sort: next })}
        selected={key}
        onSelect={(next) => session.update({ key: next, zoom: null })}
        onOpen={() => session.update({ pane: "occurrences" })}
      />
      <div class="status" role="status">
        <span>{counted(rows.length, "collective")}</span>
        <span>{`${format("ms", stall)} stalled in all`}</span>
      </div>
    </div>
  );
}

/** Options with a control of their own. */
const OWN_OPTIONS = ["detail", "offset", "limit", "transfer_type", "program", "network_gbps"];

/** The table as tall as its rows and its status line, so that few rows leave room to what is below. */
function heightOf(rows: number): number {
  return 28 + rows * 22 + 46;
}

function worstOf(rows: readonly DcnRow[]): DcnRow | undefined {
  return rows.toSorted((p, q) => (q.total_stall_ms ?? 0) - (p.total_stall_ms ?? 0))[0];
}

function Filters({ all, place }: { all: readonly Place[]; place: Place | undefined }) {
  const session = useSession();
  const { options } = session.state.value;
  const every = all[0]?.rows ?? [];
  const words = (of: (row: DcnRow) => string | null) => [
    "",
    ...new Set(every.map((row) => of(row) ?? "").filter(Boolean)),
  ];
  const filters: [string, string, string[]][] = [
    ["Type", "transfer_type", words((row) => row.transfer_type)],
    ["Program", "program", words((row) => row.program)],
  ];
  return (
    <>
      <Picker
        label="On"
        value={place?.key ?? ""}
        words={all.map(({ key }) => key)}
        titles={Object.fromEntries(all.map(({ key, title }) => [key, title]))}
        onPick={(host) => session.update({ host })}
      />
      {filters.map(
        ([label, name, found]) =>
          (found.length > 2 || options[name]) && (
            <Picker
              key={name}
              label={label}
              value={options[name] ?? ""}
              words={found}
              titles={{ "": "all" }}
              onPick={(word) => session.setOption(name, word || null)}
            />
          ),
      )}
      <label class="picker" title="What the network of one host can carry, to compare with what is required">
        <span>Network</span>
        <input
          type="text"
          inputMode="decimal"
          class="capacity"
          placeholder="?"
          value={options.network_gbps ?? ""}
          onChange={(event) => session.setOption("network_gbps", event.currentTarget.value.trim() || null)}
        />
        <span>Gbit/s per host</span>
      </label>
    </>
  );
}

const PANES = ["occurrences", "heat maps", "bandwidth", "diagnosis"];

interface PaneProps {
  readonly document: DcnDocument;
  readonly rows: readonly DcnRow[];
  readonly row: DcnRow | undefined;
  readonly place: Place;
}

function Pane({ document, rows, row, place }: PaneProps) {
  const session = useSession();
  const asked = session.state.value.pane;
  const pane = PANES.includes(asked) ? asked : "occurrences";
  const shown = `${row === undefined ? "" : rowKey(row)} ${place.key}`;
  const [paged, setPaged] = useState({ shown, offset: 0 });
  const offset = paged.shown === shown ? paged.offset : 0;
  const pick = (name: string) => session.update({ pane: name, zoom: null });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const at = (PANES.indexOf(pane) + step + PANES.length) % PANES.length;
    if (step === 0) return;
    pick(PANES[at] ?? pane);
    (event.currentTarget as Element).querySelectorAll<HTMLElement>("[role=tab]")[at]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <section class="pane" aria-label="Below the table">
      <div class="tabs" role="tablist" aria-label="What is shown below the table" onKeyDown={onKeyDown}>
        {PANES.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            class="tab"
            aria-selected={name === pane}
            tabIndex={name === pane ? 0 : -1}
            onClick={() => pick(name)}
          >
            {name}
          </button>
        ))}
        <span class="muted">{pane === "occurrences" && row ? `${row.rendezvous} on ${place.title}` : ""}</span>
      </div>
      {pane === "occurrences" && row && (
        <Occurrences
          key={`${shown} ${offset}`}
          row={row}
          place={place}
          offset={offset}
          onOffset={(next) => setPaged({ shown, offset: next })}
        />
      )}
      {pane === "heat maps" && <HeatMaps document={document} />}
      {pane === "bandwidth" && <Bandwidth document={document} rows={rows} />}
      {pane === "diagnosis" && <Diagnosis document={document} row={row} />}
    </section>
  );
}

function NoRows({ document }: { document: DcnDocument }) {
  const hosts = Object.keys(document.hosts).length;
  const ops = counterSum(document, "dcn_ops");
  const title = ops === 0 ? "This profile holds no DCN op" : "No cross-slice collective is complete in this profile";
  return (
    <Empty title={title}>
      {hosts === 0
        ? "The profile holds no host with accelerator cores."
        : ops === 0
          ? "Its cores ran no send or recv over the data center network: the program uses one slice, or exchanged nothing while it was profiled."
          : "No send met its recv-done while it was profiled. Profile a few whole steps of a multislice run."}
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
