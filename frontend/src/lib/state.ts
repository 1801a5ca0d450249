/** What the panel shows, as one flat validated object. The address holds it field by field. */

import { RECORD_LENSES } from "./lenses";

export const LENSES = ["overview", ...RECORD_LENSES, "findings"] as const;
export type Lens = (typeof LENSES)[number];
/** Tables of the trace lens, which were once panes of the views. */
const TRACE_PANES: readonly string[] = [
  "steps",
  "trace",
  "shapes",
  "kernels",
  "launches",
  "critical-path",
  "memory",
  "ranks",
];

export const VIEWS = ["op", "scope", "graph", "code"] as const;
export type View = (typeof VIEWS)[number];

export const STATE_VERSION = 1;

interface Field<T> {
  readonly initial: T;
  /** Throws a RangeError where the text is no value of the field. */
  parse(text: string): T;
  format(value: T): string;
}

function text(initial = ""): Field<string> {
  return { initial, parse: (t) => t, format: (v) => v };
}

function choice<const T extends string>(words: readonly T[], initial: T): Field<T> {
  const parse = (t: string): T => {
    const found = words.find((word) => word === t);
    if (found === undefined) throw new RangeError(`one of ${words.filter(Boolean).join(", ")}`);
    return found;
  };
  return { initial, parse, format: (v) => v };
}

function integer(initial: number, least: number): Field<number> {
  const parse = (t: string): number => {
    const value = Number(t);
    if (t === "" || !Number.isSafeInteger(value) || value < least) throw new RangeError(`a whole number from ${least}`);
    return value;
  };
  return { initial, parse, format: String };
}

function integers(least = 0): Field<readonly number[]> {
  const one = integer(0, least);
  return { initial: [], parse: (t) => (t === "" ? [] : t.split(",").map(one.parse)), format: (v) => v.join(",") };
}

function words(): Field<readonly string[]> {
  return {
    initial: [],
    parse: (t) => (t === "" ? [] : t.split(",").map(decodeURIComponent)),
    format: (v) => v.map(encodeURIComponent).join(","),
  };
}

/** Whole numbers by name: `a:1,b:2`. */
function numbers(): Field<Readonly<Record<string, number>>> {
  const { parse: positive } = integer(1, 1);
  const pair = (one: string): [string, number] => {
    const cut = one.lastIndexOf(":");
    return [decodeURIComponent(one.slice(0, cut)), positive(one.slice(cut + 1))];
  };
  return {
    initial: {},
    parse: (t) => (t === "" ? {} : Object.fromEntries(t.split(",").map(pair))),
    format: (v) =>
      Object.entries(v)
        .map(([name, value]) => `${encodeURIComponent(name)}:${value}`)
        .join(","),
  };
}

function range(): Field<readonly [number, number] | null> {
  const parse = (t: string): readonly [number, number] | null => {
    if (t === "") return null;
    const [low, high, ...rest] = t.split("..").map(Number);
    if (low === undefined || high === undefined || rest.length > 0 || !(low < high)) throw new RangeError("low..high");
    return [low, high];
  };
  return { initial: null, parse, format: (v) => (v === null ? "" : v.join("..")) };
}

const FIELDS = {
  /** Empty: the overview. */
  lens: choice(["", ...LENSES], ""),
  /** Run, record name and record step; empty: the newest. */
  run: text(),
  name: text(),
  step: text(),
  /** The baseline run; empty: no comparison. */
  compare: text(),
  view: choice(VIEWS, "op"),
  /** Rows down to this depth are open; 0 leaves it to the view. */
  depth: integer(0, 0),
  toggled: integers(),
  /** Rows from which on all below are open, or, with a minus, closed; later ones win, toggled rows turn theirs again. */
  below: integers(Number.MIN_SAFE_INTEGER),
  sort: text(),
  search: text(),
  match: integer(0, 0),
  /** Row ids of the views lens; 0 is the root of every view. */
  root: integer(0, 0),
  /** The key of the row that a compared tree starts from; empty for its root. */
  from: text(),
  /** The first row in sight of the lens's table. */
  top: integer(0, 0),
  selected: integer(0, 0),
  metric: text(),
  side: choice(["both", "total", "self"], "both"),
  drawer: choice(["", "open"], ""),
  /** Down from the root to what it calls, or up from the selected row to its callers. */
  direction: choice(["down", "up"], "down"),
  /** How the callers are sorted. */
  callers: text("-cost"),
  /** Columns that the user hid. */
  hidden: words(),
  /** Widths that the user gave to columns, by lens and column. */
  widths: numbers(),
  /** Runs of the throughput chart that the user switched off. */
  muted: words(),
  x: choice(["step", "samples", "relative", "wall"], "step"),
  y: choice(["linear", "log"], "linear"),
  rate: choice(["both", "local", "avg"], "both"),
  /** What the throughput lens draws: rates, how much faster than the baseline, or how long steps take. */
  chart: choice(["rate", "speed-up", "step time"], "rate"),
  zoom: range(),
  /** Selected row of a lens whose rows have words as keys. */
  key: text(),
  host: text(),
  /** The part of a lens that is shown below or instead of its table. */
  pane: text(),
  /** What lengths in a core are said in. */
  unit: choice(["cycles", "time"], "cycles"),
} satisfies Record<string, Field<never> | Field<unknown>>;

type Fields = typeof FIELDS;
type FieldValue<F> = F extends { readonly initial: infer I; parse(text: string): infer P } ? I | P : never;

export type PanelState = { readonly [K in keyof Fields]: FieldValue<Fields[K]> } & {
  /** Options of the lenses that differ from their defaults, as query text. */
  readonly options: Readonly<Record<string, string>>;
};

export interface ParsedState {
  readonly state: PanelState;
  /** One sentence for each value that could not be used. */
  readonly notices: readonly string[];
}

const NAMES = Object.keys(FIELDS) as (keyof Fields)[];
const OPTION_PREFIX = "opt.";

export const INITIAL_STATE: PanelState = Object.freeze({
  ...Object.fromEntries(NAMES.map((name) => [name, FIELDS[name].initial])),
  options: Object.freeze({}),
} as unknown as PanelState);

/** Reads a state from keys and values. Unknown keys are ignored; a value that is none of its field falls back. */
export function parseState(values: ReadonlyMap<string, string>): ParsedState {
  const notices: string[] = [];
  const fields: Record<string, unknown> = {};
  const version = values.get("v");
  if (version !== undefined && Number(version) > STATE_VERSION) {
    notices.push("The address was written by a newer StepScope; what this version does not know is left out.");
  }
  for (const name of NAMES) {
    const value = values.get(name);
    if (value === undefined) continue;
    try {
      fields[name] = FIELDS[name].parse(value);
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof URIError)) throw error;
      notices.push(`The address has ${name}=${value}, which should be ${error.message}; the default is shown.`);
    }
  }
  const options = [...values].filter(([key]) => key.startsWith(OPTION_PREFIX));
  fields.options = Object.fromEntries(options.map(([key, value]) => [key.slice(OPTION_PREFIX.length), value]));
  // Addresses and findings of older versions name the tables of a trace as panes of the views.
  if (fields.lens === "views" && TRACE_PANES.includes(String(fields.pane ?? ""))) fields.lens = "trace";
  return { state: { ...INITIAL_STATE, ...fields } as PanelState, notices };
}

/** The keys and values of a state; fields at their default are left out. */
export function formatState(state: PanelState): Map<string, string> {
  const values = new Map<string, string>();
  for (const name of NAMES) {
    const field = FIELDS[name] as Field<unknown>;
    const value = field.format(state[name]);
    if (value !== field.format(field.initial)) values.set(name, value);
  }
  for (const [key, value] of Object.entries(state.options)) values.set(OPTION_PREFIX + key, value);
  if (values.size > 0) values.set("v", String(STATE_VERSION));
  return values;
}
