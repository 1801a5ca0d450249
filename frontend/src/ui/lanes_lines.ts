/** The lines of a lane timeline: curves on their lanes, and arrows from block to block. */

import { css, lineRgb } from "../lib/colour";
import { type Curve, mostOf } from "../lib/curves";
import type { Row } from "../lib/lanes";
import { lowerBound } from "../lib/plot";
import { type Brush, type End, HEAD_PX, type Scene } from "./lanes_scene";

const DASHES = [4, 3];
const FILL_ALPHA = 0.35;
const ABOVE_PX = 3;

/** Curves from the ground of their lane up, to the one scale of all. */
export function drawCurves(brush: Brush, curves: readonly Curve[], top: number, height: number): void {
  const most = mostOf(curves);
  if (most <= 0) return;
  const ground = top + height - 1;
  const y = (value: number) => ground - (value / most) * (height - ABOVE_PX);
  for (const curve of curves) drawCurve(brush, curve, y, ground);
  const { context, paint, size } = brush;
  context.strokeStyle = paint.line;
  context.beginPath();
  context.moveTo(0, ground + 0.5);
  context.lineTo(size.width, ground + 0.5);
  context.stroke();
}

function drawCurve({ context, scene, x, paint }: Brush, curve: Curve, y: (value: number) => number, ground: number) {
  const { start, end, value } = curve;
  const [from, to] = scene.view;
  const line = new Path2D();
  const area = new Path2D();
  let last: number | null = null;
  for (let at = lowerBound(end, from); at < start.length && (start[at] ?? to) <= to; at++) {
    const [left, right, here] = [x.at(start[at] ?? 0), x.at(end[at] ?? 0), value[at] ?? null];
    if (here !== null) {
      if (last === null) line.moveTo(left, y(here));
      else line.lineTo(left, y(here));
      line.lineTo(right, y(here));
      area.rect(left, y(here), right - left, ground - y(here));
    }
    last = here;
  }
  context.strokeStyle = context.fillStyle = paint.outlined ? paint.fg : css(lineRgb(curve.ink, scene.theme));
  context.globalAlpha = FILL_ALPHA;
  if (!curve.dashed) context.fill(area);
  context.globalAlpha = 1;
  context.setLineDash(curve.dashed ? DASHES : []);
  context.stroke(line);
  context.setLineDash([]);
}

/** Where the end of an arrow is, on the canvas. */
function endY({ layout, scrollTop }: Scene, { lane: key, track }: End, below: number): number | null {
  const middle = ({ top, height, lane }: Row) =>
    top + (track === undefined ? height / 2 : ((track + 0.5) * height) / Math.max(lane?.tracks.length ?? 1, 1));
  const pinned = layout.pinned.find(({ lane }) => lane?.key === key);
  if (pinned !== undefined) return HEAD_PX + middle(pinned);
  const row = layout.rows.find(({ lane }) => lane?.key === key);
  return row === undefined ? null : below - scrollTop + middle(row);
}

export function drawArrows({ context, scene, x, paint }: Brush, below: number): void {
  context.lineWidth = 1.4;
  for (const { from, to, dashed } of scene.arrows) {
    const [y0, y1] = [endY(scene, from, below), endY(scene, to, below)];
    if (y0 === null || y1 === null) continue;
    const [x0, x1] = [x.at(from.at), x.at(to.at)];
    const bend = Math.max(Math.abs(x1 - x0) / 2, 18);
    context.strokeStyle = context.fillStyle = dashed ? paint.accent : paint.fg;
    context.setLineDash(dashed ? DASHES : []);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 7, y1 - 3.5);
    context.lineTo(x1 - 7, y1 + 3.5);
    context.fill();
  }
  context.lineWidth = 1;
}
