/** The swimlane of a capture: what each core ran when, what a task waited for, and the functions. All share one selection. */

import { useMemo, useState } from "preact/hooks";
import { address } from "../lib/api";
import type { Block, Lane } from "../lib/lanes";
import { absolute } from "../lib/stamps";
import { ABSENT, percent } from "../lib/units";
import { useDocument } from "../ui/documents";
import { Lanes } from "../ui/lanes";
import type { Resource } from "../ui/resource";
import { useSession } from "../ui/session";
import { type FigureCell, Link, SmallTable } from "../ui/small_table";
import { Failure } from "../ui/states";
import {
  captureBase,
  type InCoreDocument,
  isMeasured,
  type NeighbourDocument,
  type TaskDocument,
  type TasksDocument,
} from "./document";
import { dependencyArrows, type TaskLanes, taskLanes } from "./task_lanes";
import type { Units } from "./units";

interface TaskPanelProps {
  readonly document: InCoreDocument;
  readonly tasks: TasksDocument;
  readonly units: Units;
  readonly title: string;
}

export function TaskPanel({ document, tasks, units, title }: TaskPanelProps) {
  const session = useSession();
  const { key, zoom } = session.state.value;
  const [function_, setFunction] = useState(-1);
  const found = useMemo(() => taskLanes(tasks), [tasks]);
  const selected = useMemo(() => (key === "" ? -1 : tasks.task_ids.indexOf(key)), [tasks, key]);
  const asked = useTask();
  const task = asked.data.value?.task;
  const shown = task !== undefined && task.id === key ? task : null;
  const arrows = useMemo(() => (shown === null ? [] : dependencyArrows(tasks, found, shown)), [tasks, found, shown]);
  const lit = useMemo(() => (function_ < 0 ? null : (block: Block) => block.kind === function_), [function_]);
  const text = useMemo(
    () =>
      ({ id }: Block) =>
        id < 0 ? "" : `task ${tasks.task_ids[id]}`,
    [tasks],
  );
  const pick = (id: string) => session.update({ key: id });
  const base = captureBase(document);
  const describe = (block: Block, lane: Lane) => describeTask(tasks, found, base, units, block, lane);
  return (
    <div class="split">
      <div class="main-column">
        <Lanes
          lanes={found.lanes}
          kinds={found.kinds}
          arrows={arrows}
          label={`Tasks on ${tasks.cores.length} cores`}
          theme={session.theme.value}
          ns={units.ns}
          exact={units.exact}
          describe={describe}
          selected={selected}
          onSelect={(id) => pick(tasks.task_ids[id] ?? "")}
          lit={lit}
          text={text}
          zoom={zoom}
          onZoom={(next) => session.update({ zoom: next })}
          fileName={title}
        />
        <div class="status" role="status">
          <span>{`${tasks.rows.task.length.toLocaleString()} rows of ${tasks.task_ids.length.toLocaleString()} tasks`}</span>
          <span>{(document.detail?.capture ?? document).capture_format}</span>
          <span>beside a core: the share of the time in which it runs a task</span>
          {found.apart > 0 && <span>{`${found.apart.toLocaleString()} spans on the host's clock are not drawn`}</span>}
        </div>
      </div>
      <aside class="drawer wide" aria-label="Figures" tabIndex={0}>
        {asked.error.value !== null && <Failure error={asked.error.value} />}
        {shown !== null && <Task document={document} task={shown} tasks={tasks} units={units} onPick={pick} />}
        <Functions tasks={tasks} units={units} chosen={function_} onPick={setFunction} />
        <OtherRecords />
      </aside>
    </div>
  );
}

/** The selected task with what it waited for. */
function useTask(): Resource<InCoreDocument> {
  return useDocument<InCoreDocument>(({ state, recordParameters }) => {
    const { key } = state.value;
    if (key === "" || key.includes("/")) return null;
    return address("incore", { ...recordParameters.value, compare: "", task: key });
  });
}

function describeTask(tasks: TasksDocument, found: TaskLanes, base: bigint, units: Units, block: Block, lane: Lane) {
  const name = found.kinds[block.kind]?.name || "unnamed";
  const before = idleBefore(lane, block);
  const stamp = (offset: number) => absolute(base, offset);
  return {
    title: block.id < 0 ? `${lane.label} · ${name}` : `${name} · task ${tasks.task_ids[block.id]} on ${lane.label}`,
    rows: [
      { label: "length", value: units.exact(block.end - block.start) },
      { label: "from", value: stamp(block.start) },
      { label: "to", value: stamp(block.end) },
      ...(before === null ? [] : [{ label: "idle before", value: units.exact(before) }]),
    ],
  };
}

/** How long the core ran nothing before a block; null for its first. */
function idleBefore(lane: Lane, block: Block): number | null {
  let last: number | null = null;
  for (const { end } of lane.tracks) {
    for (const stop of end) if (stop <= block.start && (last === null || stop > last)) last = stop;
  }
  const busy = lane.tracks.some(({ start, end }) =>
    start.some((from, at) => from < block.start && (end[at] ?? 0) > block.start),
  );
  return last === null || busy ? null : block.start - last;
}

interface TaskProps {
  readonly document: InCoreDocument;
  readonly task: TaskDocument;
  readonly tasks: TasksDocument;
  readonly units: Units;
  readonly onPick: (id: string) => void;
}

const STAMPS = ["dispatch", "receive", "start", "end", "finish"] as const;

function Task({ document, task, tasks, units, onPick }: TaskProps) {
  const session = useSession();
  const slots = new Map((document.detail?.cores ?? []).map(({ slot, core }) => [core, slot]));
  const measured = isMeasured(document, task);
  const toSlot = (core: number) => session.update({ pane: "phases", key: `${slots.get(core) ?? core}/`, zoom: null });
  const names = new Map(tasks.cores.map(({ core, name }) => [core, name]));
  const coreCell = (core: number) => {
    const name = names.get(core) || `core ${core}`;
    return measured ? <Link text={name} onPick={() => toSlot(core)} /> : name;
  };
  const rows = task.rows.map((row) => ({
    key: `${row.core} ${row.start}`,
    cells: [coreCell(row.core), ...STAMPS.map((name) => stampCell(row[name]))],
  }));
  const neighbours = ({ id, function: name, start, end }: NeighbourDocument) => ({
    key: id,
    cells: [
      <Link key={id} text={`task ${id}`} onPick={() => onPick(id)} />,
      name,
      stampCell(start),
      stampCell(end),
      units.bare(start === null || end === null ? null : end - start),
    ],
  });
  const columns = ["", "function", "start", "end", units.word];
  return (
    <>
      <div class="drawer-head">
        <h2>{[`Task ${task.id}`, task.function].filter(Boolean).join(" · ")}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => onPick("")}>
          ×
        </button>
      </div>
      <p class="muted">
        {task.gap === null
          ? "It waits for no task of this capture."
          : `It starts ${units.exact(task.gap)} after the last task that it waits for.`}
      </p>
      <SmallTable
        title="Rows"
        columns={["", ...STAMPS]}
        rows={rows}
        note={measured ? "The stamps are of this task: a core leads to its phases." : undefined}
      />
      <SmallTable title="Waits for" columns={columns} rows={task.predecessors.map(neighbours)} />
      <SmallTable title="Is waited for by" columns={columns} rows={task.successors.map(neighbours)} />
    </>
  );
}

function stampCell(stamp: number | null): FigureCell {
  return [stamp?.toLocaleString() ?? ABSENT, "from the capture's base"];
}

interface FunctionsProps {
  readonly tasks: TasksDocument;
  readonly units: Units;
  readonly chosen: number;
  readonly onPick: (index: number) => void;
}

/** The functions by their time on all cores; one lights up its tasks. */
function Functions({ tasks, units, chosen, onPick }: FunctionsProps) {
  const found = useMemo(() => functionCosts(tasks), [tasks]);
  const whole = found.reduce((sum, { total }) => sum + total, 0);
  const rows = found.map(({ index, name, rows: count, total, longest }) => ({
    key: String(index),
    chosen: index === chosen,
    cells: [
      <Link key={name} text={name} chosen={index === chosen} onPick={() => onPick(index === chosen ? -1 : index)} />,
      [count.toLocaleString(), ""] as const,
      units.bare(total),
      [percent(total, whole), ""] as const,
      units.bare(longest),
    ],
  }));
  return <SmallTable title="Functions" columns={["", "rows", units.word, "share", "longest"]} rows={rows} />;
}

function functionCosts({ rows, functions }: TasksDocument) {
  const costs = [...functions, "unnamed"].map((name, index) => ({ index, name, rows: 0, total: 0, longest: 0 }));
  rows.function.forEach((index, row) => {
    const cost = costs[index < 0 ? functions.length : index];
    if (cost === undefined) return;
    const length = (rows.end[row] ?? 0) - (rows.start[row] ?? 0);
    cost.rows++;
    cost.total += length;
    cost.longest = Math.max(cost.longest, length);
  });
  return costs.filter((cost) => cost.rows > 0).sort((p, q) => q.total - p.total);
}

/** In-core records of the same run: where a task's own phases may be. */
function OtherRecords() {
  const session = useSession();
  const { names, chosen } = session.choices.value;
  const others = names.filter((name) => name !== chosen?.name);
  const rows = others.map((name) => ({
    key: name,
    cells: [<Link key={name} text={name} onPick={() => session.showRecord({ name, step: "" })} />],
  }));
  return <SmallTable title="In-core stamps of this run" columns={[""]} rows={rows} />;
}
