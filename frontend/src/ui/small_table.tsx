/** A small table beside a picture: its rows are all in the document. */

import type { ComponentChildren } from "preact";

/** A figure as it is shown, and with every digit. */
export type FigureCell = readonly [shown: string, exact: string];

export interface SmallRow {
  readonly key: string;
  /** The first names the row. */
  readonly cells: readonly (ComponentChildren | FigureCell)[];
  readonly chosen?: boolean;
  /** What the rows above add up to. */
  readonly sum?: boolean;
  readonly title?: string | undefined;
}

interface SmallTableProps {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly SmallRow[];
  readonly note?: string | undefined;
  /** What columns hold, by their titles, where that is particular to this table. */
  readonly help?: Readonly<Record<string, string>>;
}

/** Columns that mean the same everywhere. */
const HELP: Readonly<Record<string, string>> = {
  min: "The smallest of all",
  p50: "The smallest that half of them do not exceed",
  p95: "The smallest that 95 of 100 do not exceed",
  max: "The largest of all",
  median: "The middle one in order of size; the mean of the two in the middle where they are even in number",
  time: "Counts divided by the clock's frequency",
  cycles: "Counts of the device's counter",
  ns: "Nanoseconds",
  share: "Of the sum of all rows",
  total: "From the first start to the last end",
  longest: "The longest of them",
};

const MOST_ROWS = 500;

export function SmallTable({ title, columns, rows, note, help = {} }: SmallTableProps) {
  const [first] = rows;
  if (first === undefined) return null;
  return (
    <section>
      <h2>{title}</h2>
      <table class="small-table">
        <thead>
          <tr>
            {columns.map((column, at) =>
              column === "" ? (
                <td key={column} />
              ) : (
                <th
                  key={column}
                  scope="col"
                  class={isFigure(first.cells[at]) ? "num" : ""}
                  title={help[column] ?? HELP[column]}
                >
                  {column}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map(({ key, cells, chosen, sum, title: help }) => (
            <tr key={key} class={chosen ? "chosen" : sum ? "sum" : ""} title={help}>
              {cells.map((cell, at) => (
                <SmallCell key={columns[at]} cell={cell} first={at === 0} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {note && <p class="muted">{note}</p>}
    </section>
  );
}

function SmallCell({ cell, first }: { cell: ComponentChildren | FigureCell; first: boolean }) {
  if (first) return <th scope="row">{cell as ComponentChildren}</th>;
  if (!isFigure(cell)) return <td>{cell}</td>;
  return (
    <td class="num" title={cell[1]}>
      {cell[0]}
    </td>
  );
}

function isFigure(cell: ComponentChildren | FigureCell): cell is FigureCell {
  return Array.isArray(cell) && cell.length === 2 && cell.every((part) => typeof part === "string");
}

interface LinkProps {
  readonly text: string;
  readonly chosen?: boolean;
  readonly onPick: () => void;
}

/** A name that selects what it names. */
export function Link({ text, chosen = false, onPick }: LinkProps) {
  return (
    <button type="button" class="link" aria-pressed={chosen} onClick={onPick}>
      {text}
    </button>
  );
}
