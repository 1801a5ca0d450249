/** One lane for each slot: its own stamps as blocks, under the envelope that they set. */

import { useMemo, useRef, useState } from "preact/hooks";
import { BLOCK_TEXT, blockRgb, css } from "../lib/colour";
import { linearTicks } from "../lib/plot";
import type { Theme } from "../lib/theme";
import { Canvas, FONT, token, useSize } from "../ui/canvas";
import { Tooltip } from "../ui/tooltip";
import { blocksOf, type DetailDocument, type LaneDocument, type Phase, slotNames } from "./document";

const LANE_PX = 13;
const ENVELOPE_PX = 24;
const AXIS_PX = 20;
const LABEL_PX = 92;

interface LanesProps {
  readonly detail: DetailDocument;
  readonly phases: readonly Phase[];
  readonly theme: Theme;
  readonly format: (cycles: number) => string;
}

interface Hover {
  readonly x: number;
  readonly y: number;
  readonly lane: LaneDocument;
}

export function Lanes(props: LanesProps) {
  const { detail, phases, theme, format } = props;
  const lanes = detail.lanes ?? [];
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const [hover, setHover] = useState<Hover | null>(null);
  const height = AXIS_PX + ENVELOPE_PX + lanes.length * LANE_PX;
  const size = useMemo(() => ({ width, height }), [width, height]);
  const draw = useMemo(
    () => (context: CanvasRenderingContext2D) => drawLanes(context, props, width),
    [detail, phases, theme, format, width],
  );
  const onMouseMove = (event: MouseEvent) => {
    const top = (event.currentTarget as Element).getBoundingClientRect().top;
    const lane = lanes[Math.floor((event.clientY - top - AXIS_PX - ENVELOPE_PX) / LANE_PX)];
    setHover(lane === undefined ? null : { x: event.clientX, y: event.clientY, lane });
  };
  return (
    <div class="lanes" ref={box}>
      <div
        role="img"
        aria-label={`Stamps of ${lanes.length} slots; the tables have the same figures`}
        onMouseMove={onMouseMove}
        onMouseLeave={() => setHover(null)}
      >
        <Canvas draw={draw} size={size} />
      </div>
      {hover && <LaneTooltip hover={hover} detail={detail} format={format} />}
    </div>
  );
}

function LaneTooltip({
  hover,
  detail,
  format,
}: {
  hover: Hover;
  detail: DetailDocument;
  format: (n: number) => string;
}) {
  const { lane } = hover;
  const boundaries = detail.boundaries ?? [];
  const rows = boundaries.flatMap(({ name, deciding_slots }, at) => {
    const stamp = lane.stamps[at];
    if (stamp === null || stamp === undefined) return [];
    return [{ label: deciding_slots.includes(lane.slot) ? `${name} (sets the boundary)` : name, value: format(stamp) }];
  });
  return <Tooltip x={hover.x} y={hover.y} title={slotNames(detail)(lane.slot)} rows={rows} />;
}

function drawLanes(context: CanvasRenderingContext2D, props: LanesProps, width: number): void {
  const lanes = props.detail.lanes ?? [];
  const stamps = lanes.flatMap((lane) => lane.stamps.filter((stamp) => stamp !== null));
  const low = stamps.reduce((least, stamp) => Math.min(least, stamp), 0);
  const high = stamps.reduce((most, stamp) => Math.max(most, stamp), low + 1);
  const at = (cycles: number) => LABEL_PX + ((cycles - low) / (high - low)) * (width - LABEL_PX - 8);
  context.font = FONT;
  context.textBaseline = "middle";
  drawAxis(context, props, [low, high], at, AXIS_PX + ENVELOPE_PX + lanes.length * LANE_PX);
  drawEnvelope(context, props, at);
  drawBlocks(context, props, at);
}

type At = (cycles: number) => number;

function drawAxis(
  context: CanvasRenderingContext2D,
  props: LanesProps,
  domain: [number, number],
  at: At,
  bottom: number,
) {
  context.strokeStyle = token("line");
  context.fillStyle = token("muted");
  context.textAlign = "center";
  context.beginPath();
  for (const tick of linearTicks(domain, 8)) {
    const x = Math.round(at(tick)) + 0.5;
    context.moveTo(x, AXIS_PX - 4);
    context.lineTo(x, bottom);
    context.fillText(props.format(tick), x, 8);
  }
  context.stroke();
}

/** The phases end to end, in order: what adds up to the task. */
function drawEnvelope(context: CanvasRenderingContext2D, { phases, theme }: LanesProps, at: At): void {
  context.textAlign = "right";
  context.fillStyle = token("fg");
  context.fillText("envelope", LABEL_PX - 8, AXIS_PX + ENVELOPE_PX / 2 - 2);
  context.textAlign = "left";
  let start = 0;
  for (const { name, cycles } of phases) {
    const [left, right] = [at(start), at(start + cycles)];
    context.fillStyle = css(blockRgb(name, theme));
    context.fillRect(left, AXIS_PX, Math.max(right - left - 1, 1), ENVELOPE_PX - 5);
    context.fillStyle = css(BLOCK_TEXT[theme]);
    if (right - left > context.measureText(name).width + 8)
      context.fillText(name, left + 4, AXIS_PX + ENVELOPE_PX / 2 - 2);
    start += cycles;
  }
}

function drawBlocks(context: CanvasRenderingContext2D, { detail, phases, theme }: LanesProps, at: At): void {
  const name = slotNames(detail);
  const fills = phases.map((phase) => css(blockRgb(phase.name, theme)));
  (detail.lanes ?? []).forEach((lane, row) => {
    const top = AXIS_PX + ENVELOPE_PX + row * LANE_PX;
    context.textAlign = "right";
    context.fillStyle = token("muted");
    context.fillText(name(lane.slot), LABEL_PX - 8, top + LANE_PX / 2, LABEL_PX - 12);
    for (const { from, to, phase } of blocksOf(lane)) {
      context.fillStyle = fills[phase] ?? token("block");
      context.fillRect(at(from), top + 1, Math.max(at(to) - at(from) - 0.5, 1), LANE_PX - 2);
    }
    markDeciding(context, detail, lane, top, at);
  });
}

/** A stamp that sets its boundary is marked by form, not by colour alone. */
function markDeciding(
  context: CanvasRenderingContext2D,
  detail: DetailDocument,
  lane: LaneDocument,
  top: number,
  at: At,
) {
  context.fillStyle = token("fg");
  detail.boundaries?.forEach(({ deciding_slots }, boundary) => {
    const stamp = lane.stamps[boundary];
    if (stamp === null || stamp === undefined || !deciding_slots.includes(lane.slot)) return;
    context.fillRect(at(stamp) - 1.5, top, 3, LANE_PX);
  });
}
