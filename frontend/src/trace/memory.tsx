/** Memory over time, and what ops take and give back in the part that is zoomed to. */

import { useMemo } from "preact/hooks";
import { snapshot } from "../lib/api";
import { css, lineRgb } from "../lib/colour";
import { linearTicks } from "../lib/plot";
import type { Theme } from "../lib/theme";
import { exact, format, scaleFor } from "../lib/units";
import { Chart } from "../ui/chart";
import type { Line } from "../ui/chart_lines";
import { largestOf, numberColumn, wordColumn } from "../ui/columns";
import { type DataColumn, DataTable, searchRows } from "../ui/data_table";
import { SearchBox } from "../ui/search_box";
import { useSession } from "../ui/session";
import { Picker } from "../ui/shell";
import { Loaded } from "../ui/states";
import { useShape } from "../ui/trace_document";
import { tickText } from "./axis";
import type { MemoryBlock, MemoryDocument, MemoryOp } from "./documents";
import { windowOf } from "./window";

const WIDTH_PX = 1200;
const SAVED = snapshot() !== undefined;
const WHOLE = SAVED ? "Drag over a part to see it larger" : "Drag over a part to see only what happens in it";
const PART = SAVED ? "A report's tables are of the whole" : "The tables are of the part in sight";

export function Memory() {
  const resource = useShape<MemoryDocument>("memory", (state) => ({
    device: state.host,
    width_px: WIDTH_PX,
    ...windowOf(state),
  }));
  return <Loaded resource={resource}>{(document) => <MemoryOverTime document={document} />}</Loaded>;
}

function MemoryOverTime({ document }: { document: MemoryDocument }) {
  return (
    <div class="main-column">
      <Head document={document} />
      <Curves document={document} />
      <Tables document={document} />
    </div>
  );
}

function peakOf({ series, device }: MemoryDocument): number | null {
  return series.find((one) => one.device === device)?.peak_bytes ?? null;
}

function Head({ document }: { document: MemoryDocument }) {
  const session = useSession();
  const { zoom, search } = session.state.value;
  const peak = peakOf(document);
  return (
    <div class="pane-head">
      <div>
        <Picker
          label="Memory of"
          value={document.device ?? ""}
          words={document.devices}
          onPick={(host) => session.update({ host })}
        />
        <SearchBox value={search} onSearch={(next) => session.update({ search: next })} />
        <b title={exact("bytes", peak)}>{format("bytes", peak)}</b> <span class="muted">allocated at the peak</span>
      </div>
      <div class="muted">
        {zoom === null ? WHOLE : PART}
        {zoom !== null && (
          <button type="button" class="link" onClick={() => session.update({ zoom: null })}>
            {" "}
            Show all
          </button>
        )}
      </div>
    </div>
  );
}

function Curves({ document }: { document: MemoryDocument }) {
  const session = useSession();
  const theme = session.theme.value;
  const { unit, divisor } = scaleFor("bytes", peakOf(document) ?? 0, 1);
  const lines = useMemo(() => memoryLines(document, divisor, theme), [document, divisor, theme]);
  return (
    <div class="chart-area">
      <Chart
        lines={lines}
        spans={[]}
        theme={theme}
        label={`Memory of ${document.device} over time`}
        log={false}
        ticksX={linearTicks}
        formatX={tickText("ps")}
        formatY={(size) => `${size.toLocaleString(undefined, { maximumSignificantDigits: 4 })} ${unit}`}
        zoom={session.state.value.zoom}
        onZoom={(next) => session.update({ zoom: next })}
      />
    </div>
  );
}

function Tables({ document }: { document: MemoryDocument }) {
  const session = useSession();
  const { sort, key, search } = session.state.value;
  const { events, count } = document.blocks;
  const ops = useMemo(() => opColumns(document.ops), [document]);
  const blocks = useMemo(() => blockColumns(events), [events]);
  const foundOps = useMemo(() => searchRows(document.ops, ops, search), [document, ops, search]);
  const foundBlocks = useMemo(() => searchRows(events, blocks, search), [events, blocks, search]);
  const shared = {
    sort,
    onSort: (next: string) => session.update({ sort: next }),
    selected: key,
    onSelect: (next: string) => session.update({ key: next }),
  };
  return (
    <>
      <div class="pane-tables">
        <DataTable label="Memory by op" columns={ops} rows={foundOps} id={({ name }) => name} {...shared} />
        <DataTable
          label="Blocks of memory, the largest first"
          columns={blocks}
          rows={foundBlocks}
          id={blockKey}
          {...shared}
        />
      </div>
      <div class="status" role="status">
        <span>{`${foundOps.length.toLocaleString()} of ${document.ops.length.toLocaleString()} ops`}</span>
        <span>{`${foundBlocks.length.toLocaleString()} of ${count.toLocaleString()} blocks, the largest`}</span>
      </div>
    </>
  );
}

function blockKey({ name, allocated_ps, released_ps, bytes }: MemoryBlock): string {
  return `${name} ${allocated_ps} ${released_ps} ${bytes}`;
}

function memoryLines({ series, device }: MemoryDocument, divisor: number, theme: Theme): Line[] {
  return series
    .filter((one) => one.device === device)
    .flatMap(({ allocator, time_ps, allocated_bytes, reserved_bytes }, at) => {
      const stairs = (values: readonly (number | null)[]) =>
        stepped(
          time_ps,
          values.map((size) => (size === null ? null : size / divisor)),
        );
      const name = allocator === "" ? "" : ` (${allocator})`;
      const colour = css(lineRgb(at, theme));
      const allocated = { label: `allocated${name}`, colour, ...stairs(allocated_bytes) };
      const known = reserved_bytes.some((size) => size !== null && size > 0);
      return known
        ? [allocated, { label: `reserved${name}`, colour, dashed: true, ...stairs(reserved_bytes) }]
        : [allocated];
    });
}

/** Memory holds until the next event. */
function stepped(time: readonly number[], values: readonly (number | null)[]) {
  const x: number[] = [];
  const y: (number | null)[] = [];
  time.forEach((at, index) => {
    if (index > 0) {
      x.push(at);
      y.push(values[index - 1] ?? null);
    }
    x.push(at);
    y.push(values[index] ?? null);
  });
  return { x, y };
}

const SIZES: readonly [keyof MemoryOp & `${string}_bytes`, string, string][] = [
  ["self_allocated_bytes", "allocated self", "Bytes that the op itself allocates"],
  ["self_released_bytes", "released self", "Bytes given back while the op itself runs, whoever allocated them"],
  ["self_increase_bytes", "increase self", "Allocated less released, by the op itself"],
  ["allocated_bytes", "allocated", "Bytes that the op allocates with what it calls"],
  ["increase_bytes", "increase", "Allocated less released, with what it calls"],
];

function opColumns(rows: readonly MemoryOp[]): DataColumn<MemoryOp>[] {
  return [
    wordColumn<MemoryOp>({
      key: "name",
      title: "op",
      help: "The op or range that runs",
      width: 190,
      grows: true,
      value: ({ name }) => name || "(outside every op)",
    }),
    numberColumn(rows, {
      key: "self_allocations",
      title: "allocations",
      help: "How often the op itself allocates",
      quantity: "count",
      value: (row) => row.self_allocations,
    }),
    ...SIZES.map(([key, title, help]) =>
      numberColumn(rows, { key, title, help, quantity: "bytes" as const, value: (row) => row[key] }),
    ),
  ];
}

function blockColumns(rows: readonly MemoryBlock[]): DataColumn<MemoryBlock>[] {
  const latest = Math.max(
    largestOf(rows, (row) => row.released_ps),
    largestOf(rows, (row) => row.allocated_ps),
  );
  const time = (key: "allocated_ps" | "released_ps" | "held_ps", title: string, help: string) =>
    numberColumn(rows, { key, title, help, quantity: "ps", largest: latest, value: (row) => row[key] });
  return [
    wordColumn<MemoryBlock>({
      key: "name",
      title: "op",
      help: "The op that allocates, and its caller",
      width: 190,
      grows: true,
      value: ({ name, caller }) => `${name || "(outside every op)"}${caller ? ` (${caller})` : ""}`,
    }),
    numberColumn(rows, {
      key: "bytes",
      title: "size",
      help: "Of the block",
      quantity: "bytes",
      value: (row) => row.bytes,
    }),
    time("allocated_ps", "allocated at", "— for a block from before the profile"),
    time("released_ps", "released at", "— for a block that is held to the end"),
    time("held_ps", "held", "Released less allocated"),
  ];
}
