/** An icicle on a canvas: width is cost, children hang below their parent. Shares its selection with the table. */

import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { BLOCK_TEXT, blockRgb, css } from "../lib/colour";
import type { IcicleDocument, IcicleRect } from "../lib/documents";
import { hitRect, neighbour } from "../lib/rects";
import type { Theme } from "../lib/theme";
import { Canvas, type Draw, FONT, token, useSize } from "./canvas";
import { Tooltip } from "./tooltip";

const LEVEL_PX = 18;
const LEAST_LABEL_PX = 26;
/** How far the wheel turns for one level. */
const WHEEL_STEP = 60;

export interface IcicleProps {
  readonly document: IcicleDocument;
  readonly theme: Theme;
  readonly selected: number;
  readonly label: string;
  readonly matches: ((name: string) => boolean) | null;
  readonly shorten: (name: string) => string;
  /** What a rectangle is coloured by, of its colour and its name in the document. */
  readonly colour: (kind: string, name: string) => string;
  /** The fill of a rectangle, instead of one by its colour's name. */
  readonly fill?: (rect: IcicleRect) => string;
  readonly describe: (rect: IcicleRect) => {
    readonly title: string;
    readonly rows: readonly { readonly label: string; readonly value: string }[];
  };
  readonly onSelect: (id: number) => void;
  readonly onZoom: (id: number) => void;
  /** To the parent of the row that the icicle starts from, and to the whole tree. */
  readonly onOut: () => void;
  readonly onWhole: () => void;
}

export function Icicle(props: IcicleProps) {
  const { document: icicle, onZoom } = props;
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const [hover, setHover] = useState<{ rect: IcicleRect; x: number; y: number } | null>(null);
  const height = Math.max(icicle.depths * LEVEL_PX, 1);
  const canvasSize = useMemo(() => ({ width: size.width, height }), [size.width, height]);
  const draw = useIcicleDrawing(props, hover?.rect ?? null);

  const rectAt = (event: MouseEvent): IcicleRect | null => {
    const bounds = (event.currentTarget as Element).getBoundingClientRect();
    const depth = Math.floor((event.clientY - bounds.top) / LEVEL_PX);
    return hitRect(icicle.rects, depth, (event.clientX - bounds.left) / bounds.width);
  };
  const onMouseMove = (event: MouseEvent) => {
    const rect = rectAt(event);
    setHover(rect === null ? null : { rect, x: event.clientX, y: event.clientY });
  };
  const onClick = (event: MouseEvent) => {
    const rect = rectAt(event);
    if (rect !== null && rect[0] >= 0) onZoom(rect[0]);
  };
  const onWheel = useWheelLevels(props);
  return (
    <div
      ref={box}
      class="icicle"
      tabIndex={0}
      role="application"
      aria-label={props.label}
      onKeyDown={(event) => onKey(event, props)}
    >
      <div
        class="icicle-canvas"
        onMouseMove={onMouseMove}
        onMouseLeave={() => setHover(null)}
        onClick={onClick}
        onWheel={onWheel}
      >
        <Canvas draw={draw} size={canvasSize} />
      </div>
      {hover && <Tooltip x={hover.x} y={hover.y} {...props.describe(hover.rect)} />}
    </div>
  );
}

/** Ctrl and the wheel zoom by a level: into what is under the pointer, or out. */
function useWheelLevels({ document: { rects }, onZoom, onOut }: IcicleProps): (event: WheelEvent) => void {
  const turned = useRef(0);
  return (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    turned.current += event.deltaY;
    if (Math.abs(turned.current) < WHEEL_STEP) return;
    const inwards = turned.current < 0;
    turned.current = 0;
    if (!inwards) return onOut();
    const bounds = (event.currentTarget as Element).getBoundingClientRect();
    const child = hitRect(rects, 1, (event.clientX - bounds.left) / bounds.width);
    if (child !== null && child[0] >= 0) onZoom(child[0]);
  };
}

function onKey(event: KeyboardEvent, { document: { rects }, selected, onSelect, onZoom, onOut, onWhole }: IcicleProps) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" || event.key === "+" || event.key === "=") onZoom(selected);
  else if (event.key === "-") onOut();
  else if (event.key === "0" || event.key === "Escape") onWhole();
  else {
    const next = neighbour(rects, selected, event.key);
    if (next === null) return;
    onSelect(next);
  }
  event.preventDefault();
  event.stopPropagation();
}

function useIcicleDrawing(props: IcicleProps, hover: IcicleRect | null): Draw {
  const { document: icicle, theme, selected, matches, shorten, colour, fill: own } = props;
  return useCallback(
    (context, size) => {
      const text = css(BLOCK_TEXT[theme]);
      const plain = token("block");
      const fill = blockFills(theme);
      const found = matches === null ? null : icicle.names.map(matches);
      context.font = FONT;
      context.textBaseline = "middle";
      for (const rect of icicle.rects) {
        const [id, depth, x0, x1, name, color] = rect;
        const left = x0 * size.width;
        const width = (x1 - x0) * size.width;
        const dim = found !== null && found[name] !== true;
        context.globalAlpha = dim ? 0.28 : 1;
        context.fillStyle =
          id < 0 ? plain : own ? own(rect) : fill(colour(icicle.colors[color] ?? "", icicle.names[name] ?? ""));
        context.fillRect(left, depth * LEVEL_PX, Math.max(width - 1, 0.5), LEVEL_PX - 1);
        if (width < LEAST_LABEL_PX) continue;
        context.globalAlpha = dim ? 0.6 : 1;
        context.fillStyle = text;
        const label = id < 0 ? `(${rect[6]} others)` : shorten(icicle.names[name] ?? "");
        context.fillText(fitted(context, label, width - 8), left + 4, depth * LEVEL_PX + LEVEL_PX / 2);
      }
      context.globalAlpha = 1;
      if (hover !== null) outline(context, size.width, hover, token("muted"), 1);
      const chosen = selected < 0 ? undefined : icicle.rects.find((rect) => rect[0] === selected);
      if (chosen !== undefined) outline(context, size.width, chosen, token("accent"), 2);
    },
    [icicle, theme, selected, matches, shorten, colour, own, hover],
  );
}

function outline(context: CanvasRenderingContext2D, width: number, rect: IcicleRect, colour: string, line: number) {
  const [, depth, x0, x1] = rect;
  context.strokeStyle = colour;
  context.lineWidth = line;
  const inset = line / 2;
  const wide = Math.max((x1 - x0) * width - 1 - line, 0);
  context.strokeRect(x0 * width + inset, depth * LEVEL_PX + inset, wide, LEVEL_PX - 1 - line);
}

/** Fills by name, each worked out once. */
function blockFills(theme: Theme): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    const fill = known.get(name) ?? css(blockRgb(name, theme));
    known.set(name, fill);
    return fill;
  };
}

/** A text cut to a width. */
function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  const full = context.measureText(text).width;
  if (full <= width) return text;
  const characters = Math.floor((text.length * width) / full) - 1;
  return characters < 3 ? "" : shortened(text, characters);
}

/** A text of at most so many characters, its middle left out: both ends of a name tell it apart. */
export function shortened(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const head = Math.ceil((characters - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (characters - 1 - head))}`;
}
