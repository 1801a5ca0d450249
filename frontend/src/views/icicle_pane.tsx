import { useMemo } from "preact/hooks";
import type { Figure, IcicleDocument, IcicleRect } from "../lib/documents";
import { matcher } from "../lib/matching";
import { format, percent, type Quantity } from "../lib/units";
import { Icicle } from "../ui/icicle";
import { useSession } from "../ui/session";
import { colourName, figureOf, quantityIn, rowName } from "./columns";
import type { Documents } from "./documents";
import { upFrom } from "./moves";

/** The icicle of the chosen total. Its failure leaves the table as it is. */
export function IciclePane({ documents }: { documents: Documents }) {
  const session = useSession();
  const { selected, search } = session.state.value;
  const icicle = documents.icicle.data.value;
  const head = documents.rows.head.value;
  const matches = useMemo(() => matcher(search), [search]);
  if (icicle === null || head === null || icicle.rects.length < 2) return null;
  // Nested ops hold each other, so that their widths would say nothing.
  return (
    <Icicle
      document={icicle}
      theme={session.theme.value}
      selected={selected}
      label={`Icicle of ${icicle.metric}; the table below has the same rows`}
      matches={matches}
      shorten={rowName}
      colour={colourName}
      describe={(rect) => describe(icicle, rect, quantityIn(head, icicle.metric), figureOf(head.root, icicle.metric))}
      onSelect={(id) => session.update({ selected: id })}
      onZoom={(id) => session.update({ root: id, selected: id })}
      onOut={() => upFrom(session, documents.root.data.value)}
      onWhole={() => session.update({ root: 0 })}
    />
  );
}

function describe({ names, colors, total }: IcicleDocument, rect: IcicleRect, quantity: Quantity, whole: Figure) {
  const [id, , x0, x1, name, color, folded] = rect;
  const value = total === null ? null : (x1 - x0) * total;
  const title = id < 0 ? `${folded.toLocaleString()} others` : rowName(names[name] ?? "");
  const kind = id < 0 ? "" : (colors[color] ?? "");
  const cost = { label: format(quantity, value), value: percent(value, whole) };
  return { title, rows: kind === title || kind === "" ? [cost] : [cost, { label: kind, value: "" }] };
}
