/** The timeline as lanes: coarse all over, fine in the window that was asked for. */

import type { Lane, Track, View } from "../../lib/lanes";
import type { Arrow, Kind } from "../../ui/lanes_scene";
import type { EventDocument, TimelineDocument, TimelineLane } from "./documents";

export interface TraceLanes {
  readonly lanes: readonly Lane[];
  readonly kinds: readonly Kind[];
  /** How many executions each merged block stands for, by its id and start. */
  readonly merged: ReadonlyMap<string, number>;
}

interface Drawn {
  readonly start: number;
  readonly end: number;
  readonly kind: number;
  readonly id: number;
}

const MARGIN = 1;

/** The window to ask for around what is in view: as much again on both sides, so that moving shows something at once. */
export function askedWindow([from, to]: View): View {
  return [from - (to - from) * MARGIN, to + (to - from) * MARGIN];
}

export function blockKey(id: number, start: number): string {
  return `${id} ${start}`;
}

/** Lanes of the whole, with the blocks of a window in their place where one is given. */
export function traceLanes(whole: TimelineDocument, part: TimelineDocument | null): TraceLanes {
  const kinds: Kind[] = [];
  const places = new Map<string, number>();
  const merged = new Map<string, number>();
  const kindOf = (name: string) => {
    const known = places.get(name);
    if (known !== undefined) return known;
    places.set(name, kinds.length);
    kinds.push({ name });
    return kinds.length - 1;
  };
  const read = (document: TimelineDocument, lane: TimelineLane | undefined, level: number): Drawn[] =>
    (lane?.blocks ?? [])
      .filter((block) => block[0] === level)
      .map(([, offset, duration, name, , count, id]) => {
        const start = document.start_ps + offset;
        if (count > 1) merged.set(blockKey(id, start), count);
        return { start, end: start + Math.max(duration, 1), kind: kindOf(document.names[name] ?? ""), id };
      });
  const lanes = whole.lanes.map((lane) => {
    const fine = part?.lanes.find(({ id }) => id === lane.id);
    const tracks = Array.from({ length: lane.levels }, (_, level) => {
      const coarse = read(whole, lane, level);
      return columns(part === null ? coarse : spliced(coarse, read(part, fine, level), [part.start_ps, part.end_ps]));
    });
    return { key: String(lane.id), label: lane.name || `lane ${lane.id}`, group: lane.device, tracks };
  });
  return { lanes, kinds, merged };
}

/** Coarse blocks outside a window, cut where they reach into it, and the fine ones in it. */
export function spliced(coarse: readonly Drawn[], fine: readonly Drawn[], [from, to]: View): Drawn[] {
  const first = Math.min(fine[0]?.start ?? from, from);
  const last = Math.max(fine[fine.length - 1]?.end ?? to, to);
  const outside = coarse.flatMap((block) => {
    const before = { ...block, end: Math.min(block.end, first) };
    const after = { ...block, start: Math.max(block.start, last) };
    return [before, after].filter(({ start, end }) => end > start);
  });
  return [...outside, ...fine].sort((p, q) => p.start - q.start);
}

function columns(blocks: readonly Drawn[]): Track {
  return {
    start: blocks.map(({ start }) => start),
    end: blocks.map(({ end }) => end),
    kind: blocks.map(({ kind }) => kind),
    id: blocks.map(({ id }) => id),
  };
}

/** From each launching call to the work that it launched. */
export function launchArrows(event: EventDocument | null): Arrow[] {
  return (event?.arrows ?? []).map(({ from, to }) => ({
    from: { lane: String(from.lane), at: from.start_ps },
    to: { lane: String(to.lane), at: to.start_ps },
  }));
}
