/** Pointer and keys of a lane timeline. */

import { useEffect, useState } from "preact/hooks";
import {
  type Block,
  blockAt,
  extentOf,
  findBlock,
  hitBlock,
  type Lane,
  nextBlock,
  panned,
  rowAt,
  showing,
  type View,
  within,
  zoomed,
} from "../lib/lanes";
import type { Scale } from "../lib/plot";
import type { Size } from "./canvas";
import { HEAD_PX, MAP_PX, type Scene, scaleOf } from "./lanes_scene";

const SHORTEST_DRAG_PX = 4;
const REACH_PX = 3;
const SNAP_PX = 6;

interface Actions {
  readonly scene: Scene;
  readonly setView: (view: View) => void;
  readonly select: (id: number) => void;
  readonly pin: (key: string) => void;
  readonly onOpen?: (id: number) => void;
}

interface PointerActions extends Actions {
  readonly scroller: { readonly current: HTMLElement | null };
  readonly size: Size;
}

/** What the pointer is over. */
export interface Pointed {
  readonly x: number;
  readonly clientX: number;
  readonly clientY: number;
  readonly lane: Lane;
  readonly block: Block | null;
}

type DragKind = "zoom" | "measure" | "map" | "pan";

interface Drag {
  readonly kind: DragKind;
  readonly fromX: number;
  readonly x: number;
  readonly view: View;
}

export function useLanesPointer(actions: PointerActions) {
  const { scene, size, setView } = actions;
  const [at, setAt] = useState<Pointed | null>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const [measured, setMeasured] = useState<View | null>(null);
  const x = scaleOf(scene.view, scene.gutter, size.width);
  useWheel(actions, x);
  const onPointerDown = (event: PointerEvent) => {
    const place = placeOf(event);
    if (event.button !== 0 || place.x > size.width || place.x < scene.gutter) return;
    const kind = place.y < MAP_PX ? "map" : place.y < HEAD_PX ? "measure" : event.shiftKey ? "pan" : "zoom";
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    setDrag({ kind, fromX: place.x, x: place.x, view: scene.view });
    if (kind === "map") setView(mapView(scene, place.x, size.width));
    if (kind === "measure") setMeasured(null);
  };
  const onPointerMove = (event: PointerEvent) => {
    const place = placeOf(event);
    setAt(pointed(scene, x, place, event));
    if (drag === null) return;
    setDrag({ ...drag, x: place.x });
    if (drag.kind === "map") setView(mapView(scene, place.x, size.width));
    if (drag.kind === "measure") setMeasured(stretch(scene, x, drag.fromX, place.x, true));
    if (drag.kind === "pan") {
      const by = (drag.fromX - place.x) / (x.at(drag.view[1]) - x.at(drag.view[0]));
      setView(panned(drag.view, by, scene.full));
    }
  };
  const onPointerUp = (event: PointerEvent) => {
    const place = placeOf(event);
    const moved = drag !== null && Math.abs(place.x - drag.fromX) >= SHORTEST_DRAG_PX;
    setDrag(null);
    if (drag?.kind === "zoom" && moved) setView(within(stretch(scene, x, drag.fromX, place.x, false), scene.full));
    if (!moved && (drag === null || drag.kind === "zoom")) click(actions, x, place, event);
  };
  const handlers = {
    onPointerDown,
    onPointerMove,
    onPointerUp,
    onPointerCancel: () => setDrag(null),
    onPointerLeave: () => setAt(null),
    onDblClick: (event: MouseEvent) => {
      const found = pointed(scene, x, placeOf(event), event);
      if (found?.block && found.block.id >= 0 && actions.onOpen) actions.onOpen(found.block.id);
      else if (found) setView(scene.full);
    },
  };
  const dragged = drag?.kind === "zoom" ? stretch(scene, x, drag.fromX, drag.x, false) : null;
  return { at: drag === null ? at : null, measured, drag: dragged, handlers, clear: () => setMeasured(null) };
}

interface Place {
  readonly x: number;
  readonly y: number;
}

function placeOf(event: MouseEvent): Place {
  const bounds = (event.currentTarget as Element).getBoundingClientRect();
  return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
}

function click({ scene, select, pin }: Actions, x: Scale, place: Place, event: MouseEvent): void {
  const found = pointed(scene, x, place, event);
  if (found === null) return;
  if (place.x < scene.gutter) pin(found.lane.key);
  else select(found.block?.id ?? -1);
}

/** The lane under a place, and the block of it at that time. */
function pointed(scene: Scene, x: Scale, place: Place, event: MouseEvent): Pointed | null {
  if (place.y < HEAD_PX) return null;
  const { layout, scrollTop } = scene;
  const below = HEAD_PX + layout.pinnedHeight;
  const inPinned = place.y < below;
  const y = inPinned ? place.y - HEAD_PX : place.y - below + scrollTop;
  const row = rowAt(inPinned ? layout.pinned : layout.rows, y);
  if (row === null || row.lane === null) return null;
  const { lane } = row;
  const track = lane.tracks[Math.floor(((y - row.top) / row.height) * lane.tracks.length)];
  const slack = Math.abs(x.invert(REACH_PX) - x.invert(0));
  const at = track === undefined || place.x < scene.gutter ? -1 : hitBlock(track, x.invert(place.x), slack);
  const block = track === undefined || at < 0 ? null : blockAt(track, at);
  return { x: place.x, clientX: event.clientX, clientY: event.clientY, lane, block };
}

/** The view of the present width around a place on the map. */
function mapView({ view, full, gutter }: Scene, pixel: number, width: number): View {
  const middle = scaleOf(full, gutter, width).invert(pixel);
  const half = (view[1] - view[0]) / 2;
  return within([middle - half, middle + half], full);
}

/** The time between two places; with whole ends, at the edge of a block where one is near. */
function stretch(scene: Scene, x: Scale, one: number, other: number, whole: boolean): View {
  const ends = [Math.min(one, other), Math.max(one, other)].map((pixel) => {
    const time = x.invert(Math.max(pixel, scene.gutter));
    return whole ? Math.round(snapped(scene, x, time)) : time;
  });
  return [ends[0] ?? 0, ends[1] ?? 0];
}

function snapped({ lanes }: Scene, x: Scale, time: number): number {
  const reach = x.invert(SNAP_PX) - x.invert(0);
  let nearest = time;
  let least = reach;
  for (const track of lanes.flatMap((lane) => lane.tracks)) {
    const at = hitBlock(track, time, reach);
    for (const edge of at < 0 ? [] : [track.start[at] ?? time, track.end[at] ?? time]) {
      if (Math.abs(edge - time) < least) [nearest, least] = [edge, Math.abs(edge - time)];
    }
  }
  return nearest;
}

/** Ctrl and the wheel zoom, Shift and the wheel or a sideways wheel move. The wheel alone scrolls, and zooms where all lanes are in sight. */
function useWheel({ scroller, scene, setView }: PointerActions, x: Scale): void {
  useEffect(() => {
    const element = scroller.current;
    const onWheel = (event: WheelEvent) => {
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      const fits = element !== null && element.scrollHeight <= element.clientHeight;
      if (event.ctrlKey || event.metaKey || (fits && sideways === 0)) {
        const place = x.invert(event.clientX - (element?.getBoundingClientRect().left ?? 0));
        setView(zoomed(scene.view, 1.0015 ** event.deltaY, place, scene.full));
      } else if (sideways !== 0) setView(panned(scene.view, sideways / 800, scene.full));
      else return;
      event.preventDefault();
    };
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  });
}

interface KeyActions extends Actions {
  readonly clear: () => void;
}

export function useLanesKeys(actions: KeyActions): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!viewKey(event, actions) && !blockKey(event, actions)) return;
    event.preventDefault();
    event.stopPropagation();
  };
}

/** The middle of the selected block where it is in view, else of the view. */
function zoomCentre({ lanes, selected, view: [from, to] }: Scene): number {
  const found = selected < 0 ? null : findBlock(lanes, selected);
  const centre =
    found === null ? from : ((found.track.start[found.at] ?? from) + (found.track.end[found.at] ?? from)) / 2;
  return from < centre && centre < to ? centre : (from + to) / 2;
}

function viewKey({ key, shiftKey }: KeyboardEvent, { scene, setView, clear }: KeyActions): boolean {
  const { view, full } = scene;
  const middle = zoomCentre(scene);
  const moves: Record<string, () => void> = {
    w: () => setView(zoomed(view, 0.7, middle, full)),
    "+": () => setView(zoomed(view, 0.5, middle, full)),
    s: () => setView(zoomed(view, 1 / 0.7, middle, full)),
    "-": () => setView(zoomed(view, 2, middle, full)),
    a: () => setView(panned(view, -0.2, full)),
    d: () => setView(panned(view, 0.2, full)),
    "0": () => setView(full),
    Escape: clear,
    ...(shiftKey
      ? {
          ArrowLeft: () => setView(panned(view, -0.2, full)),
          ArrowRight: () => setView(panned(view, 0.2, full)),
          ArrowUp: () => setView(zoomed(view, 0.7, middle, full)),
          ArrowDown: () => setView(zoomed(view, 1 / 0.7, middle, full)),
        }
      : {}),
  };
  const move = moves[key.length === 1 ? key.toLowerCase() : key];
  move?.();
  return move !== undefined;
}

function blockKey({ key }: KeyboardEvent, { scene, select, setView, pin, onOpen }: KeyActions): boolean {
  const { lanes, selected, view, full } = scene;
  if (key.startsWith("Arrow")) {
    const next = nextBlock(lanes, selected, key);
    if (next === null) return true;
    setView(showing(view, extentOf(next), full));
    select(next.track.id[next.at] ?? -1);
    return true;
  }
  const found = selected < 0 ? null : findBlock(lanes, selected);
  if (found === null) return false;
  if (key === "p") pin(found.lane.key);
  else if (key === "f") {
    const [start, end] = extentOf(found);
    const margin = Math.max((end - start) * 0.1, 0.5);
    setView(within([start - margin, end + margin], full));
  } else if (key === "Enter" && onOpen) onOpen(selected);
  else return false;
  return true;
}
