/** What lengths of time are divided into: the same words and colours wherever they are shown. */

import { css, hueRgb } from "./colour";
import type { Theme } from "./theme";

export interface Part {
  readonly title: string;
  /** Degrees; null for what is left over. */
  readonly hue: number | null;
}

/** What a step's time is divided into, in the order in which it is claimed. */
export const CATEGORIES: Readonly<Record<string, Part>> = {
  kernel: { title: "kernel", hue: 250 },
  memcpy: { title: "memcpy", hue: 195 },
  memset: { title: "memset", hue: 165 },
  communication: { title: "communication", hue: 35 },
  runtime: { title: "runtime", hue: 305 },
  data_loader: { title: "data loader", hue: 80 },
  cpu: { title: "CPU", hue: 140 },
  other: { title: "other", hue: null },
};

export const RANK_PARTS: Readonly<Record<string, Part>> = {
  computation: { title: "computation", hue: 250 },
  overlap: { title: "both", hue: 305 },
  communication: { title: "communication", hue: 35 },
  other: { title: "other", hue: null },
};

export function partCss({ hue }: Part, theme: Theme): string {
  return hue === null ? "var(--block)" : css(hueRgb(hue, theme));
}
