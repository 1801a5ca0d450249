/** The rows of a capture as lanes: a lane for each core, and for what the scheduler did. */

import { lineSlots } from "../lib/colour";
import { groupBy } from "../lib/grouping";
import { type Block, type Lane, packed } from "../lib/lanes";
import { percent } from "../lib/units";
import type { Arrow, Kind } from "../ui/lanes_scene";
import type { TaskDocument, TasksDocument } from "./document";
import { byEngine, engineTitle, HUES } from "./phase_lanes";

export interface TaskLanes {
  readonly lanes: readonly Lane[];
  readonly kinds: readonly Kind[];
  /** Rows of each task, by the index of the task: which is the id of its blocks. */
  readonly rows: ReadonlyMap<number, readonly number[]>;
  /** Activities on another clock, which are not drawn. */
  readonly apart: number;
}

export function taskLanes(tasks: TasksDocument): TaskLanes {
  const { rows, activities } = tasks;
  const unnamed = tasks.functions.length;
  const ofCore = groupBy(rows.core.keys(), (row) => rows.core[row] ?? -1);
  const names = new Map(tasks.cores.map((core) => [core.core, core]));
  const window = windowOf(rows.start, rows.end);
  const cores = [...ofCore].map(([core, members]) => {
    const known = names.get(core);
    const blocks = members.map((row) => blockOf(tasks, row, unnamed));
    return {
      key: String(core),
      label: known?.name || `core ${core}`,
      note: percent(busy(blocks), window),
      group: engineTitle(known?.engine).replace("Slots", "Cores"),
      tracks: packed(blocks.map((block) => [block])),
    };
  });
  cores.sort((p, q) => Number(p.key) - Number(q.key));
  const drawn = [...activities.lane.keys()].filter((row) => !activities.on_host_clock[row]);
  const slots = lineSlots(tasks.functions);
  const functions = tasks.functions.map((name) => ({ name, hue: HUES[slots.get(name) ?? 0] ?? 0 }));
  const kinds = [...functions, ...["", ...activities.kinds].map((name) => ({ name }))];
  return {
    lanes: [...byEngine(cores), ...activityLanes(tasks, drawn, unnamed + 1)],
    kinds,
    rows: groupBy(rows.task.keys(), (row) => rows.task[row] ?? -1),
    apart: activities.lane.length - drawn.length,
  };
}

function blockOf({ rows }: TasksDocument, row: number, unnamed: number): Block {
  const function_ = rows.function[row] ?? -1;
  return {
    start: rows.start[row] ?? 0,
    end: rows.end[row] ?? 0,
    kind: function_ < 0 ? unnamed : function_,
    id: rows.task[row] ?? -1,
  };
}

function activityLanes({ activities }: TasksDocument, drawn: readonly number[], firstKind: number): Lane[] {
  const ofLane = groupBy(drawn, (row) => activities.lane[row] ?? -1);
  const lanes = [...ofLane].map(([lane, members]) => ({
    key: `activity ${lane}`,
    label: activities.lanes[lane] || `lane ${lane}`,
    group: "Scheduler",
    tracks: packed(
      members.map((row) => [
        {
          start: activities.start[row] ?? 0,
          end: activities.end[row] ?? 0,
          kind: firstKind + (activities.kind[row] ?? 0),
          id: -1,
        },
      ]),
    ),
  }));
  return lanes.sort((p, q) => p.label.localeCompare(q.label, undefined, { numeric: true }));
}

function windowOf(starts: readonly number[], ends: readonly number[]): number {
  const first = starts.reduce((least, start) => Math.min(least, start), Number.POSITIVE_INFINITY);
  return ends.reduce((most, end) => Math.max(most, end), 0) - first;
}

/** How long at least one block runs. */
function busy(blocks: readonly Block[]): number {
  let [sum, until] = [0, Number.NEGATIVE_INFINITY];
  for (const { start, end } of blocks.toSorted((p, q) => p.start - q.start)) {
    sum += Math.max(end - Math.max(start, until), 0);
    until = Math.max(until, end);
  }
  return sum;
}

/** From each predecessor's last end to the task's start, and from its last end to the start of each successor. */
export function dependencyArrows(tasks: TasksDocument, found: TaskLanes, task: TaskDocument): Arrow[] {
  const index = new Map(tasks.task_ids.map((id, at) => [id, at]));
  const end = (id: string) => corner(tasks, found, index.get(id), "end");
  const start = (id: string) => corner(tasks, found, index.get(id), "start");
  const pairs = [
    ...task.predecessors.map(({ id }) => [end(id), start(task.id)] as const),
    ...task.successors.map(({ id }) => [end(task.id), start(id)] as const),
  ];
  return pairs.flatMap(([from, to]) => (from === null || to === null ? [] : [{ from, to }]));
}

/** Where a task starts first, or ends last. */
function corner({ rows }: TasksDocument, found: TaskLanes, index: number | undefined, side: "start" | "end") {
  const own = index === undefined ? [] : (found.rows.get(index) ?? []);
  const sign = side === "start" ? 1 : -1;
  const first = own.toSorted((p, q) => sign * ((rows[side][p] ?? 0) - (rows[side][q] ?? 0)))[0];
  if (first === undefined) return null;
  return { lane: String(rows.core[first]), at: rows[side][first] ?? 0 };
}
