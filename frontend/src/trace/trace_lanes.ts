/** The timeline as lanes: coarse all over, fine in the window that was asked for. */

import { type Curve, mostOf } from "../lib/curves";
import { groupBy } from "../lib/grouping";
import type { Lane, Track, View } from "../lib/lanes";
import { format, percent } from "../lib/units";
import type { Arrow, Kind } from "../ui/lanes_scene";
import type { EventDocument, TimelineCounter, TimelineDocument, TimelineLane } from "./documents";

export interface TraceLanes {
  readonly lanes: readonly Lane[];
  readonly kinds: readonly Kind[];
  /** How many executions each merged block stands for, by its id and start. */
  readonly merged: ReadonlyMap<string, number>;
}

interface Stretch {
  readonly start: number;
  readonly end: number;
}

interface Drawn extends Stretch {
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
  return { lanes: withCounters(lanes, counterLanes(whole, part)), kinds, merged };
}

/** The counters of a device above its streams; those of a device without any at the end. */
function withCounters(lanes: readonly Lane[], counters: ReadonlyMap<string, readonly Lane[]>): Lane[] {
  const groups = groupBy(lanes, ({ group }) => group);
  const devices = new Set([...groups.keys(), ...counters.keys()]);
  return [...devices].flatMap((device) => [...(counters.get(device) ?? []), ...(groups.get(device) ?? [])]);
}

const SHARE = (value: number) => percent(value, 1);
const BYTES = (value: number) => format("bytes", value);
const COUNT = (value: number) => value.toLocaleString();
/** What a counter is called, the lane that it is on, and how it is drawn. */
const COUNTERS: Readonly<Record<string, { lane: string; label: string; text: Curve["text"]; ink: number }>> = {
  utilization: { lane: "utilization", label: "utilization", text: SHARE, ink: 0 },
  sm_efficiency: { lane: "utilization", label: "est. SM efficiency", text: SHARE, ink: 0 },
  queue: { lane: "queue", label: "launched, not started", text: COUNT, ink: 1 },
  allocated: { lane: "memory", label: "allocated", text: BYTES, ink: 2 },
  reserved: { lane: "memory", label: "reserved", text: BYTES, ink: 2 },
};
const DASHED = new Set(["sm_efficiency", "reserved"]);

/** A lane for the counters of a device that share a scale. */
function counterLanes(whole: TimelineDocument, part: TimelineDocument | null): Map<string, Lane[]> {
  const lanes = groupBy(
    whole.counters.filter(({ what }) => what in COUNTERS),
    ({ device, what, allocator = "" }) => [device, COUNTERS[what]?.lane, allocator].join("\0"),
  );
  const made = [...lanes].map(([key, counters]) => {
    const [group = "", name = "", allocator = ""] = key.split("\0");
    const curves = counters.map((counter) => curveOf(counter, whole, part));
    return { key, label: allocator || name, group, note: noteOf(curves), tracks: [], curves };
  });
  return groupBy(made, ({ group }) => group);
}

/** What the top of the lane stands for. */
function noteOf(curves: readonly Curve[]): string {
  return curves[0]?.text(mostOf(curves)) ?? "";
}

function curveOf(counter: TimelineCounter, whole: TimelineDocument, part: TimelineDocument | null): Curve {
  const { what, device, allocator } = counter;
  const fine = part?.counters.find((one) => one.what === what && one.device === device && one.allocator === allocator);
  const coarse = stairs(counter, whole);
  const steps =
    part === null || fine === undefined ? coarse : spliced(coarse, stairs(fine, part), [part.start_ps, part.end_ps]);
  const { label = what, text = COUNT, ink = 0 } = COUNTERS[what] ?? {};
  return {
    label,
    text,
    ink,
    dashed: DASHED.has(what),
    start: steps.map(({ start }) => start),
    end: steps.map(({ end }) => end),
    value: steps.map(({ value }) => value),
  };
}

function stairs({ values }: TimelineCounter, { start_ps, end_ps }: TimelineDocument) {
  const at = (index: number) => start_ps + ((end_ps - start_ps) * index) / values.length;
  return values.map((value, index) => ({ start: at(index), end: at(index + 1), value }));
}

/** Coarse blocks outside a window, cut where they reach into it, and the fine ones in it. */
export function spliced<S extends Stretch>(coarse: readonly S[], fine: readonly S[], [from, to]: View): S[] {
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

/** From each launching call to the work that it launched, and in dashes from each forward call to its backward one. */
export function arrowsOf(event: EventDocument | null): Arrow[] {
  return (event?.arrows ?? []).map(({ kind, from, to }) => ({
    from: { lane: String(from.lane), at: from.start_ps, track: from.level },
    to: { lane: String(to.lane), at: to.start_ps, track: to.level },
    dashed: kind === "backward",
  }));
}
