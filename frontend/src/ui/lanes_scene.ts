/** What a lane timeline shows, the scale that it is shown at, and its colours. */

import { BLOCK_TEXT, blockRgb, css, hueRgb } from "../lib/colour";
import type { Block, Lane, Layout, View } from "../lib/lanes";
import { linearScale, type Scale } from "../lib/plot";
import type { Theme } from "../lib/theme";
import { type Size, token } from "./canvas";

/** What a block is. */
export interface Kind {
  readonly name: string;
  /** Degrees; else a colour by name. */
  readonly hue?: number;
  /** Striped on no ground: time in which nothing of its own runs. */
  readonly striped?: boolean;
}

/** A moment on a lane that is to be told by form and text. */
export interface Mark {
  readonly lane: string;
  readonly at: number;
  readonly text: string;
}

export interface End {
  readonly lane: string;
  readonly at: number;
  /** The track of the lane; its middle where none is given. */
  readonly track?: number;
}

/** What waits for what. */
export interface Arrow {
  readonly from: End;
  readonly to: End;
  /** Another kind than the plain ones, in dashes. */
  readonly dashed?: boolean;
}

export interface Scene {
  readonly lanes: readonly Lane[];
  readonly layout: Layout;
  readonly kinds: readonly Kind[];
  readonly marks: readonly Mark[];
  readonly arrows: readonly Arrow[];
  readonly view: View;
  readonly full: View;
  /** How full each part of the whole is. */
  readonly map: readonly number[];
  readonly scrollTop: number;
  readonly gutter: number;
  /** The length of a unit in ns; 0 where time is shown in units. */
  readonly ns: number;
  readonly theme: Theme;
  readonly selected: number;
  readonly lit: ((block: Block) => boolean) | null;
  /** What stands on blocks of a kind without a name. */
  readonly text: ((block: Block) => string) | null;
}

export const MAP_PX = 18;
export const AXIS_PX = 22;
export const HEAD_PX = MAP_PX + AXIS_PX;
export const RIGHT_PX = 10;

export function scaleOf(view: View, gutter: number, width: number): Scale {
  return linearScale(view, gutter, Math.max(width - RIGHT_PX, gutter + 1));
}

/** The fill of a kind's blocks. */
export function kindCss({ name, hue }: Kind, theme: Theme): string {
  return css(hue === undefined ? blockRgb(name, theme) : hueRgb(hue, theme));
}

/** The colours of a theme, each asked for once. */
export interface Paint {
  readonly bg: string;
  readonly fg: string;
  readonly muted: string;
  readonly line: string;
  readonly raised: string;
  readonly accent: string;
  readonly text: string;
  /** Where colours are the user's, blocks are told by their outline. */
  readonly outlined: boolean;
  readonly fills: readonly (string | CanvasPattern)[];
}

/** What lanes are drawn with. */
export interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly scene: Scene;
  readonly x: Scale;
  readonly size: Size;
  readonly paint: Paint;
}

export function paintOf(context: CanvasRenderingContext2D, { kinds, theme }: Scene): Paint {
  const forced = window.matchMedia("(forced-colors: active)").matches;
  const [bg, fg] = [token("bg"), token("fg")];
  const colour = (kind: Kind) => (forced ? bg : kindCss(kind, theme));
  return {
    bg,
    fg,
    muted: token("muted"),
    line: token("line"),
    raised: token("raised"),
    accent: token("accent"),
    text: forced ? fg : css(BLOCK_TEXT[theme]),
    outlined: forced,
    fills: kinds.map((kind) => (kind.striped ? stripes(context, forced ? fg : colour(kind), bg) : colour(kind))),
  };
}

/** Thin diagonal lines, seamless from tile to tile. */
function stripes(context: CanvasRenderingContext2D, ink: string, ground: string): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  if (pen === null) return ink;
  pen.fillStyle = ground;
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = ink;
  pen.lineWidth = 1.6;
  pen.beginPath();
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat") ?? ink;
}
