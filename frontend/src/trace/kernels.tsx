/** Kernels, copies and sets: by name, or by how and by whom they were launched. */

import { useMemo } from "preact/hooks";
import { ABSENT } from "../lib/units";
import { numberColumn, wordColumn } from "../ui/columns";
import type { DataColumn } from "../ui/data_table";
import { Switch } from "../ui/menu";
import { useSession } from "../ui/session";
import { Loaded } from "../ui/states";
import { useShape } from "../ui/trace_document";
import { wordWidth } from "../ui/width";
import type { KernelRow, TableDocument } from "./documents";
import { SearchedTable } from "./searched_table";

export function Kernels() {
  const resource = useShape<TableDocument<KernelRow>>("kernels", ({ host }) => ({
    by: host === BY_LAUNCH ? BY_LAUNCH : "",
  }));
  return <Loaded resource={resource}>{(document) => <Table document={document} />}</Loaded>;
}

const MOST_WORD_PX = 220;
const BY_LAUNCH = "launch";
const WORDS: readonly [keyof KernelRow, string, string][] = [
  ["category", "kind", "Kernel, communication, copy or set"],
  ["op", "op", "The op that launched it"],
  ["grid", "grid", "Blocks in each dimension"],
  ["block", "block", "Threads of a block in each dimension"],
  ["registers_per_thread", "registers", "For each thread"],
  ["shared_memory", "shared memory", "Bytes of a block"],
];

function Table({ document: { count, rows } }: { document: TableDocument<KernelRow> }) {
  const session = useSession();
  const columns = useMemo(() => kernelColumns(rows), [rows]);
  const id = (row: KernelRow) => [row.name, ...WORDS.map(([key]) => row[key])].join(" ");
  const { host } = session.state.value;
  return (
    <SearchedTable label="Kernels" what="kernel" count={count} columns={columns} rows={rows} id={id}>
      <Switch
        label="Rows"
        value={host === BY_LAUNCH ? BY_LAUNCH : ""}
        choices={[
          { word: "", title: "by kernel", help: "One row for each kernel" },
          { word: BY_LAUNCH, title: "by op and launch", help: "By op, grid, block, registers and shared memory, too" },
        ]}
        onPick={(next) => session.update({ host: next })}
      />
    </SearchedTable>
  );
}

function kernelColumns(rows: readonly KernelRow[]): DataColumn<KernelRow>[] {
  const whole = rows.reduce((sum, row) => sum + row.total_ps, 0);
  const time = (key: string, title: string, help: string, value: (row: KernelRow) => number) =>
    numberColumn(rows, { key, title, help, quantity: "ps", value, ...(key === "total" ? { whole } : {}) });
  return [
    wordColumn<KernelRow>({
      key: "name",
      title: "kernel",
      help: "The kernel, copy or set",
      width: 260,
      grows: true,
      value: (row) => row.name,
    }),
    ...WORDS.map(([key, title, help]) =>
      wordColumn<KernelRow>({ key, title, help, width: widthOf(rows, key, title), value: (row) => wordOf(row, key) }),
    ),
    numberColumn(rows, {
      key: "calls",
      title: "calls",
      help: "How often",
      quantity: "count",
      value: (row) => row.calls,
    }),
    wordColumn<KernelRow>({
      key: "tensor_core",
      title: "Tensor Cores",
      help: "Whether it uses Tensor Cores (on AMD: Matrix Cores), as far as its name says; — where that says nothing",
      width: 96,
      value: ({ tensor_core }) => (tensor_core === null ? null : tensor_core ? "yes" : "no"),
    }),
    time("total", "time", "Of all calls", (row) => row.total_ps),
    time("mean", "mean", "Time / calls", (row) => row.total_ps / row.calls),
    time("min", "shortest", "The shortest call", (row) => row.min_ps),
    time("max", "longest", "The longest call", (row) => row.max_ps),
    plainColumn(rows, "blocks_per_sm", "blocks per SM", "The profiler's figure; a mean over kernel time"),
    plainColumn(
      rows,
      "occupancy",
      "est. occupancy %",
      "The profiler's estimate of achieved occupancy; a mean over kernel time",
    ),
  ];
}

function wordOf(row: KernelRow, key: keyof KernelRow): string | null {
  return String(row[key] ?? "") || null;
}

function widthOf(rows: readonly KernelRow[], key: keyof KernelRow, title: string): number {
  return wordWidth(
    title,
    rows.map((row) => wordOf(row, key) ?? ""),
    MOST_WORD_PX,
  );
}

const HUNDREDTHS = { minimumFractionDigits: 2, maximumFractionDigits: 2 };

function plainColumn(rows: readonly KernelRow[], key: "blocks_per_sm" | "occupancy", title: string, help: string) {
  const column = numberColumn(rows, { key, title, help, quantity: "count", value: (row) => row[key] });
  const text = (value: number | null) => (value === null ? ABSENT : value.toLocaleString(undefined, HUNDREDTHS));
  return { ...column, unit: "", cell: (row: KernelRow) => ({ text: text(row[key]) }) };
}
