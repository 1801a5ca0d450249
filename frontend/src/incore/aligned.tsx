/** Two kernels beneath each other, moved so that one boundary of both stands at zero. */

import { useMemo } from "preact/hooks";
import { type Block, type Lane, packed } from "../lib/lanes";
import { useRecordDocument } from "../ui/documents";
import { Lanes } from "../ui/lanes";
import type { Kind } from "../ui/lanes_scene";
import { useSession } from "../ui/session";
import { Picker } from "../ui/shell";
import { comparedKey, type InCoreDocument, type Phase, phasesOf } from "./document";
import { HUES } from "./phase_lanes";
import { unitsOf } from "./units";

/** The boundaries that a kernel's phases stand between, in order. */
export function boundariesOf(phases: readonly Phase[]): string[] {
  const ends = phases.map(({ name }) => (name.includes(" → ") ? name.split(" → ") : name.split("-").reverse()));
  return ends.length === 0 ? [] : [ends[0]?.[0] ?? "", ...ends.map(([, end = ""]) => end)];
}

export interface Side {
  readonly label: string;
  readonly phases: readonly Phase[];
}

/** A lane for each side, its phases end to end, and the chosen boundary of each at zero. Blocks have the id of their phase in both. */
export function alignedLanes(sides: readonly Side[], boundary: string): { lanes: Lane[]; kinds: Kind[] } {
  const names = [...new Set(sides.flatMap(({ phases }) => phases.map(({ name }) => name)))];
  const kinds = names.map((name, at) => ({ name, hue: HUES[at % HUES.length] ?? 0 }));
  const lanes = sides.map(({ label, phases }, side) => {
    const before = Math.max(boundariesOf(phases).indexOf(boundary), 0);
    let start = phases.slice(0, before).reduce((sum, { cycles }) => sum - cycles, 0);
    const blocks: Block[] = phases.map(({ name, cycles }) => {
      const [from, to] = [Math.min(start, start + cycles), Math.max(start, start + cycles)];
      start += cycles;
      const phase = names.indexOf(name);
      return { start: from, end: to, kind: phase, id: phase };
    });
    return { key: String(side), label, group: "", tracks: packed(blocks.map((block) => [block])) };
  });
  return { lanes, kinds };
}

/** The phases of both runs in time. Of many invocations only tables can be compared: medians do not add up. */
export function Aligned() {
  const session = useSession();
  const { compare, pane, key, unit } = session.state.value;
  const { name } = session.recordParameters.value;
  const own = useRecordDocument<InCoreDocument>("incore", { compare: "", detail: "full" }).data.value;
  const other = useRecordDocument<InCoreDocument>("incore", { run: compare, name, compare: "", detail: "full" }).data
    .value;
  const sides = useMemo(
    () =>
      [own, other].flatMap((document, at) =>
        document === null ? [] : [{ label: at === 0 ? "this run" : "baseline", phases: phasesOf(document) }],
      ),
    [own, other],
  );
  const boundaries = boundariesOf(sides[0]?.phases ?? []);
  const boundary = boundaries.includes(pane) ? pane : (boundaries[0] ?? "");
  const drawn = useMemo(() => alignedLanes(sides, boundary), [sides, boundary]);
  if (own === null || sides.length < 2 || sides.some(({ phases }) => phases.length === 0)) return null;
  const units = unitsOf(own, unit === "time");
  return (
    <div class="aligned">
      <Picker
        label="Aligned at"
        value={boundary}
        words={boundaries}
        onPick={(word) => session.update({ pane: word, zoom: null })}
      />
      <Lanes
        key={boundary}
        lanes={drawn.lanes}
        kinds={drawn.kinds}
        label="Phases of this run above those of the baseline"
        theme={session.theme.value}
        ns={units.ns}
        exact={units.exact}
        describe={(block, lane) => ({
          title: `${lane.label} · ${drawn.kinds[block.kind]?.name}`,
          rows: [
            { label: "length", value: units.exact(block.end - block.start) },
            { label: `from ${boundary}`, value: units.exact(block.start) },
          ],
        })}
        selected={drawn.kinds.findIndex((kind) => comparedKey(kind.name) === key)}
        onSelect={(id) => session.update({ key: comparedKey(drawn.kinds[id]?.name ?? "") })}
        zoom={session.state.value.zoom}
        onZoom={(zoom) => session.update({ zoom })}
        fileName="comparison"
      />
    </div>
  );
}
