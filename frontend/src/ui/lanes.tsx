/** Lanes in time on a canvas: zoom to one unit, a map of the whole, a ruler, pinned lanes, arrows, and a selection that is shared. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { valueAt } from "../lib/curves";
import { type Block, density, findBlock, GROUP_PX, type Lane, layOut, type View, zoomed } from "../lib/lanes";
import type { Theme } from "../lib/theme";
import { Canvas, savePng, useSize } from "./canvas";
import { drawLanes } from "./lanes_drawing";
import { type Pointed, useLanesKeys, useLanesPointer } from "./lanes_input";
import { type Arrow, HEAD_PX, type Kind, kindCss, type Mark, type Scene, scaleOf } from "./lanes_scene";
import { useView } from "./lanes_view";
import { Tooltip } from "./tooltip";

export interface Described {
  readonly title: string;
  readonly rows: readonly { readonly label: string; readonly value: string }[];
}

export interface LanesProps {
  readonly lanes: readonly Lane[];
  readonly kinds: readonly Kind[];
  readonly marks?: readonly Mark[];
  readonly arrows?: readonly Arrow[];
  /** Lanes that are pinned from the start. */
  readonly pinned?: readonly string[];
  readonly label: string;
  readonly theme: Theme;
  /** The length of a unit in ns; 0 where time is shown in units. */
  readonly ns: number;
  /** A length of time with every digit. */
  readonly exact: (length: number) => string;
  readonly describe: (block: Block, lane: Lane) => Described;
  /** The id of the selected block, -1 for none. */
  readonly selected: number;
  readonly onSelect: (id: number) => void;
  readonly onOpen?: (id: number) => void;
  /** Blocks that are not dimmed; null for all. */
  readonly lit?: ((block: Block) => boolean) | null;
  /** What stands on blocks of a kind without a name. */
  readonly text?: (block: Block) => string;
  readonly zoom: View | null;
  readonly onZoom: (zoom: View | null) => void;
  readonly fileName: string;
}

const MANY_LANES = 40;
const NONE: readonly never[] = [];

export function Lanes(props: LanesProps) {
  const { lanes, kinds, marks = NONE, arrows = NONE, theme, ns, selected, lit = null, text = null } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const size = useSize(scroller);
  const [scrollTop, setScrollTop] = useState(0);
  const [pinned, setPinned] = useState<readonly string[]>(props.pinned ?? []);
  const { view, full, setView } = useView(lanes, props.zoom, props.onZoom);
  const gutter = useMemo(() => gutterOf(lanes), [lanes]);
  const layout = useMemo(() => layOut(lanes, pinned, lanes.length > MANY_LANES ? 15 : GROUP_PX), [lanes, pinned]);
  const map = useMemo(() => density(lanes, full, 400), [lanes, full]);
  const scene: Scene = useMemo(
    () => ({ lanes, layout, kinds, marks, arrows, view, full, map, scrollTop, gutter, ns, theme, selected, lit, text }),
    [lanes, layout, kinds, marks, arrows, view, full, map, scrollTop, gutter, ns, theme, selected, lit, text],
  );
  const draw = useMemo(() => (context: CanvasRenderingContext2D) => drawLanes(context, size, scene), [scene, size]);
  const pin = (key: string) =>
    setPinned(pinned.includes(key) ? pinned.filter((other) => other !== key) : [...pinned, key]);
  useReveal(scroller, scene, setView);
  const pointer = useLanesPointer({
    scroller,
    scene,
    size,
    setView,
    pin,
    select: props.onSelect,
    ...optional(props.onOpen),
  });
  const onKeyDown = useLanesKeys({
    scene,
    setView,
    select: props.onSelect,
    pin,
    ...optional(props.onOpen),
    clear: pointer.clear,
  });
  const hover = pointer.at === null ? null : describeAt(props, scene, pointer.at, size.width);
  return (
    <div class="lanes">
      <LanesBar props={props} measured={pointer.measured} view={view} full={full} setView={setView} box={scroller} />
      <div
        ref={scroller}
        class="lanes-scroll"
        role="application"
        aria-label={`${props.label}. Arrow keys move between blocks, W and S zoom, A and D move the view.`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
        {...pointer.handlers}
      >
        <div class="lanes-content" style={{ height: `${HEAD_PX + layout.pinnedHeight + layout.height}px` }}>
          <div class="lanes-canvas" style={{ height: `${size.height}px` }}>
            <Canvas draw={draw} size={size} />
            <Overlay
              scene={scene}
              at={pointer.at}
              measured={pointer.measured}
              drag={pointer.drag}
              width={size.width}
              exact={props.exact}
            />
          </div>
        </div>
      </div>
      <p class="hidden" role="status">
        {spoken(props, scene)}
      </p>
      {hover !== null && pointer.at && <Tooltip x={pointer.at.clientX} y={pointer.at.clientY} {...hover} />}
    </div>
  );
}

/** The block under the pointer, or the figures of the lane's curves at its time. */
function describeAt({ describe }: LanesProps, scene: Scene, at: Pointed, width: number): Described | null {
  const { lane, block } = at;
  if (block !== null) return describe(block, lane);
  if (lane.curves === undefined || at.x < scene.gutter) return null;
  const time = scaleOf(scene.view, scene.gutter, width).invert(at.x);
  const rows = lane.curves.flatMap((curve) => {
    const value = valueAt(curve, time);
    return value === null ? [] : [{ label: curve.label, value: curve.text(value) }];
  });
  return rows.length === 0 ? null : { title: `${lane.group} ${lane.label}`, rows };
}

function optional(onOpen: ((id: number) => void) | undefined): { onOpen?: (id: number) => void } {
  return onOpen === undefined ? {} : { onOpen };
}

/** Room for the longest label and its note. */
export function gutterOf(lanes: readonly Lane[]): number {
  const longest = lanes.reduce((most, { label, note }) => Math.max(most, label.length + (note?.length ?? 0)), 0);
  return Math.round(Math.min(Math.max(longest * 6.6 + 40, 84), 230));
}

/** Brings the selected block into sight when the selection changes elsewhere. */
function useReveal(scroller: { readonly current: HTMLElement | null }, scene: Scene, setView: (view: View) => void) {
  const { selected, lanes, layout, view, full } = scene;
  useEffect(() => {
    const found = selected < 0 ? null : findBlock(lanes, selected);
    const element = scroller.current;
    if (found === null || element === null) return;
    const [start = 0, end = 0] = [found.track.start[found.at], found.track.end[found.at]];
    if (end < view[0] || start > view[1]) {
      const middle = (start + end) / 2;
      const width = Math.max(view[1] - view[0], (end - start) * 1.5);
      setView(zoomed([middle - width / 2, middle + width / 2], 1, middle, full));
    }
    const row = layout.rows.find(({ lane }) => lane === found.lane);
    if (row === undefined) return;
    const seen = element.clientHeight - HEAD_PX - layout.pinnedHeight;
    if (row.top < element.scrollTop) element.scrollTop = row.top;
    else if (row.top + row.height > element.scrollTop + seen) element.scrollTop = row.top + row.height - seen;
  }, [selected, lanes]);
}

interface BarProps {
  readonly props: LanesProps;
  readonly measured: View | null;
  readonly view: View;
  readonly full: View;
  readonly setView: (view: View) => void;
  readonly box: { readonly current: HTMLElement | null };
}

function LanesBar({ props, measured, view, full, setView, box }: BarProps) {
  const middle = (view[0] + view[1]) / 2;
  const whole = view[0] <= full[0] && view[1] >= full[1];
  const buttons: [string, string, () => void][] = [
    ["−", "Zoom out (S)", () => setView(zoomed(view, 2, middle, full))],
    ["+", "Zoom in (W)", () => setView(zoomed(view, 0.5, middle, full))],
  ];
  return (
    <div class="lanes-bar">
      <Legend kinds={props.kinds} theme={props.theme} />
      <span class="spacer" />
      <span class={measured === null ? "muted lanes-measure" : "lanes-measure on"} role="status">
        {measured === null
          ? "drag: zoom · drag the axis: measure · Ctrl + wheel: zoom · click a label: pin"
          : `${measured[0].toLocaleString()} to ${measured[1].toLocaleString()}: ${props.exact(measured[1] - measured[0])}`}
      </span>
      {buttons.map(([text, title, run]) => (
        <button key={text} type="button" class="icon-button" title={title} aria-label={title} onClick={run}>
          {text}
        </button>
      ))}
      <button type="button" class="button" disabled={whole} onClick={() => setView(full)}>
        Whole
      </button>
      <button
        type="button"
        class="button"
        onClick={() => savePng(box.current?.querySelector("canvas") ?? null, props.fileName)}
      >
        PNG
      </button>
    </div>
  );
}

const MOST_KINDS = 10;

function Legend({ kinds, theme }: { kinds: readonly Kind[]; theme: Theme }) {
  const shown = kinds.filter(({ name }) => name !== "").slice(0, MOST_KINDS);
  return (
    <ul class="lanes-legend" aria-label="Legend">
      {shown.map((kind) => (
        <li key={kind.name}>
          <span class={kind.striped ? "swatch striped" : "swatch"} style={{ "--ink": kindCss(kind, theme) }} />
          {kind.name}
        </li>
      ))}
    </ul>
  );
}

interface OverlayProps {
  readonly scene: Scene;
  readonly at: Pointed | null;
  readonly measured: View | null;
  readonly drag: View | null;
  readonly width: number;
  readonly exact: (length: number) => string;
}

/** The crosshair, the stretch that is dragged, and the one that is measured. */
function Overlay({ scene, at, measured, drag, width, exact }: OverlayProps) {
  const x = scaleOf(scene.view, scene.gutter, width);
  const box = ([from, to]: View) => {
    const left = Math.max(x.at(from), scene.gutter);
    return { left: `${left}px`, width: `${Math.max(x.at(to) - left, 0)}px` };
  };
  return (
    <>
      {measured !== null && <div class="lanes-ruler" style={box(measured)} />}
      {drag !== null && <div class="lanes-drag" style={box(drag)} />}
      {at !== null && at.x > scene.gutter && (
        <div class="lanes-cross" style={{ left: `${at.x}px` }}>
          <span class={at.x > width / 2 ? "before" : ""}>{exact(Math.round(x.invert(at.x)))}</span>
        </div>
      )}
    </>
  );
}

function spoken({ describe }: LanesProps, { selected, lanes }: Scene): string {
  const found = selected < 0 ? null : findBlock(lanes, selected);
  if (found === null) return "";
  const { track, at, lane } = found;
  const block = { start: track.start[at] ?? 0, end: track.end[at] ?? 0, kind: track.kind[at] ?? 0, id: selected };
  const { title, rows } = describe(block, lane);
  return [`${lane.label}: ${title}`, ...rows.map(({ label, value }) => `${label} ${value}`)].join(", ");
}
