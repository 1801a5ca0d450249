/** How wide a column of text must be. Rows are laid out one by one, so that widths are given, not found. */

const CHARACTER_PX = 7.4;
/** Of letters; digits and points are narrower. */
const LETTER_PX = 9.6;
const PADDING_PX = 20;
const ARROW_PX = 12;

/** For a column of figures: its head, and its longest text. */
export function figureWidth(title: string, unit: string, texts: readonly string[]): number {
  const head = (title.length + (unit === "" ? 0 : unit.length + 1)) * CHARACTER_PX * 0.92 + ARROW_PX;
  const body = texts.reduce((most, text) => Math.max(most, text.length), 0) * CHARACTER_PX;
  return Math.ceil(Math.max(head, body, 44) + PADDING_PX);
}

/** For a column of words: its head, and its longest text up to a most. */
export function wordWidth(title: string, texts: readonly string[], most: number): number {
  const longest = texts.reduce((length, text) => Math.max(length, text.length), 0);
  const head = title.length * CHARACTER_PX + ARROW_PX;
  return Math.ceil(Math.min(Math.max(head, longest * LETTER_PX), most) + PADDING_PX);
}
