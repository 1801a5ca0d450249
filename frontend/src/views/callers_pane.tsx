import { useMemo, useState } from "preact/hooks";
import { address } from "../lib/api";
import { blockRgb, css } from "../lib/colour";
import { groupBy } from "../lib/grouping";
import type { Theme } from "../lib/theme";
import { counted, type Quantity } from "../lib/units";
import { numberColumn } from "../ui/columns";
import { sortRows } from "../ui/data_table";
import { useDocument } from "../ui/documents";
import { Grid } from "../ui/grid";
import type { GridColumn } from "../ui/grid_column";
import { useSession } from "../ui/session";
import { Empty, Loaded } from "../ui/states";
import { rowName } from "./columns";
import { viewParameters } from "./questions";

interface CallersDocument {
  readonly view: string;
  readonly metric: string;
  readonly rows: readonly Caller[];
  readonly left_out: number;
}

export interface Caller {
  readonly name: string;
  readonly id: number;
  readonly parent: number;
  readonly depth: number;
  readonly value: number;
  readonly places: number;
}

/** From the bottom up: where the cost of the selected row's name comes from, in all its places. */
export function CallersPane({ quantity }: { quantity: Quantity }) {
  const session = useSession();
  const resource = useDocument<CallersDocument>(({ state, recordParameters }) => {
    const { metric, selected: id } = state.value;
    const question = { ...viewParameters(state.value, recordParameters.value), shape: "callers" };
    return id > 0 ? address("views", { ...question, metric, id }) : null;
  });
  const down = { label: "Back to the tree", run: () => session.update({ direction: "down" }) };
  if (session.state.value.selected <= 0) {
    return (
      <Empty title="Whose callers?" action={down}>
        Select a row, then look at it from the bottom up.
      </Empty>
    );
  }
  return (
    <Loaded resource={resource}>
      {(document) =>
        document.rows.length === 0 ? (
          <Empty title="No row holds this one" action={down} />
        ) : (
          <CallerTree document={document} quantity={quantity} />
        )
      }
    </Loaded>
  );
}

function CallerTree({ document, quantity }: { document: CallersDocument; quantity: Quantity }) {
  const session = useSession();
  const theme = session.theme.value;
  const [chosen, setChosen] = useState(-1);
  const columns = useMemo(() => callerColumns(document, quantity, theme), [document, quantity, theme]);
  const { left_out, view } = document;
  const { callers: sort } = session.state.value;
  const rows = useMemo(() => sortTree(document.rows, columns, sort), [document, columns, sort]);
  return (
    <>
      <Grid<PlacedCaller>
        label="Callers"
        columns={columns}
        count={rows.length}
        row={(index) => rows[index]}
        id={({ number }) => `caller-${number}`}
        sort={sort}
        onSort={(next) => session.update({ callers: next })}
        cursor={rows.findIndex(({ number }) => number === chosen)}
        onCursor={(index) => setChosen(rows[index]?.number ?? -1)}
        reveal={{ row: 0, token: document }}
        tree={(row) => ({ "aria-level": row.depth + 1 })}
      />
      <div class="status" role="status">
        <span>{`${counted(rows.length, "caller")} in the ${view} view`}</span>
        {left_out > 0 && <span>{`${left_out.toLocaleString()} cheaper ones left out`}</span>}
      </div>
    </>
  );
}

interface PlacedCaller extends Caller {
  /** Its place in the document. */
  readonly number: number;
}

/** Rows in preorder, with the callers of each sorted by a column. */
export function sortTree(
  rows: readonly Caller[],
  columns: readonly GridColumn<Caller>[],
  sort: string,
): PlacedCaller[] {
  const path: number[] = [];
  const parents = rows.map(({ depth }, number) => {
    path.length = depth;
    path.push(number);
    return path[depth - 1] ?? -1;
  });
  const placed = rows.map((row, number) => ({ ...row, number }));
  const children = groupBy(placed, ({ number }) => parents[number] ?? -1);
  const waiting = [...sortRows<PlacedCaller>(children.get(-1) ?? [], columns, sort)].reverse();
  const sorted: PlacedCaller[] = [];
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    sorted.push(row);
    waiting.push(...[...sortRows<PlacedCaller>(children.get(row.number) ?? [], columns, sort)].reverse());
  }
  return sorted;
}

function callerColumns({ rows }: CallersDocument, quantity: Quantity, theme: Theme): GridColumn<Caller>[] {
  const whole = rows[0]?.value ?? 0;
  const name: GridColumn<Caller> = {
    key: "name",
    title: "called by",
    help: "What calls the row above it; the first row is the name in question",
    width: 300,
    grows: true,
    numeric: false,
    value: (row) => row.name,
    cell: (row) => ({ text: rowName(row.name) }),
    content: (row) => (
      <div class="tree" style={{ paddingLeft: `${Math.min(row.depth, 40) * 14 + 8}px` }}>
        <span class="dot" style={{ background: css(blockRgb(row.name, theme)) }} />
        <span class="name">{rowName(row.name)}</span>
      </div>
    ),
  };
  return [
    name,
    numberColumn(rows, {
      key: "cost",
      title: "cost",
      help: "What the name costs where it is called this way",
      quantity,
      value: (row) => row.value,
      whole,
    }),
    numberColumn(rows, {
      key: "share",
      title: "share",
      help: "Share of the cost of the name in all its places",
      quantity: "ratio",
      value: (row) => (whole ? row.value / whole : null),
    }),
    numberColumn(rows, {
      key: "places",
      title: "places",
      help: "In how many places it is called this way",
      quantity: "count",
      value: (row) => row.places,
    }),
  ];
}
