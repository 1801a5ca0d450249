/** A line chart: crosshair, zoom by drag, double-click to reset. One colour for each line's owner. */

import { useMemo, useRef, useState } from "preact/hooks";
import { type Domain, linearScale, logScale, nearestPoint, xDomain, yDomain } from "../lib/plot";
import type { Theme } from "../lib/theme";
import { Canvas, type Size, useSize } from "./canvas";
import { drawChart, MARGIN_RIGHT } from "./chart_drawing";
import type { Frame, Line, Span } from "./chart_lines";
import { Tooltip } from "./tooltip";

export interface ChartProps {
  readonly lines: readonly Line[];
  readonly spans: readonly Span[];
  readonly theme: Theme;
  readonly label: string;
  readonly log: boolean;
  readonly ticksX: (domain: Domain, count: number) => number[];
  readonly formatX: (value: number) => string;
  readonly formatY: (value: number) => string;
  readonly zoom: Domain | null;
  readonly onZoom: (zoom: Domain | null) => void;
}

const MARGIN = { left: 58, right: MARGIN_RIGHT, top: 10, bottom: 24 };
const MAX_IN_TOOLTIP = 8;
const SHORTEST_DRAG_PX = 4;
/** How near the pointer must be to a short span. */
const NEAR_PX = 3;

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const frame = useMemo(
    () => frameOf(size, props.lines, props.zoom, props.log),
    [size, props.lines, props.zoom, props.log],
  );
  const { lines, spans, theme, ticksX, formatX, formatY, log } = props;
  const draw = useMemo(
    () => (context: CanvasRenderingContext2D) =>
      drawChart(context, { frame, lines, spans, ticksX, formatX, formatY, log }),
    [frame, lines, spans, ticksX, formatX, formatY, log, theme],
  );
  const pointer = usePointer(frame, props.onZoom);
  return (
    <div
      ref={box}
      class="chart"
      role="application"
      aria-label={props.label}
      tabIndex={0}
      onMouseDown={pointer.onMouseDown}
      onMouseMove={pointer.onMouseMove}
      onMouseUp={pointer.onMouseUp}
      onMouseLeave={pointer.onMouseLeave}
      onDblClick={() => props.onZoom(null)}
      onKeyDown={(event) => keyZoom(event, frame, props.onZoom)}
    >
      <Canvas draw={draw} size={size} />
      <Overlay props={props} frame={frame} pointer={pointer.at} dragFrom={pointer.dragFrom} />
    </div>
  );
}

function frameOf(size: Size, lines: readonly Line[], zoom: Domain | null, log: boolean): Frame {
  const x = zoom ?? xDomain(lines);
  const y = yDomain(lines, x, log);
  const bottom = Math.max(size.height - MARGIN.bottom, MARGIN.top + 1);
  const right = Math.max(size.width - MARGIN.right, MARGIN.left + 1);
  return {
    x: linearScale(x, MARGIN.left, right),
    y: (log ? logScale : linearScale)(y, bottom, MARGIN.top),
  };
}

interface Place {
  /** Within the chart, and within the window. */
  readonly x: number;
  readonly y: number;
  readonly clientX: number;
  readonly clientY: number;
}

/** Where the pointer is, and from where it drags. */
function usePointer(frame: Frame, onZoom: ChartProps["onZoom"]) {
  const [at, setAt] = useState<Place | null>(null);
  const [dragFrom, setDragFrom] = useState<number | null>(null);
  const place = (event: MouseEvent): Place => {
    const bounds = (event.currentTarget as Element).getBoundingClientRect();
    const { clientX, clientY } = event;
    return { x: clientX - bounds.left, y: clientY - bounds.top, clientX, clientY };
  };
  const onMouseUp = (event: MouseEvent) => {
    const { x } = place(event);
    if (dragFrom !== null && Math.abs(x - dragFrom) >= SHORTEST_DRAG_PX) {
      onZoom([frame.x.invert(Math.min(x, dragFrom)), frame.x.invert(Math.max(x, dragFrom))]);
    }
    setDragFrom(null);
  };
  return {
    at,
    dragFrom,
    onMouseUp,
    onMouseDown: (event: MouseEvent) => {
      if (event.button === 0) setDragFrom(place(event).x);
    },
    onMouseMove: (event: MouseEvent) => setAt(place(event)),
    onMouseLeave: () => {
      setAt(null);
      setDragFrom(null);
    },
  };
}

/** Plus and minus zoom around the middle, the arrows move. */
function keyZoom(event: KeyboardEvent, { x }: Frame, onZoom: ChartProps["onZoom"]): void {
  const [low, high] = x.domain;
  const width = high - low;
  const zooms: Record<string, Domain> = {
    "+": [low + width / 4, high - width / 4],
    "-": [low - width / 2, high + width / 2],
    ArrowLeft: [low - width / 5, high - width / 5],
    ArrowRight: [low + width / 5, high + width / 5],
  };
  const zoom = zooms[event.key];
  if (zoom === undefined) return;
  onZoom(zoom);
  event.preventDefault();
  event.stopPropagation();
}

interface OverlayProps {
  readonly props: ChartProps;
  readonly frame: Frame;
  readonly pointer: Place | null;
  readonly dragFrom: number | null;
}

/** The crosshair, the dragged stretch and the values near the pointer. */
function Overlay({ props, frame, pointer, dragFrom }: OverlayProps) {
  if (pointer === null || pointer.x < MARGIN.left) return null;
  const value = frame.x.invert(pointer.x);
  const near = props.lines
    .map((line) => ({ line, point: nearestPoint(line, value) }))
    .filter((one): one is { line: Line; point: { x: number; y: number } } => one.point !== null)
    .sort((p, q) => q.point.y - p.point.y);
  const first = near[0];
  if (first === undefined) return null;
  const closest = near.reduce((p, q) => (Math.abs(q.point.x - value) < Math.abs(p.point.x - value) ? q : p), first);
  const cross = frame.x.at(closest.point.x);
  const rows = near.slice(0, MAX_IN_TOOLTIP).map(({ line, point }) => ({
    colour: line.colour,
    label: line.label,
    value: props.formatY(point.y),
  }));
  const reach = NEAR_PX / Math.max(Math.abs(frame.x.at(1) - frame.x.at(0)), Number.MIN_VALUE);
  const inside = props.spans.filter(({ from, to }) => from - reach <= value && value <= to + reach);
  rows.push(...inside.map(({ label, colour }) => ({ label, colour, value: "" })));
  const more = near.length - MAX_IN_TOOLTIP;
  return (
    <>
      {dragFrom !== null && (
        <div
          class="chart-drag"
          style={{ left: `${Math.min(dragFrom, pointer.x)}px`, width: `${Math.abs(pointer.x - dragFrom)}px` }}
        />
      )}
      <div class="chart-cross" style={{ left: `${cross}px` }} />
      {near.slice(0, MAX_IN_TOOLTIP).map(({ line, point }) => (
        <div
          key={line.label}
          class="chart-dot"
          style={{ left: `${frame.x.at(point.x)}px`, top: `${frame.y.at(point.y)}px`, background: line.colour }}
        />
      ))}
      <Tooltip
        x={pointer.clientX}
        y={pointer.clientY}
        title={props.formatX(closest.point.x)}
        rows={rows}
        note={more > 0 ? `${more} more` : ""}
      />
    </>
  );
}
