/** The documents of the routes, as docs/architecture.md has them. Absent is null. */

export type Figure = number | null;

export interface RecordInfo {
  readonly kind: string;
  readonly name: string;
  readonly tag: string;
  readonly first_step: Figure;
  readonly last_step: Figure;
  readonly closed: boolean;
  readonly rows: Figure;
  readonly written_wall_ns: string | number | null;
  readonly producer: string;
}

export interface RunInfo {
  readonly name: string;
  readonly records: readonly RecordInfo[];
}

export interface Problem {
  readonly run?: string;
  readonly where: string;
  readonly what: string;
  readonly remedy?: string;
  readonly count?: Figure;
}

export interface IndexDocument {
  readonly runs: readonly RunInfo[];
  readonly problems: readonly Problem[];
  readonly version?: string;
}

export interface OptionSpec {
  readonly name: string;
  readonly type: "int" | "float" | "str" | "bool" | "strings";
  readonly default: unknown;
  readonly help: string;
  readonly choices: readonly string[];
  readonly optional: boolean;
}

export type OptionTables = Readonly<Record<string, readonly OptionSpec[]>>;

export interface ErrorDocument {
  readonly error: { readonly found: string; readonly where: string; readonly remedy: string };
}

/** A row of the views lens: its place in the tree, and figures under the names in `columns`. */
export interface ViewRow {
  readonly id: number;
  readonly name: string;
  /** What the row is: op, range, module, step, kernel, copy, runtime, scope, line or total. */
  readonly kind?: string;
  /** The op type that the row is coloured by, empty for rows without a node. */
  readonly color?: string;
  /** Its share in the summed self time of the resource, null where that has none. */
  readonly share?: Figure;
  /** Whether the row that launched it has its self time: of kernels, copies and runtime calls. */
  readonly launched?: boolean;
  readonly depth: number;
  readonly parent: number;
  readonly children: number;
  /** The row after the last one below it. */
  readonly end?: number;
  readonly open: boolean;
  readonly matched: boolean;
  readonly [figure: string]: unknown;
}

export interface ViewColumn {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly help: string;
  /** Whether the column counts what is below a row too. */
  readonly total: boolean;
}

export type Resource = "device" | "host" | "both";

export interface Matches {
  readonly count: number;
  readonly index: number;
  readonly row_offset: number | null;
  readonly id: number | null;
  readonly share: Readonly<Record<string, number>> | number | null;
}

export interface RowsDocument {
  readonly view: string;
  /** Whose time shares and the order are of; `both` is tfprof's sum of host and device time. */
  readonly resource?: Resource;
  /** The self time of the resource. */
  readonly time?: string;
  /** The column that rows are sorted by where no other is chosen, `-` before it for descending. */
  readonly order?: string;
  readonly total_rows: number;
  readonly visible_rows: number;
  readonly offset: number;
  readonly rows: readonly ViewRow[];
  readonly root: Readonly<Record<string, Figure>>;
  readonly columns: readonly ViewColumn[];
  readonly matches: Matches | null;
  readonly steps: readonly { readonly id: number | string; readonly name: string }[];
  readonly problems: readonly Problem[];
  /** Questions to single executions that the profile has something for. */
  readonly panes?: readonly string[];
}

/** `[id, depth, x0, x1, name index, colour index, folded]`; id is -1 where `folded` others are drawn as one. */
export type IcicleRect = readonly [number, number, number, number, number, number, number];

export interface IcicleDocument {
  readonly metric: string;
  readonly unit?: string;
  readonly total: Figure;
  readonly depths: number;
  readonly rects: readonly IcicleRect[];
  readonly names: readonly string[];
  readonly colors: readonly string[];
}

/** All that is known of one row; what belongs to one graph node only where the row has exactly one. */
export interface NodeDocument {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly parent: number;
  readonly devices?: readonly string[];
  readonly n_graph_nodes?: number;
  readonly op?: string;
  readonly op_types?: readonly string[];
  readonly shape?: Shape;
  readonly input_shapes?: Readonly<Record<string, Shape>>;
  readonly inputs?: readonly { readonly name: string; readonly slot: number }[];
  readonly outputs?: readonly { readonly slot: number; readonly shape: Shape; readonly bytes: Figure }[];
  readonly consumers?: readonly { readonly name: string; readonly slot: number }[];
  readonly links?: readonly {
    readonly kind: string;
    readonly to: boolean;
    readonly name: string;
    readonly count: number;
  }[];
  readonly device_times?: readonly {
    readonly device: string;
    readonly lane: string | null;
    readonly micros: number;
    readonly executions: number;
  }[];
  readonly graph_nodes?: readonly { readonly name: string; readonly exec_micros: number }[];
  readonly code?: readonly { readonly file: string; readonly line: number; readonly function: string }[];
  readonly [figure: string]: unknown;
}

export type Shape = readonly number[] | string;

/** Two runs aligned by a stable key. Delta is a minus b. */
export interface ComparisonDocument {
  readonly a: unknown;
  readonly b: unknown;
  readonly rows: readonly ComparedRow[];
  readonly unmatched_share: Figure | Readonly<Record<string, Figure>>;
  /** Of views: how many rows there are; those that differ most are given. */
  readonly rows_total?: number;
  /** Of views: whether profiles of unequally many steps are compared per step; and subtrees that may only have moved. */
  readonly per?: "step" | "total";
  /** Of views: the self time that both sides are compared by. */
  readonly time?: string;
  readonly renames?: readonly { readonly from: string; readonly to: string; readonly rows: number }[];
}

export interface ComparedRow {
  readonly key: string;
  readonly a: Readonly<Record<string, unknown>> | null;
  readonly b: Readonly<Record<string, unknown>> | null;
  readonly delta: Readonly<Record<string, unknown>> | null;
  readonly state: "both" | "added" | "removed";
  /** Of views: what the row is, and whether the row that launched it has its self time. */
  readonly kind?: string;
  readonly launched?: boolean;
}
