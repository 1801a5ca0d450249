/** The occurrences of a collective: in time on the cores, and as a table. Both share one selection. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Block, Lane } from "../lib/lanes";
import { absolute } from "../lib/stamps";
import { exact, format } from "../lib/units";
import { numberColumn, wordColumn } from "../ui/columns";
import { DataTable } from "../ui/data_table";
import { useRecordDocument } from "../ui/documents";
import { Lanes } from "../ui/lanes";
import { useSession } from "../ui/session";
import { Link } from "../ui/small_table";
import { Loaded } from "../ui/states";
import { type DcnDocument, type DcnRow, type OccurrenceDocument, type Place, rowKey } from "./document";
import { KINDS, type OccurrenceLanes, occurrenceLanes } from "./occurrence_lanes";

const MOST_LISTED = 2000;

interface OccurrencesProps {
  readonly row: DcnRow;
  readonly place: Place;
  /** The first occurrence that is listed. */
  readonly offset: number;
  readonly onOffset: (offset: number) => void;
}

/** The occurrences of a collective; those of the others beside them where they are few enough to be listed. */
export function Occurrences({ row, place, offset, onOffset }: OccurrencesProps) {
  const [host = "", core = ""] = place.key.split("/");
  const all = place.rows.reduce((sum, one) => sum + one.occurrences, 0);
  const own = { program: row.program, rendezvous: row.rendezvous };
  const asked = { detail: "occurrences", limit: MOST_LISTED, offset, host, core, ...(all > MOST_LISTED ? own : {}) };
  const without = ["detail", "limit", "offset", ...(host ? ["host"] : []), ...(core ? ["core"] : [])];
  const resource = useRecordDocument<DcnDocument>("dcn", { ...asked, compare: "" }, without);
  return (
    <Loaded resource={resource}>
      {({ occurrences = [], occurrences_total = 0 }) => (
        <Timeline found={occurrences} chosen={rowKey(row)}>
          <Paging listed={occurrences.length} total={occurrences_total} offset={offset} onOffset={onOffset} />
        </Timeline>
      )}
    </Loaded>
  );
}

interface PagingProps {
  readonly listed: number;
  readonly total: number;
  readonly offset: number;
  readonly onOffset: (offset: number) => void;
}

/** Which of the occurrences are listed, where they are too many at once. */
function Paging({ listed, total, offset, onOffset }: PagingProps) {
  if (offset === 0 && listed >= total) return null;
  return (
    <span>
      {`${(offset + 1).toLocaleString()} to ${(offset + listed).toLocaleString()} of ${total.toLocaleString()} listed `}
      {offset > 0 && <Link text="earlier" onPick={() => onOffset(Math.max(offset - MOST_LISTED, 0))} />}{" "}
      {offset + listed < total && <Link text="later" onPick={() => onOffset(offset + listed)} />}
    </span>
  );
}

interface TimelineProps {
  readonly found: readonly OccurrenceDocument[];
  readonly chosen: string;
  readonly children: ComponentChildren;
}

function Timeline({ found, chosen, children }: TimelineProps) {
  const session = useSession();
  const [selected, select] = useState(-1);
  const drawn = useMemo(() => occurrenceLanes(found), [found]);
  const own = useMemo(() => [...found.keys()].filter((id) => keyOf(found, id) === chosen), [found, chosen]);
  const lit = useMemo(() => {
    const ids = new Set(own);
    return ids.size === found.length ? null : (block: Block) => ids.has(block.id);
  }, [own, found]);
  const undrawn = own.filter((id) => drawn.drawnSlack[id] !== found[id]?.slack_ps).length;
  return (
    <div class="split">
      <div class="main-column">
        <Lanes
          lanes={drawn.lanes}
          kinds={KINDS}
          label={`Occurrences on ${drawn.lanes.length} cores`}
          theme={session.theme.value}
          ns={1e-3}
          exact={exactPs}
          describe={(block, lane) => describe(found, drawn, block, lane)}
          selected={selected}
          onSelect={select}
          lit={lit}
          zoom={session.state.value.zoom}
          onZoom={(zoom) => session.update({ zoom })}
          fileName="occurrences"
        />
        <div class="status" role="status">
          <span>{`${own.length.toLocaleString()} occurrences`}</span>
          {children}
          {undrawn > 0 && (
            <span>{`of ${undrawn} the slack is less than drawn: ops that are not listed take part of it`}</span>
          )}
        </div>
      </div>
      <OccurrenceTable found={found} drawn={drawn} own={own} selected={selected} onSelect={select} />
    </div>
  );
}

function keyOf(found: readonly OccurrenceDocument[], id: number): string {
  const one = found[id];
  return one === undefined ? "" : rowKey(one);
}

function exactPs(length: number): string {
  return `${exact("ps", length)} · ${format("ps", length)}`;
}

function describe(found: readonly OccurrenceDocument[], drawn: OccurrenceLanes, block: Block, lane: Lane) {
  const one = found[block.id];
  const figure = (label: string, value: number) => ({ label, value: exactPs(value) });
  return {
    title: `${KINDS[block.kind]?.name} · ${one?.rendezvous} · ${one?.host} ${lane.label}`,
    rows: [
      figure("length", block.end - block.start),
      { label: "from", value: `${absolute(drawn.base, block.start)} ps` },
      figure("stall", one?.stall_ps ?? 0),
      figure("slack", one?.slack_ps ?? 0),
      figure("observed", one?.observed_ps ?? 0),
    ],
  };
}

interface OccurrenceTableProps {
  readonly found: readonly OccurrenceDocument[];
  readonly drawn: OccurrenceLanes;
  readonly own: readonly number[];
  readonly selected: number;
  readonly onSelect: (id: number) => void;
}

const FIGURES = ["stall", "slack", "observed", "recv_done"] as const;

function OccurrenceTable({ found, drawn, own, selected, onSelect }: OccurrenceTableProps) {
  const [sort, setSort] = useState("start");
  const columns = useMemo(() => {
    const where = (id: number) => `${found[id]?.host}/${found[id]?.core}`;
    const figure = (key: string, help: string, value: (id: number) => number | null) =>
      numberColumn(own, { key, title: key.replace("_", "-"), help, quantity: "ps", value });
    return [
      wordColumn<number>({ key: "core", title: "core", help: "Host and core", width: 110, grows: true, value: where }),
      figure("start", "When its send starts, from the first of all listed", (id) => drawn.starts[id] ?? null),
      ...FIGURES.map((name) => figure(name, `${name} of this occurrence`, (id) => found[id]?.[`${name}_ps`] ?? null)),
    ];
  }, [found, drawn, own]);
  return (
    <section class="drawer listing" aria-label="List of occurrences">
      <DataTable
        label="Occurrences"
        columns={columns}
        rows={own}
        id={String}
        sort={sort}
        onSort={setSort}
        selected={selected < 0 ? "" : String(selected)}
        onSelect={(id) => onSelect(Number(id))}
      />
    </section>
  );
}
