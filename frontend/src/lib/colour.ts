/** Colours by a stable hash of the name, so that a name looks alike in every run, on every reload. */

import type { Theme } from "./theme";

/** FNV-1a over UTF-16 units, with a last mix so that names that differ at the end spread. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** sRGB of a colour in OKLCH, where equal lightness looks equally light at each hue. Clipped to the gamut. */
export function oklch(lightness: number, chroma: number, hueDegrees: number): [number, number, number] {
  const hue = (hueDegrees * Math.PI) / 180;
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function encode(linear: number): number {
  const clipped = Math.min(Math.max(linear, 0), 1);
  const value = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
  return Math.round(value * 255);
}

/** Contrast of two sRGB colours as WCAG 2 defines it, from 1 to 21. */
export function contrast(one: readonly number[], other: readonly number[]): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((p, q) => q - p);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(rgb: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = rgb.map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function css(rgb: readonly number[]): string {
  return `rgb(${rgb.join(" ")})`;
}

const HUES = 36;
const BLOCK = { light: [0.84, 0.085], dark: [0.43, 0.075] } as const;
export const BLOCK_TEXT: Record<Theme, [number, number, number]> = { light: [26, 28, 31], dark: [240, 242, 245] };

/** The fill of a block that carries text in BLOCK_TEXT. */
export function blockRgb(name: string, theme: Theme): [number, number, number] {
  const hash = hashText(name);
  const [lightness, chroma] = BLOCK[theme];
  const step = ((hash >>> 8) % 3) * 0.018 - 0.018;
  return oklch(lightness + step, chroma, (hash % HUES) * (360 / HUES));
}

/** The fill of a block that is told by its hue, in degrees. */
export function hueRgb(hue: number, theme: Theme): [number, number, number] {
  const [lightness, chroma] = BLOCK[theme];
  return oklch(lightness, chroma, hue);
}

/** Line hues far apart for most kinds of colour vision; lightness alternates so that neighbours differ without hue too. */
const LINES: readonly [number, number, number][] = [
  [0.55, 0.15, 255],
  [0.62, 0.16, 55],
  [0.5, 0.12, 165],
  [0.58, 0.19, 0],
  [0.46, 0.16, 300],
  [0.6, 0.12, 95],
  [0.52, 0.11, 215],
  [0.5, 0.16, 30],
  [0.58, 0.15, 330],
  [0.5, 0.12, 135],
];

/** A slot of the line palette for each name: its hash's, or the next free one. */
export function lineSlots(names: readonly string[]): Map<string, number> {
  const taken = new Set<number>();
  const slots = new Map<string, number>();
  for (const name of [...new Set(names)].sort()) {
    let slot = hashText(name) % LINES.length;
    for (let tries = 0; taken.has(slot) && tries < LINES.length; tries++) slot = (slot + 1) % LINES.length;
    taken.add(slot);
    if (taken.size >= LINES.length) taken.clear();
    slots.set(name, slot);
  }
  return slots;
}

export function lineRgb(slot: number, theme: Theme): [number, number, number] {
  const [lightness, chroma, hue] = LINES[slot % LINES.length] ?? [0.55, 0.15, 255];
  return oklch(theme === "dark" ? lightness + 0.2 : lightness, chroma, hue);
}
