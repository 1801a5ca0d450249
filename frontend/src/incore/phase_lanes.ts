/** The stamps of one kernel as lanes: the envelope on top, then each slot's own phases. */

import { groupBy } from "../lib/grouping";
import { type Block, type Lane, packed } from "../lib/lanes";
import type { Kind, Mark } from "../ui/lanes_scene";
import { blocksOf, type DetailDocument, type InCoreDocument, phaseName, phasesOf, slotNames } from "./document";

export const ENVELOPE = "envelope";
/** Hues of phases and functions, neighbours far apart. */
export const HUES = [250, 150, 75, 320, 200, 30, 280, 110, 0, 175];
/** The wait inside a collective: nothing of the slot's own runs. */
const WAITS = ["A-B"];

/** A block as the address names it: `slot/phase`. */
export interface PhaseBlock {
  readonly key: string;
  readonly lane: string;
  readonly phase: string;
  readonly from: number;
  readonly to: number;
}

export interface PhaseLanes {
  readonly lanes: readonly Lane[];
  readonly kinds: readonly Kind[];
  readonly marks: readonly Mark[];
  /** By the id of a block. */
  readonly blocks: readonly PhaseBlock[];
}

export function phaseLanes(document: InCoreDocument, detail: DetailDocument): PhaseLanes {
  const kinds: Kind[] = phasesOf(document).map(({ name }, at) => kindOf(name, at));
  const blocks: PhaseBlock[] = [];
  const add = (lane: string, phase: string, from: number, to: number): Block => {
    if (!kinds.some(({ name }) => name === phase)) kinds.push(kindOf(phase, kinds.length));
    blocks.push({ key: `${lane}/${phase}`, lane, phase, from, to });
    return { start: from, end: to, kind: kinds.findIndex(({ name }) => name === phase), id: blocks.length - 1 };
  };
  const lanes = [envelope(document, add), ...slotLanes(document, detail, add)];
  return { lanes, kinds, marks: marksOf(detail), blocks };
}

type Add = (lane: string, phase: string, from: number, to: number) => Block;

function kindOf(name: string, at: number): Kind {
  const hue = HUES[at % HUES.length];
  return { name, ...(hue === undefined ? {} : { hue }), ...(WAITS.includes(name) ? { striped: true } : {}) };
}

/** The phases end to end: what adds up to the kernel. The task's own start lies before the first boundary. */
function envelope(document: InCoreDocument, add: Add): Lane {
  const phases = phasesOf(document);
  let start = document.l2?.partition ? -(phases[0]?.cycles ?? 0) : 0;
  const blocks = phases.map(({ name, cycles }) => {
    const block = add(ENVELOPE, name, Math.min(start, start + cycles), Math.max(start, start + cycles));
    start += cycles;
    return block;
  });
  return { key: ENVELOPE, label: ENVELOPE, group: "", tracks: packed(blocks.map((block) => [block])) };
}

function slotLanes(document: InCoreDocument, detail: DetailDocument, add: Add): Lane[] {
  const name = slotNames(detail);
  const engines = new Map((detail.cores ?? []).map(({ slot, engine }) => [slot, engine]));
  const names = (detail.boundaries ?? []).map((boundary) => boundary.name);
  const lanes = (detail.lanes ?? []).map((lane) => {
    const blocks = blocksOf(lane).map(({ from, to, first, last }) =>
      add(String(lane.slot), phaseName(names[first] ?? "", names[last] ?? "", document.phases !== undefined), from, to),
    );
    return {
      key: String(lane.slot),
      label: name(lane.slot),
      group: engineTitle(engines.get(lane.slot)),
      tracks: packed(blocks.map((block) => [block])),
    };
  });
  return byEngine(lanes);
}

export function engineTitle(engine: string | undefined): string {
  return engine === "aic" || engine === "aiv" ? engine.toUpperCase() : "Slots";
}

/** AIC before AIV before others, and how many each group has. */
export function byEngine(lanes: readonly Lane[]): Lane[] {
  const groups = groupBy(lanes, ({ group }) => group);
  return [...groups.keys()].sort().flatMap((group) => {
    const members = groups.get(group) ?? [];
    return members.map((lane) => ({ ...lane, group: `${group} · ${members.length}` }));
  });
}

/** The stamps that set a boundary. */
function marksOf({ boundaries = [], lanes = [] }: DetailDocument): Mark[] {
  return boundaries.flatMap(({ name, deciding_slots }, at) =>
    deciding_slots.flatMap((slot) => {
      const stamp = lanes.find((lane) => lane.slot === slot)?.stamps[at];
      return stamp === null || stamp === undefined ? [] : [{ lane: String(slot), at: stamp, text: name }];
    }),
  );
}

/** The block of a slot that ends at a boundary, else the one that starts there. */
export function blockAtBoundary(found: PhaseLanes, slot: number, stamp: number): PhaseBlock | undefined {
  const own = found.blocks.filter(({ lane }) => lane === String(slot));
  return own.find(({ to }) => to === stamp) ?? own.find(({ from }) => from === stamp);
}
