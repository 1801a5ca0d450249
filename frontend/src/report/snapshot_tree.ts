/** The rows of a view that a report holds, asked as the server is: windows of rows, an icicle, one row. */

import type { IcicleDocument, IcicleRect, Matches, Problem, RowsDocument, ViewColumn, ViewRow } from "../lib/documents";
import { matcher } from "../lib/matching";

/** A view as the report's writer puts it: rows in preorder, figures as columns. */
export interface SnapshotView {
  readonly view: string;
  readonly nested: boolean;
  readonly columns: readonly ViewColumn[];
  readonly steps: RowsDocument["steps"];
  readonly problems: readonly Problem[];
  readonly names: readonly string[];
  readonly paths: readonly string[];
  readonly kinds: readonly string[];
  readonly resource?: RowsDocument["resource"];
  readonly time?: string;
  readonly order?: string;
  /** Of each row the op that it is coloured by. */
  readonly colors: readonly string[];
  /** Of each row its share in the summed self time of the resource. */
  readonly shares: readonly (number | null)[];
  /** Of each total the figures that add up, as the server says; the totals themselves where there are none. */
  readonly addends: Readonly<Record<string, readonly number[]>>;
  /** Rows whose self time is that of the rows that launched them. */
  readonly launched?: readonly number[];
  readonly parents: readonly number[];
  readonly figures: Readonly<Record<string, readonly (number | null)[]>>;
  /** What else is known of the costliest rows. */
  readonly details: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Who calls the costliest rows, by time. */
  readonly callers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Which of the profile's single executions the report holds. */
  readonly panes?: readonly string[];
}

export type Question = ReadonlyMap<string, string>;

export class SnapshotTree {
  private readonly children: number[][];
  private readonly depths: number[] = [];
  /** Of each row the one after all below it. */
  private readonly ends: number[];
  private readonly launched: ReadonlySet<number>;

  constructor(private readonly view: SnapshotView) {
    this.launched = new Set(view.launched);
    this.children = view.parents.map(() => []);
    view.parents.forEach((parent, row) => {
      this.depths.push(parent < 0 ? 0 : (this.depths[parent] ?? 0) + 1);
      this.children[parent]?.push(row);
    });
    this.ends = view.parents.map((_, row) => row + 1);
    for (let row = this.size - 1; row > 0; row--) {
      const parent = this.parent(row);
      this.ends[parent] = Math.max(this.ends[parent] ?? 0, this.ends[row] ?? 0);
    }
  }

  get size(): number {
    return this.view.names.length;
  }

  rows(question: Question): RowsDocument {
    const matched = this.matched(question.get("search") ?? "");
    const open = this.open(question, matched);
    const visible = this.visible(whole(question, "root", 0), open, question.get("sort") ?? "");
    const offset = whole(question, "offset", 0);
    const { view, columns, steps, problems, panes = [], resource, time, order } = this.view;
    return {
      view,
      ...(resource === undefined ? {} : { resource }),
      ...(time === undefined ? {} : { time }),
      ...(order === undefined ? {} : { order }),
      total_rows: this.size,
      visible_rows: visible.length,
      offset,
      rows: visible
        .slice(offset, offset + whole(question, "limit", 100))
        .map((row) => this.described(row, open, matched)),
      root: this.figuresOf(0),
      columns,
      matches: matched === null ? null : this.matches(matched, visible, whole(question, "match", 0)),
      steps,
      problems,
      panes,
    };
  }

  private matched(search: string): ReadonlySet<number> | null {
    const test = matcher(search);
    if (search === "") return null;
    const texts = search.includes("/") && !search.startsWith("/") ? this.view.paths : this.view.names;
    return new Set(texts.flatMap((text, row) => (row > 0 && test?.(text) ? [row] : [])));
  }

  private open(question: Question, matched: ReadonlySet<number> | null): ReadonlySet<number> {
    const depth = whole(question, "depth", 1);
    const numbers = (name: string) => (question.get(name) ?? "").split(",").filter(Boolean).map(Number);
    const flipped = new Set(numbers("toggled"));
    const turned = this.turned(numbers("below"));
    const open = new Set<number>();
    this.depths.forEach((at, row) => {
      if ((turned.get(row) ?? at < depth) !== flipped.has(row)) open.add(row);
    });
    for (const row of matched ?? []) {
      for (let above = this.parent(row); above >= 0; above = this.parent(above)) open.add(above);
    }
    return open;
  }

  /** Rows that were opened, or with a minus closed, with all below them; later ones win. */
  private turned(below: readonly number[]): ReadonlyMap<number, boolean> {
    const turned = new Map<number, boolean>();
    for (const row of below) {
      const from = Math.abs(row);
      for (let at = from; at < (this.ends[from] ?? from); at++) turned.set(at, row > 0);
    }
    return turned;
  }

  private parent(row: number): number {
    return this.view.parents[row] ?? -1;
  }

  private visible(root: number, open: ReadonlySet<number>, sort: string): number[] {
    const order = this.order(sort);
    const found: number[] = [];
    const waiting = [root];
    for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
      found.push(row);
      if (open.has(row)) waiting.push(...(this.children[row] ?? []).toSorted(order).reverse());
    }
    return this.size === 0 ? [] : found;
  }

  private order(sort: string): (p: number, q: number) => number {
    const sign = sort.startsWith("-") ? -1 : 1;
    const name = sort.replace(/^-/, "");
    const { names, figures, shares } = this.view;
    if (name === "name") return (p, q) => sign * compare(names[p] ?? "", names[q] ?? "") || p - q;
    const values = name === "share" ? shares : figures[name];
    return values === undefined ? (p, q) => p - q : (p, q) => sign * ((values[p] ?? 0) - (values[q] ?? 0)) || p - q;
  }

  private described(row: number, open: ReadonlySet<number>, matched: ReadonlySet<number> | null): ViewRow {
    const children = this.children[row]?.length ?? 0;
    return {
      ...this.figuresOf(row),
      id: row,
      name: this.view.names[row] ?? "",
      kind: this.view.kinds[row] ?? "",
      color: this.view.colors[row] ?? "",
      share: this.view.shares[row] ?? null,
      launched: this.launched.has(row),
      depth: this.depths[row] ?? 0,
      parent: this.parent(row),
      children,
      end: this.ends[row] ?? row + 1,
      open: children > 0 && open.has(row),
      matched: matched?.has(row) ?? false,
    };
  }

  private figuresOf(row: number): Record<string, number | null> {
    return Object.fromEntries(Object.entries(this.view.figures).map(([name, values]) => [name, values[row] ?? null]));
  }

  private matches(matched: ReadonlySet<number>, visible: readonly number[], wanted: number): Matches {
    const places = visible.flatMap((row, at) => (matched.has(row) ? [at] : []));
    const index = Math.min(wanted, Math.max(places.length - 1, 0));
    const place = places[index];
    const id = place === undefined ? null : (visible[place] ?? null);
    return { count: places.length, index, row_offset: place ?? null, id, share: this.share(matched) };
  }

  /** Of each total the share of the rows with a match, each counted once with all below it. */
  private share(matched: ReadonlySet<number>): Record<string, number> {
    const tops = [...matched].filter((row) => !this.above(row).some((other) => matched.has(other)));
    const totals = this.view.columns.filter(({ total }) => total).map(({ name }) => name);
    const shares = totals.map((name): [string, number] => {
      const value = this.value(name);
      return [name, tops.reduce((sum, row) => sum + value(row), 0) / value(0)];
    });
    return Object.fromEntries(shares.filter(([, share]) => Number.isFinite(share)));
  }

  private above(row: number): number[] {
    const found: number[] = [];
    for (let at = this.parent(row); at >= 0; at = this.parent(at)) found.push(at);
    return found;
  }

  icicle(question: Question): IcicleDocument {
    const metric = question.get("metric") ?? `total_${this.view.time ?? "exec_micros"}`;
    const drawing = new Drawing(whole(question, "width_px", 1000), whole(question, "levels", 50));
    const root = whole(question, "root", 0);
    const value = this.value(metric);
    drawing.draw(root, value, this.children, (row) => [this.view.names[row] ?? "", this.view.colors[row] ?? ""]);
    const { rects, names, colors } = drawing;
    const depths = rects.reduce((most, [, depth]) => Math.max(most, depth + 1), 0);
    return {
      metric,
      total: this.view.figures[metric]?.[root] ?? null,
      depths,
      rects,
      names: names.words,
      colors: colors.words,
    };
  }

  /** The figure of a total that adds up (docs/time.md). */
  private value(metric: string): (row: number) => number {
    const values = this.view.addends[metric] ?? this.view.figures[metric] ?? [];
    return (row) => Math.max(values[row] ?? 0, 0);
  }

  /** Those of a row; null where the report does not hold them. */
  callers(question: Question): Readonly<Record<string, unknown>> | null {
    const found = this.view.callers?.[question.get("id") ?? ""];
    return found !== undefined && found.metric === (question.get("metric") ?? found.metric) ? found : null;
  }

  node(question: Question): Record<string, unknown> | null {
    const row = whole(question, "id", 0);
    if (row >= this.size) return null;
    const known = { name: this.view.names[row], path: this.view.paths[row], depth: this.depths[row] };
    return { ...known, ...this.figuresOf(row), ...this.view.details[row], id: row, parent: this.parent(row) };
  }
}

class Words {
  readonly words: string[] = [];
  private readonly places = new Map<string, number>();

  place(word: string): number {
    const known = this.places.get(word);
    if (known !== undefined) return known;
    this.places.set(word, this.words.length);
    return this.words.push(word) - 1;
  }
}

/** An icicle: children side by side from their parent's start, the widest first, the narrow ones folded into one. */
class Drawing {
  readonly rects: IcicleRect[] = [];
  readonly names = new Words();
  readonly colors = new Words();

  constructor(
    private readonly width: number,
    private readonly maxDepth: number,
  ) {}

  draw(
    root: number,
    value: (row: number) => number,
    children: readonly (readonly number[])[],
    label: (row: number) => readonly [string, string],
  ): void {
    const whole = value(root);
    const waiting: [number, number, number][] = whole > 0 ? [[root, 0, 0]] : [];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [row, depth, start] = next;
      const [name, color] = label(row);
      const stop = Math.min(start + value(row) / whole, 1);
      this.rects.push([row, depth, start, stop, this.names.place(name), this.colors.place(color), 0]);
      if (depth + 1 >= this.maxDepth) continue;
      let at = start;
      const inner = (children[row] ?? []).filter((child) => value(child) > 0).toSorted((p, q) => value(q) - value(p));
      const wide = inner.filter((child) => (value(child) / whole) * this.width >= 1);
      for (const child of wide) {
        waiting.push([child, depth + 1, at]);
        at += value(child) / whole;
      }
      const folded = inner.slice(wide.length).reduce((sum, child) => sum + value(child) / whole, 0);
      if (folded > 0) this.rects.push([-1, depth + 1, at, at + folded, -1, -1, inner.length - wide.length]);
    }
  }
}

function whole(question: Question, name: string, initial: number): number {
  const value = Number(question.get(name) || initial);
  return Number.isSafeInteger(value) && value >= 0 ? value : initial;
}

function compare(p: string, q: string): number {
  return p < q ? -1 : p > q ? 1 : 0;
}
