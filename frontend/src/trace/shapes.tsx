/** Ops by their input shapes. */

import { useMemo } from "preact/hooks";
import { numberColumn, wordColumn } from "../ui/columns";
import type { DataColumn } from "../ui/data_table";
import { Loaded } from "../ui/states";
import { useShape } from "../ui/trace_document";
import type { ShapeRow, TableDocument } from "./documents";
import { SearchedTable } from "./searched_table";

export function Shapes() {
  const resource = useShape<TableDocument<ShapeRow>>("shapes");
  return <Loaded resource={resource}>{(document) => <Table document={document} />}</Loaded>;
}

function Table({ document: { count, rows } }: { document: TableDocument<ShapeRow> }) {
  const columns = useMemo(() => shapeColumns(rows), [rows]);
  const id = ({ name, input_shape }: ShapeRow) => `${name} ${input_shape}`;
  return <SearchedTable label="Ops by input shapes" what="op" count={count} columns={columns} rows={rows} id={id} />;
}

const TIMES: readonly [keyof ShapeRow & `${string}_ps`, string, string][] = [
  ["host_ps", "self host", "Host time of the calls without what they called"],
  ["host_total_ps", "host", "Host time of the calls with what they called"],
  ["device_ps", "self accelerator", "Time of the kernels, copies and sets that the calls launched themselves"],
  ["device_total_ps", "accelerator", "The same with what they called"],
  ["tensor_core_ps", "self Tensor Cores", "Of self accelerator: kernels whose names say that they use Tensor Cores"],
  ["tensor_core_total_ps", "Tensor Cores", "The same with what they called; — where no name says whether it does"],
];

function shapeColumns(rows: readonly ShapeRow[]): DataColumn<ShapeRow>[] {
  return [
    wordColumn<ShapeRow>({ key: "name", title: "op", help: "The op", width: 200, value: (row) => row.name }),
    wordColumn<ShapeRow>({
      key: "input_shape",
      title: "input shapes",
      help: "As the profiler recorded them (record_shapes=True); [] for an input that is no tensor",
      width: 260,
      grows: true,
      value: (row) => row.input_shape || null,
    }),
    numberColumn(rows, {
      key: "calls",
      title: "calls",
      help: "How often",
      quantity: "count",
      value: (row) => row.calls,
    }),
    ...TIMES.map(([key, title, help]) =>
      numberColumn(rows, { key, title, help, quantity: "ps" as const, value: (row) => row[key] }),
    ),
  ];
}
