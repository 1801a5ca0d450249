/** Draws a line chart: grid, spans, lines. The background too, so that a saved picture is complete. */

import { type Domain, linearTicks, logTicks, lowerBound } from "../lib/plot";
import { FONT, token } from "./canvas";
import type { Frame, Line, Span } from "./chart_lines";

interface Drawn {
  readonly frame: Frame;
  readonly lines: readonly Line[];
  readonly spans: readonly Span[];
  readonly ticksX: (domain: Domain, count: number) => number[];
  readonly formatX: (value: number) => string;
  readonly formatY: (value: number) => string;
  readonly log: boolean;
}

const SPACE_X_PX = 95;
const SPACE_Y_PX = 44;
/** The share of the chart's width from which a span is shaded over its height. */
const LEAST_SPAN = 0.008;
/** What the chart leaves free on its right. */
export const MARGIN_RIGHT = 14;
/** Lines with fewer points show each of them. */
const FEW_POINTS = 40;

interface Edges {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export function drawChart(context: CanvasRenderingContext2D, drawn: Drawn): void {
  const { frame, lines, spans } = drawn;
  const edges = edgesOf(frame);
  context.fillStyle = token("bg");
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
  drawAxes(context, drawn, edges);
  context.save();
  context.beginPath();
  context.rect(edges.left, edges.top - 4, edges.right - edges.left, edges.bottom - edges.top + 5);
  context.clip();
  for (const span of spans) drawSpan(context, span, frame, edges);
  for (const line of lines) drawLine(context, line, frame);
  context.restore();
}

function edgesOf({ x, y }: Frame): Edges {
  return {
    left: x.at(x.domain[0]),
    right: x.at(x.domain[1]),
    top: y.at(y.domain[1]),
    bottom: y.at(y.domain[0]),
  };
}

function drawAxes(context: CanvasRenderingContext2D, drawn: Drawn, { left, right, top, bottom }: Edges): void {
  const { frame, ticksX, formatX, formatY, log } = drawn;
  context.font = FONT;
  context.strokeStyle = token("line");
  context.fillStyle = token("muted");
  context.lineWidth = 1;
  context.beginPath();
  context.textAlign = "right";
  context.textBaseline = "middle";
  const ticksY = log ? logTicks(frame.y.domain) : linearTicks(frame.y.domain, (bottom - top) / SPACE_Y_PX);
  for (const tick of ticksY) {
    const y = Math.round(frame.y.at(tick)) + 0.5;
    context.moveTo(left, y);
    context.lineTo(right, y);
    context.fillText(formatY(tick), left - 8, y);
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of ticksX(frame.x.domain, (right - left) / SPACE_X_PX)) {
    const x = Math.round(frame.x.at(tick)) + 0.5;
    context.moveTo(x, bottom);
    context.lineTo(x, bottom + 4);
    // Text at the edge stays within the picture.
    const text = formatX(tick);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(x, right + MARGIN_RIGHT - half), bottom + 7);
  }
  context.stroke();
}

function drawSpan(context: CanvasRenderingContext2D, span: Span, { x }: Frame, edges: Edges): void {
  const left = x.at(span.from);
  const width = Math.max(x.at(span.to) - left, 2);
  if (left > edges.right || left + width < edges.left) return;
  context.fillStyle = span.colour;
  if (span.line) context.fillRect(Math.round(left), edges.top, 1, edges.bottom - edges.top);
  // Many short spans side by side would hide the lines: they are ticks on top only.
  if (width >= LEAST_SPAN * (edges.right - edges.left)) {
    context.globalAlpha = 0.18;
    context.fillRect(left, edges.top, width, edges.bottom - edges.top);
  }
  context.globalAlpha = 0.9;
  context.fillRect(left, edges.top - 4, width, 4);
  context.globalAlpha = 1;
}

function drawLine(context: CanvasRenderingContext2D, line: Line, { x, y }: Frame): void {
  const first = Math.max(lowerBound(line.x, x.domain[0]) - 1, 0);
  const stop = Math.min(lowerBound(line.x, x.domain[1]) + 1, line.x.length);
  const dots = stop - first < FEW_POINTS && !line.dashed;
  context.strokeStyle = line.colour;
  context.fillStyle = line.colour;
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  context.setLineDash(line.dashed ? [5, 4] : []);
  context.beginPath();
  let drawing = false;
  for (let at = first; at < stop; at++) {
    const value = line.y[at];
    if (value === null || value === undefined) {
      drawing = false;
      continue;
    }
    const [px, py] = [x.at(line.x[at] ?? 0), y.at(value)];
    if (drawing) context.lineTo(px, py);
    else context.moveTo(px, py);
    if (dots) context.fillRect(px - 2, py - 2, 4, 4);
    drawing = true;
  }
  context.stroke();
  context.setLineDash([]);
}
