/** Draws a lane timeline: a map of the whole, the time axis, pinned lanes, lanes, marks and arrows. */

import { type Block, type Lane, type Row, visitBlocks } from "../lib/lanes";
import { linearTicks } from "../lib/plot";
import { tickLabels } from "../lib/stamps";
import { FONT, type Size } from "./canvas";
import { drawArrows, drawCurves } from "./lanes_lines";
import { AXIS_PX, type Brush, HEAD_PX, MAP_PX, paintOf, RIGHT_PX, type Scene, scaleOf } from "./lanes_scene";

const TICK_SPACE_PX = 110;
const LEAST_TEXT_PX = 14;
/** On thin lanes text over stripes is only noise. */
const LEAST_STRIPED_TEXT_PX = 18;

export function drawLanes(context: CanvasRenderingContext2D, size: Size, scene: Scene): void {
  const x = scaleOf(scene.view, scene.gutter, size.width);
  const brush: Brush = { context, scene, x, size, paint: paintOf(context, scene) };
  const { layout } = scene;
  const below = HEAD_PX + layout.pinnedHeight;
  context.font = FONT;
  context.textBaseline = "middle";
  context.fillStyle = brush.paint.bg;
  context.fillRect(0, 0, size.width, size.height);
  drawGrid(brush);
  clipped(brush, below, size.height, () => drawRows(brush, layout.rows, below - scene.scrollTop));
  if (layout.pinned.length > 0) drawPinned(brush, below);
  clipped(brush, HEAD_PX, size.height, () => drawArrows(brush, below));
  drawAxis(brush);
  drawMap(brush);
}

function clipped({ context, size }: Brush, top: number, bottom: number, draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(0, top, size.width, Math.max(bottom - top, 0));
  context.clip();
  draw();
  context.restore();
}

function ticksOf({ scene, x }: Brush): readonly { readonly at: number; readonly label: string }[] {
  const [from, to] = scene.view;
  const count = (x.at(to) - x.at(from)) / TICK_SPACE_PX;
  const unit = scene.ns || 1;
  const ticks = linearTicks([from * unit, to * unit], count, scene.ns === 0).map((tick) => tick / unit);
  const labels = tickLabels(ticks, scene.ns);
  return ticks.map((at, k) => ({ at, label: labels[k] ?? "" }));
}

function drawGrid(brush: Brush): void {
  const { context, x, size, paint } = brush;
  context.strokeStyle = paint.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const { at } of ticksOf(brush)) {
    const left = Math.round(x.at(at)) + 0.5;
    context.moveTo(left, HEAD_PX);
    context.lineTo(left, size.height);
  }
  context.globalAlpha = 0.6;
  context.stroke();
  context.globalAlpha = 1;
}

function drawAxis(brush: Brush): void {
  const { context, scene, x, size, paint } = brush;
  context.fillStyle = paint.bg;
  context.fillRect(0, MAP_PX, size.width, AXIS_PX);
  context.strokeStyle = paint.line;
  context.fillStyle = paint.muted;
  context.textAlign = "left";
  context.beginPath();
  context.moveTo(0, HEAD_PX - 0.5);
  context.lineTo(size.width, HEAD_PX - 0.5);
  for (const { at, label } of ticksOf(brush)) {
    const left = Math.round(x.at(at)) + 0.5;
    context.moveTo(left, HEAD_PX - 8);
    context.lineTo(left, HEAD_PX);
    if (left + context.measureText(label).width < size.width && left >= scene.gutter)
      context.fillText(label, left + 4, MAP_PX + AXIS_PX / 2 + 1);
  }
  context.stroke();
}

/** The whole in one line, with the part in view framed. */
function drawMap({ context, scene, size, paint }: Brush): void {
  const whole = scaleOf(scene.full, scene.gutter, size.width);
  const height = MAP_PX - 4;
  context.fillStyle = paint.raised;
  context.fillRect(scene.gutter, 1, size.width - RIGHT_PX - scene.gutter, height);
  context.fillStyle = paint.muted;
  context.globalAlpha = 0.5;
  const step = (size.width - RIGHT_PX - scene.gutter) / Math.max(scene.map.length, 1);
  scene.map.forEach((level, at) => {
    const tall = Math.ceil(level * (height - 2));
    context.fillRect(scene.gutter + at * step, 1 + height - tall, step + 0.3, tall);
  });
  context.globalAlpha = 1;
  const [left, right] = [whole.at(scene.view[0]), whole.at(scene.view[1])];
  context.strokeStyle = paint.accent;
  context.lineWidth = 1.5;
  context.strokeRect(left + 0.5, 1.5, Math.max(right - left - 1, 2), height - 1);
  context.lineWidth = 1;
}

function drawPinned(brush: Brush, below: number): void {
  const { context, scene, size, paint } = brush;
  clipped(brush, HEAD_PX, below, () => {
    context.fillStyle = paint.bg;
    context.fillRect(0, HEAD_PX, size.width, scene.layout.pinnedHeight);
    drawRows(brush, scene.layout.pinned, HEAD_PX);
  });
  context.strokeStyle = paint.muted;
  context.beginPath();
  context.moveTo(0, below - 0.5);
  context.lineTo(size.width, below - 0.5);
  context.stroke();
}

function drawRows(brush: Brush, rows: readonly Row[], shift: number): void {
  for (const row of rows) {
    const top = row.top + shift;
    if (top > brush.size.height || top + row.height < HEAD_PX) continue;
    if (row.lane === null) drawGroup(brush, row, top);
    else drawLane(brush, row.lane, top, row.height);
  }
}

function drawGroup({ context, scene, size, paint }: Brush, { group, height }: Row, top: number): void {
  context.fillStyle = paint.raised;
  context.fillRect(0, top, size.width, height - 1);
  context.fillStyle = paint.muted;
  context.textAlign = "left";
  context.font = `600 ${FONT}`;
  context.fillText(group, 12, top + height / 2, Math.max(size.width - 24, scene.gutter));
  context.font = FONT;
}

function drawLane(brush: Brush, lane: Lane, top: number, height: number): void {
  const { context, scene, x, size } = brush;
  const trackPx = height / Math.max(lane.tracks.length, 1);
  context.save();
  context.beginPath();
  context.rect(scene.gutter, top, size.width - RIGHT_PX - scene.gutter, height);
  context.clip();
  const unitsPerPixel = 1 / Math.max(x.at(1) - x.at(0), 1e-300);
  lane.tracks.forEach((track, at) => {
    const y = top + at * trackPx;
    visitBlocks(track, scene.view, unitsPerPixel, (block, merged) => drawBlock(brush, block, merged, y, trackPx));
  });
  if (lane.curves !== undefined) drawCurves(brush, lane.curves, top, height);
  drawMarks(brush, lane, top, height);
  context.restore();
  drawLabel(brush, lane, top, height);
}

function drawBlock({ context, scene, x, paint }: Brush, block: Block, merged: boolean, y: number, px: number): void {
  const left = Math.max(x.at(block.start), scene.gutter - 2);
  const right = Math.min(x.at(block.end), scene.gutter + 20_000);
  const width = Math.max(right - left - (right - left > 3 ? 1 : 0), 1);
  const chosen = block.id >= 0 && block.id === scene.selected;
  context.globalAlpha = chosen || scene.lit === null || scene.lit(block) ? 1 : 0.25;
  context.fillStyle = paint.fills[block.kind] ?? paint.raised;
  context.fillRect(left, y + 1, width, px - 2);
  if (paint.outlined) {
    context.strokeStyle = paint.fg;
    context.strokeRect(left + 0.5, y + 1.5, Math.max(width - 1, 0), px - 3);
  }
  if (!merged && width > LEAST_TEXT_PX) blockText({ context, scene, paint }, block, [left, y, width, px]);
  context.globalAlpha = 1;
  if (!chosen) return;
  context.strokeStyle = paint.accent;
  context.lineWidth = 2;
  context.strokeRect(left + 1, y + 2, Math.max(width - 2, 1), px - 4);
  context.lineWidth = 1;
}

type Pen = Pick<Brush, "context" | "scene" | "paint">;
/** Left, top, width and height. */
type Box = readonly [number, number, number, number];

function blockText({ context, scene, paint }: Pen, block: Block, [left, top, width, tall]: Box): void {
  const y = top + tall / 2 + 0.5;
  const { name: word = "", striped = false } = scene.kinds[block.kind] ?? {};
  const name = word || (scene.text?.(block) ?? "");
  const wide = context.measureText(name).width;
  if (wide > width - 6 || (striped && tall < LEAST_STRIPED_TEXT_PX)) return;
  if (striped) {
    context.fillStyle = paint.bg;
    context.fillRect(left + 3, y - 6, wide + 4, 12);
  }
  context.fillStyle = striped ? paint.fg : paint.text;
  context.textAlign = "left";
  context.fillText(name, left + 5, y);
}

/** A moment is marked by a dark bar and its name, so that it shows without colour. */
function drawMarks({ context, scene, x, size, paint }: Brush, lane: Lane, top: number, height: number): void {
  context.textAlign = "left";
  context.font = `700 ${FONT}`;
  for (const { lane: key, at, text } of scene.marks) {
    if (key !== lane.key) continue;
    const left = x.at(at);
    const wide = context.measureText(text).width + 6;
    const flag = left + wide > size.width - RIGHT_PX ? left - wide + 1.5 : left - 1.5;
    context.fillStyle = paint.fg;
    context.fillRect(left - 1.5, top, 3, height);
    context.fillRect(flag, top + 1, wide, height - 2);
    context.fillStyle = paint.bg;
    context.fillText(text, flag + 3, top + height / 2 + 0.5);
  }
  context.font = FONT;
}

function drawLabel({ context, scene, paint }: Brush, lane: Lane, top: number, height: number): void {
  const middle = top + Math.min(height, 20) / 2;
  const note = lane.note === undefined ? 0 : context.measureText(lane.note).width;
  context.fillStyle = paint.fg;
  context.textAlign = "left";
  context.fillText(lane.label, 12, middle, scene.gutter - note - 26);
  if (lane.note === undefined) return;
  context.fillStyle = paint.muted;
  context.textAlign = "right";
  context.fillText(lane.note, scene.gutter - 8, middle);
}
