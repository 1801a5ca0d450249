/** A table with a search above it, and how much of it there is below. */

import { useMemo } from "preact/hooks";
import { type DataColumn, DataTable, searchRows } from "../ui/data_table";
import { SearchBox } from "../ui/search_box";
import { useSession } from "../ui/session";
import { Empty } from "../ui/states";

interface SearchedTableProps<R> {
  readonly label: string;
  /** What a row is. */
  readonly what: string;
  /** Of all rows, also those that are not here. */
  readonly count: number;
  readonly columns: readonly DataColumn<R>[];
  readonly rows: readonly R[];
  readonly id: (row: R) => string;
  readonly children?: preact.ComponentChildren;
}

export function SearchedTable<R>({ label, what, count, columns, rows, id, children }: SearchedTableProps<R>) {
  const session = useSession();
  const { sort, key, search } = session.state.value;
  const useful = useMemo(
    () => columns.filter((one, at) => at === 0 || rows.some((row) => one.value(row) !== null)),
    [columns, rows],
  );
  const found = useMemo(() => searchRows(rows, useful, search), [rows, useful, search]);
  return (
    <div class="main-column">
      <div class="toolbar">
        <SearchBox value={search} onSearch={(next) => session.update({ search: next })} />
        {children}
      </div>
      {found.length === 0 ? (
        <Empty
          title={`No ${what} matches the search`}
          action={{ label: "Clear the search", run: () => session.update({ search: "" }) }}
        />
      ) : (
        <DataTable
          label={label}
          columns={useful}
          rows={found}
          id={id}
          sort={sort}
          onSort={(next) => session.update({ sort: next })}
          selected={key}
          onSelect={(next) => session.update({ key: next })}
        />
      )}
      <div class="status" role="status">
        <span>{`${found.length.toLocaleString()} of ${count.toLocaleString()} rows`}</span>
        {rows.length < count && <span>{`the ${rows.length.toLocaleString()} with most time are here`}</span>}
      </div>
    </div>
  );
}
