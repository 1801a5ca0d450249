/** The geometry of a lane timeline: blocks in time on lanes, the part in view, and what is hit. Times are offsets from a base. */

import type { Curve } from "./curves";
import { lowerBound } from "./plot";

/** Blocks of one row of a lane as columns: by start, not overlapping. */
export interface Track {
  readonly start: readonly number[];
  readonly end: readonly number[];
  /** Index of what the block is. */
  readonly kind: readonly number[];
  /** What the owner knows the block by; several blocks can share one. */
  readonly id: readonly number[];
}

export interface Lane {
  readonly key: string;
  readonly label: string;
  /** A figure beside the label, such as a busy share. */
  readonly note?: string;
  readonly group: string;
  readonly tracks: readonly Track[];
  /** Figures over time, in place of blocks. */
  readonly curves?: readonly Curve[];
}

export type View = readonly [number, number];

export interface Block {
  readonly start: number;
  readonly end: number;
  readonly kind: number;
  readonly id: number;
}

/** Puts blocks onto as few tracks as possible so that none overlap. A unit, such as an occurrence, stays on one track. */
export function packed(units: readonly (readonly Block[])[]): Track[] {
  const spans = units
    .filter((blocks) => blocks.length > 0)
    .map((blocks) => ({ blocks, from: least(blocks, "start"), to: -least(blocks, "end", -1) }))
    .sort((p, q) => p.from - q.from || p.to - q.to);
  const tracks: { blocks: Block[]; to: number }[] = [];
  for (const { blocks, from, to } of spans) {
    const free = tracks.find((track) => track.to <= from);
    if (free === undefined) tracks.push({ blocks: [...blocks], to });
    else {
      free.blocks.push(...blocks);
      free.to = to;
    }
  }
  return tracks.map(({ blocks }) => columns(blocks.sort((p, q) => p.start - q.start || p.end - q.end)));
}

function least(blocks: readonly Block[], side: "start" | "end", sign = 1): number {
  return blocks.reduce((most, block) => Math.min(most, sign * block[side]), Number.POSITIVE_INFINITY);
}

function columns(blocks: readonly Block[]): Track {
  return {
    start: blocks.map((block) => block.start),
    end: blocks.map((block) => block.end),
    kind: blocks.map((block) => block.kind),
    id: blocks.map((block) => block.id),
  };
}

export function blockAt({ start, end, kind, id }: Track, at: number): Block {
  return { start: start[at] ?? 0, end: end[at] ?? 0, kind: kind[at] ?? 0, id: id[at] ?? -1 };
}

/** The first and last moment of all lanes; one unit where they are one. */
export function spanOf(lanes: readonly Lane[]): View {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { start, end } of lanes.flatMap((lane) => lane.tracks)) {
    low = Math.min(low, start[0] ?? low);
    high = Math.max(high, end[end.length - 1] ?? high);
  }
  if (low > high) return [0, 1];
  return high > low ? [low, high] : [low, low + 1];
}

/** Visits what is to be drawn of a track: blocks in view, those narrower than a pixel only once for each pixel. */
export function visitBlocks(
  track: Track,
  [from, to]: View,
  unitsPerPixel: number,
  visit: (block: Block, merged: boolean) => void,
): void {
  const { start, end } = track;
  let at = Math.max(lowerBound(end, from), 0);
  while (at < start.length) {
    const block = blockAt(track, at);
    if (block.start > to) return;
    if (block.end - block.start >= unitsPerPixel) {
      visit(block, false);
      at++;
      continue;
    }
    let next = Math.max(lowerBound(start, block.start + unitsPerPixel), at + 1);
    const last = next - 1;
    // Of those that start within the pixel, only the last can be wider than it.
    if (last > at && (end[last] ?? 0) - (start[last] ?? 0) >= unitsPerPixel) next = last;
    const merged = next > at + 1;
    visit(merged ? { ...block, end: end[next - 1] ?? block.end } : block, merged);
    at = next;
  }
}

/** The index of the block at a time, or of one at most `slack` away; -1 where there is none. */
export function hitBlock({ start, end }: Track, time: number, slack: number): number {
  const at = lowerBound(end, time);
  const distance = (index: number) => {
    const [from, to] = [start[index], end[index]];
    if (from === undefined || to === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(from - time, time - to, 0);
  };
  const near = [at, at - 1, at + 1].reduce((best, index) => (distance(index) < distance(best) ? index : best), at);
  return distance(near) <= slack ? near : -1;
}

const LEAST_SPAN = 1;

/** A view zoomed around a time, within the whole and not below one unit. */
export function zoomed([from, to]: View, factor: number, at: number, full: View): View {
  const width = Math.min(Math.max((to - from) * factor, LEAST_SPAN), full[1] - full[0]);
  const share = to > from ? (at - from) / (to - from) : 0.5;
  return within([at - width * share, at + width * (1 - share)], full);
}

/** A view moved by a part of its width. */
export function panned([from, to]: View, share: number, full: View): View {
  const by = (to - from) * share;
  return within([from + by, to + by], full);
}

/** A view pushed back into the whole. */
export function within([from, to]: View, full: View): View {
  const width = Math.min(Math.max(to - from, LEAST_SPAN), full[1] - full[0]);
  const start = Math.min(Math.max(from, full[0]), full[1] - width);
  return [start, start + width];
}

/** The view around a stretch that is to be seen, moved only as far as needed. */
export function showing(view: View, [start, end]: View, full: View): View {
  if (start >= view[0] && end <= view[1]) return view;
  const width = Math.max(view[1] - view[0], (end - start) * 1.5);
  const middle = (start + end) / 2;
  return within([middle - width / 2, middle + width / 2], full);
}

/** A row of the drawing: a lane, or the name of a group. */
export interface Row {
  readonly top: number;
  readonly height: number;
  readonly group: string;
  readonly lane: Lane | null;
}

export interface Layout {
  readonly pinned: readonly Row[];
  readonly pinnedHeight: number;
  readonly rows: readonly Row[];
  readonly height: number;
}

export const GROUP_PX = 20;
const CURVE_TRACKS = 2;

/** Where each lane stands: pinned ones on their own, the others below the name of their group. */
export function layOut(lanes: readonly Lane[], pinned: readonly string[], trackPx: number): Layout {
  const height = (lane: Lane) => Math.max(lane.tracks.length, lane.curves === undefined ? 1 : CURVE_TRACKS) * trackPx;
  const stacked = (list: readonly Lane[], grouped: boolean) => {
    const rows: Row[] = [];
    let [top, group] = [0, ""];
    for (const lane of list) {
      if (grouped && lane.group !== group) {
        rows.push({ top, height: GROUP_PX, group: lane.group, lane: null });
        top += GROUP_PX;
        group = lane.group;
      }
      rows.push({ top, height: height(lane), group: lane.group, lane });
      top += height(lane);
    }
    return { rows, top };
  };
  const fixed = stacked(
    lanes.filter(({ key }) => pinned.includes(key)),
    false,
  );
  const rest = stacked(
    lanes.filter(({ key }) => !pinned.includes(key)),
    true,
  );
  return { pinned: fixed.rows, pinnedHeight: fixed.top, rows: rest.rows, height: rest.top };
}

export function rowAt(rows: readonly Row[], y: number): Row | null {
  return rows.find(({ top, height }) => top <= y && y < top + height) ?? null;
}

/** Where a block stands. */
export interface Found {
  readonly lane: Lane;
  readonly track: Track;
  readonly at: number;
}

/** The first block of an id. */
export function findBlock(lanes: readonly Lane[], id: number): Found | null {
  for (const lane of lanes) {
    for (const track of lane.tracks) {
      const at = track.id.indexOf(id);
      if (at >= 0) return { lane, track, at };
    }
  }
  return null;
}

/** From the first to the last block of the same id on the track of a block. */
export function extentOf({ track, at }: Found): View {
  const id = track.id[at] ?? -1;
  if (id < 0) return [track.start[at] ?? 0, track.end[at] ?? 0];
  return [track.start[track.id.indexOf(id)] ?? 0, track.end[track.id.lastIndexOf(id)] ?? 0];
}

/** The block that an arrow key leads to: along the lane, or the nearest in time on the lane above or below. */
export function nextBlock(lanes: readonly Lane[], id: number, key: string): Found | null {
  const from = findBlock(lanes, id);
  const filled = lanes.filter(({ tracks }) => tracks.some(({ start }) => start.length > 0));
  if (from === null) return firstOf(filled[0]);
  const { lane, track, at } = from;
  if (key === "ArrowLeft" || key === "ArrowRight") return along(lane, track, at, key === "ArrowLeft" ? -1 : 1);
  const other = filled[filled.indexOf(lane) + (key === "ArrowUp" ? -1 : 1)];
  return other === undefined ? null : nearest(other, track.start[at] ?? 0);
}

/** The next block of another id; at the end of its track the next track of the lane. */
function along(lane: Lane, track: Track, at: number, step: number): Found | null {
  const id = track.id[at];
  for (let next = at + step; next >= 0 && next < track.start.length; next += step) {
    if (track.id[next] !== id && (track.id[next] ?? -1) >= 0) return { lane, track, at: next };
  }
  const other = lane.tracks[lane.tracks.indexOf(track) + step];
  if (other === undefined) return null;
  return { lane, track: other, at: step > 0 ? 0 : other.start.length - 1 };
}

function firstOf(lane: Lane | undefined): Found | null {
  const track = lane?.tracks.find(({ start }) => start.length > 0);
  return lane === undefined || track === undefined ? null : { lane, track, at: 0 };
}

function nearest(lane: Lane, time: number): Found | null {
  const found = lane.tracks.flatMap((track) => {
    const at = hitBlock(track, time, Number.POSITIVE_INFINITY);
    return at < 0 ? [] : [{ lane, track, at }];
  });
  return found[0] ?? null;
}

/** How full each pixel of the whole is, 0 to 1 of the fullest, for a map of it. */
export function density(lanes: readonly Lane[], [low, high]: View, pixels: number): number[] {
  const scale = pixels / (high - low);
  const change = new Array<number>(pixels + 1).fill(0);
  for (const { start, end } of lanes.flatMap((lane) => lane.tracks)) {
    for (let i = 0; i < start.length; i++) {
      const from = Math.floor(((start[i] ?? 0) - low) * scale);
      const to = Math.max(Math.ceil(((end[i] ?? 0) - low) * scale), from + 1);
      change[from] = (change[from] ?? 0) + 1;
      change[Math.min(to, pixels)] = (change[Math.min(to, pixels)] ?? 0) - 1;
    }
  }
  let [level, most] = [0, 1];
  const levels = change.slice(0, pixels).map((step) => {
    level += step;
    most = Math.max(most, level);
    return level;
  });
  return levels.map((value) => value / most);
}
