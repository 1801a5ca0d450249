/** Numbers as people read them. A column has one unit; the exact figure is shown on hover. */

export const ABSENT = "—";

/** What a figure counts. Times name the unit in which the source gives them. */
export type Quantity =
  | "micros"
  | "ns"
  | "ps"
  | "ms"
  | "bytes"
  | "network_bytes"
  | "count"
  | "ratio"
  | "rate"
  | "cycles"
  | "gbps";

export interface Scale {
  readonly unit: string;
  /** How many of the source's units make one of `unit`. */
  readonly divisor: number;
  readonly digits: number;
}

const IEC: readonly [string, number][] = [
  ["B", 1],
  ["KiB", 2 ** 10],
  ["MiB", 2 ** 20],
  ["GiB", 2 ** 30],
  ["TiB", 2 ** 40],
];
const SI: readonly [string, number][] = [
  ["B", 1],
  ["kB", 1e3],
  ["MB", 1e6],
  ["GB", 1e9],
  ["TB", 1e12],
];
const TIME_NS: readonly [string, number][] = [
  ["ns", 1],
  ["µs", 1e3],
  ["ms", 1e6],
  ["s", 1e9],
];
const COUNT: readonly [string, number][] = [
  ["", 1],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
];
/** In a column a unit fits from ten on, so that small rows beside a large total still have digits. */
const UNIT_FROM = 10;
const NS_PER: Partial<Record<Quantity, number>> = { ps: 1e-3, ns: 1, micros: 1e3, ms: 1e6 };
const EXACT_UNIT: Record<Quantity, string> = {
  micros: "µs",
  ns: "ns",
  ps: "ps",
  ms: "ms",
  bytes: "B",
  network_bytes: "B",
  count: "",
  ratio: "",
  rate: "/s",
  cycles: "cycles",
  gbps: "Gbit/s",
};

/** The unit in which a column is shown whose largest magnitude is `largest`, in the source's unit. */
export function scaleFor(quantity: Quantity, largest: number, from = UNIT_FROM): Scale {
  const nanoseconds = NS_PER[quantity];
  if (nanoseconds !== undefined) return pick(TIME_NS, largest * nanoseconds, nanoseconds, from);
  if (quantity === "bytes") return pick(IEC, largest, 1, from);
  if (quantity === "network_bytes") return pick(SI, largest, 1, from);
  if (quantity === "count") return largest < 1e7 ? { unit: "", divisor: 1, digits: 0 } : pick(COUNT, largest, 1, 1);
  if (quantity === "ratio") return { unit: "%", divisor: 0.01, digits: 1 };
  if (quantity === "cycles") return { unit: "", divisor: 1, digits: 0 };
  return { unit: EXACT_UNIT[quantity], divisor: 1, digits: digitsFor(largest) };
}

function pick(steps: readonly [string, number][], largest: number, perSource: number, from: number): Scale {
  let [unit, size] = steps[0] ?? ["", 1];
  for (const [name, value] of steps) {
    if (largest >= from * value) [unit, size] = [name, value];
  }
  const whole = size === 1 && perSource === 1 && unit !== "ns";
  return { unit, divisor: size / perSource, digits: whole ? 0 : digitsFor(largest / size) };
}

function digitsFor(largest: number): number {
  if (largest >= 1000) return 1;
  return largest >= 100 ? 2 : 3;
}

const formats = new Map<number, Intl.NumberFormat>();

function fixed(digits: number): Intl.NumberFormat {
  let format = formats.get(digits);
  if (format === undefined) {
    format = new Intl.NumberFormat(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    formats.set(digits, format);
  }
  return format;
}

/** A figure in its column's unit, without the unit's word. */
export function formatIn(scale: Scale, value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return ABSENT;
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const shown = value / scale.divisor;
  const least = 10 ** -scale.digits;
  if (value !== 0 && Math.abs(shown) < least / 2) return `<${fixed(scale.digits).format(least)}`;
  return fixed(scale.digits).format(shown).replace("-", "−");
}

/** A figure on its own, with its unit. */
export function format(quantity: Quantity, value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return ABSENT;
  const scale = scaleFor(quantity, Math.abs(value), 1);
  return withUnit(formatIn(scale, value), scale.unit);
}

/** The figure as the source has it, with every digit, for hover and copy. */
export function exact(quantity: Quantity, value: number | string | null | undefined): string {
  if (value === null || value === undefined) return ABSENT;
  const text = typeof value === "string" ? value : grouped(value);
  return withUnit(text, EXACT_UNIT[quantity]);
}

function grouped(value: number): string {
  const [whole = "", fraction] = String(value).split(".");
  if (!/^-?\d+$/.test(whole)) return String(value);
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

function withUnit(text: string, unit: string): string {
  if (unit === "") return text;
  return unit === "%" || unit.startsWith("/") ? `${text}${unit}` : `${text} ${unit}`;
}

/** A share of a whole, as a percentage; absent where there is no whole. */
export function percent(part: number | null | undefined, whole: number | null | undefined): string {
  if (part === null || part === undefined || !whole) return ABSENT;
  return withUnit(formatIn({ unit: "%", divisor: 0.01, digits: 1 }, part / whole), "%");
}

/** A length of time as a clock would say it: `1:02:03`, `2:03`, `3.2 s`. */
export function formatClock(seconds: number): string {
  if (Math.abs(seconds) < 60) return format("ns", seconds * 1e9);
  const whole = Math.round(Math.abs(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (parts[0] === 0) parts.shift();
  const text = parts.map((part, k) => (k === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
  return seconds < 0 ? `−${text}` : text;
}

/** How long ago, in the largest unit that fits. */
export function formatAge(seconds: number): string {
  if (seconds < 10) return "just now";
  const steps: [number, string][] = [
    [86400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const [size, unit] = steps.find(([step]) => seconds >= step) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${unit} ago`;
}

/** How many of a word there are: `1 step`, `1,200 steps`. */
export function counted(count: number, word: string): string {
  return `${count.toLocaleString()} ${word}${count === 1 ? "" : "s"}`;
}
