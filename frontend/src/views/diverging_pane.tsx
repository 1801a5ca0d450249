import { useMemo } from "preact/hooks";
import type { ComparisonDocument } from "../lib/documents";
import { matcher } from "../lib/matching";
import { format, percent, type Quantity } from "../lib/units";
import { Icicle } from "../ui/icicle";
import { useSession } from "../ui/session";
import { rowName } from "./columns";
import { changeColour, diverging, parentsOf } from "./diverging";

export interface DivergingProps {
  readonly document: ComparisonDocument;
  readonly metric: string;
  readonly quantity: Quantity;
  readonly view: string;
  /** The row that the picture starts from. */
  readonly start: number;
}

const noColour = () => "";

/** Where the runs differ, over the whole tree or from a row on. */
export function DivergingPane({ document, metric, quantity, view, start }: DivergingProps) {
  const session = useSession();
  const theme = session.theme.value;
  const { key, search } = session.state.value;
  const { rows } = document;
  // Ops hold each other; only what each does itself adds up.
  const shown = view === "op" ? metric.replace(/^total_/, "") : metric;
  const picture = useMemo(
    () => diverging(withWhole(rows, shown, metric), shown, view === "op", start),
    [rows, shown, metric, view, start],
  );
  const selected = useMemo(() => rows.findIndex((row) => row.key === key), [rows, key]);
  const matches = useMemo(() => matcher(search), [search]);
  if (picture.icicle.rects.length < 2 && start === 0) return null;
  const select = (id: number) => session.update({ key: rows[id]?.key ?? "" });
  return (
    <Icicle
      document={picture.icicle}
      theme={theme}
      selected={selected}
      label="Icicle of the differences; the table below has the same rows"
      matches={matches}
      shorten={rowName}
      colour={noColour}
      fill={([id]) => changeColour(picture.change[id] ?? 0, theme)}
      describe={([id, , , , , , folded]) => {
        const [a, b] = picture.sides[id] ?? [0, 0];
        if (id < 0) return { title: `${folded.toLocaleString()} others`, rows: [] };
        const more = `${a > b ? "+" : ""}${format(quantity, a - b)}`;
        return {
          title: rowName(rows[id]?.key ?? ""),
          rows: [
            { label: "this run", value: format(quantity, a) },
            { label: "baseline", value: format(quantity, b) },
            { label: "difference", value: b > 0 ? `${more} (${percent(a - b, b)})` : more },
          ],
        };
      }}
      onSelect={select}
      onZoom={(id) => session.update({ from: id > 0 ? (rows[id]?.key ?? "") : "", key: rows[id]?.key ?? "" })}
      onOut={() => session.update({ from: keyAbove(rows, start, view === "op") })}
      onWhole={() => session.update({ from: "" })}
    />
  );
}

/** The key of the row above another one; empty for the root. */
export function keyAbove(rows: ComparisonDocument["rows"], row: number, flat: boolean): string {
  const parent = row > 0 ? (parentsOf(rows, flat)[row] ?? 0) : 0;
  return parent > 0 ? (rows[parent]?.key ?? "") : "";
}

/** The root's own figure is nothing; its total is what the rows share. */
function withWhole(rows: ComparisonDocument["rows"], shown: string, metric: string): ComparisonDocument["rows"] {
  const [root, ...others] = rows;
  if (root === undefined || shown === metric) return rows;
  const side = (one: typeof root.a) => (one === null ? null : { ...one, [shown]: one[metric] });
  return [{ ...root, a: side(root.a), b: side(root.b) }, ...others];
}
