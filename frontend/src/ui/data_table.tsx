/** A table of rows that are all here: sorted and searched in the browser. */

import { useMemo, useState } from "preact/hooks";
import { matcher } from "../lib/matching";
import { Grid } from "./grid";
import type { GridColumn } from "./grid_column";

/** Sorted by its value; null goes last. */
export type DataColumn<R> = GridColumn<R>;

interface DataTableProps<R> {
  readonly label: string;
  readonly columns: readonly DataColumn<R>[];
  readonly rows: readonly R[];
  readonly id: (row: R) => string;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  /** The id of the selected row. */
  readonly selected: string;
  readonly onSelect: (id: string) => void;
  readonly onOpen?: (row: R) => void;
  readonly rowClass?: (row: R) => string;
  /** Whether the address says which rows are in sight; of one table of a lens. */
  readonly keepsPlace?: boolean;
}

export function DataTable<R>(props: DataTableProps<R>) {
  const { columns, rows, sort, id, selected } = props;
  const sorted = useMemo(() => sortRows(rows, columns, sort), [rows, columns, sort]);
  const cursor = useMemo(() => sorted.findIndex((row) => id(row) === selected), [sorted, selected, id]);
  // A link that names a row shows it at once; later the user scrolls.
  const [first] = useState(selected);
  const pick = (index: number) => {
    const row = sorted[index];
    if (row !== undefined) props.onSelect(id(row));
  };
  return (
    <Grid
      label={props.label}
      columns={columns}
      count={sorted.length}
      row={(index) => sorted[index]}
      id={(row) => `data-${encodeURIComponent(`${props.label}-${id(row)}`)}`}
      sort={sort}
      onSort={props.onSort}
      cursor={cursor}
      onCursor={pick}
      onOpen={(index) => {
        const row = sorted[index];
        if (row !== undefined) props.onOpen?.(row);
      }}
      reveal={first === "" ? null : { row: cursor, token: first }}
      keepsPlace={props.keepsPlace ?? false}
      {...(props.rowClass ? { rowClass: props.rowClass } : {})}
    />
  );
}

/** Rows by a column, `-` before it for descending. Stable; absent values are last either way. */
export function sortRows<R>(rows: readonly R[], columns: readonly DataColumn<R>[], sort: string): readonly R[] {
  const column = columns.find(({ key }) => key === sort || `-${key}` === sort);
  if (column === undefined) return rows;
  const sign = sort.startsWith("-") ? -1 : 1;
  return rows.toSorted((p, q) => {
    const [a, b] = [column.value(p), column.value(q)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), undefined, { numeric: true });
  });
}

/** Rows whose text columns match a search. */
export function searchRows<R>(rows: readonly R[], columns: readonly DataColumn<R>[], search: string): readonly R[] {
  const matches = matcher(search);
  if (matches === null) return rows;
  const words = columns.filter(({ numeric }) => !numeric);
  return rows.filter((row) => words.some((column) => matches(column.cell(row).text)));
}
