/** The swimlane of a capture: what each core ran when, what a task waited for, and the functions. All share one selection. */

import { useSignalEffect } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { address } from "../lib/api";
import { absolute, type Block, type Lane } from "../lib/lanes";
import { percent } from "../lib/units";
import { Lanes } from "../ui/lanes";
import { Resource } from "../ui/resource";
import { useSession } from "../ui/session";
import { Failure } from "../ui/states";
import type { InCoreDocument, NeighbourDocument, TaskDocument, TasksDocument } from "./document";
import { Section } from "./tables";
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
  const pick = (id: string) => session.update({ key: id });
  const base = document.base_time_cycles ?? document.base_time_ns ?? "0";
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
          zoom={zoom}
          onZoom={(next) => session.update({ zoom: next })}
          fileName={title}
        />
        <div class="status" role="status">
          <span>{`${tasks.rows.task.length.toLocaleString()} rows of ${tasks.task_ids.length.toLocaleString()} tasks`}</span>
          <span>{document.capture_format}</span>
          <span>beside a core: the share of the time in which it runs a task</span>
          {found.apart > 0 && <span>{`${found.apart.toLocaleString()} spans on the host's clock are not drawn`}</span>}
        </div>
      </div>
      <aside class="drawer wide" aria-label="Figures" tabIndex={0}>
        {asked.error.value !== null && <Failure error={asked.error.value} />}
        {shown !== null && <Task task={shown} tasks={tasks} units={units} onPick={pick} />}
        <Functions tasks={tasks} units={units} chosen={function_} onPick={setFunction} />
        <OtherRecords />
      </aside>
    </div>
  );
}

/** The selected task with what it waited for. */
function useTask(): Resource<InCoreDocument> {
  const session = useSession();
  const resource = useMemo(() => new Resource<InCoreDocument>(session.fetcher), [session]);
  useSignalEffect(() => {
    const { key } = session.state.value;
    const record = { ...session.recordParameters.value, compare: "" };
    if (key === "" || key.includes("/")) resource.clear();
    else void resource.load(address("incore", { ...record, task: key }));
  });
  return resource;
}

function describeTask(tasks: TasksDocument, found: TaskLanes, base: string, units: Units, block: Block, lane: Lane) {
  const name = found.kinds[block.kind]?.name || "unnamed";
  const before = idleBefore(lane, block);
  const stamp = (offset: number) => absolute(BigInt(base), offset);
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
  readonly task: TaskDocument;
  readonly tasks: TasksDocument;
  readonly units: Units;
  readonly onPick: (id: string) => void;
}

function Task({ task, tasks, units, onPick }: TaskProps) {
  const names = new Map(tasks.cores.map(({ core, name }) => [core, name]));
  const stamp = (value: number | null) => (value === null ? "—" : value.toLocaleString());
  return (
    <>
      <div class="drawer-head">
        <h2>{`Task ${task.id}${task.function === null ? "" : ` · ${task.function}`}`}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => onPick("")}>
          ×
        </button>
      </div>
      <p class="muted">
        {task.gap === null
          ? "It waits for no task of this capture."
          : `It starts ${units.exact(task.gap)} after the last task that it waits for.`}
      </p>
      <Section title="Rows" columns={["", "dispatch", "receive", "start", "end", "finish"]} numeric={[1, 2, 3, 4, 5]}>
        {task.rows.map(({ core, start, end, receive, dispatch, finish }) => (
          <tr key={`${core} ${start}`}>
            <th scope="row">{names.get(core) || `core ${core}`}</th>
            {[dispatch, receive, start, end, finish].map((value, at) => (
              <td key={["dispatch", "receive", "start", "end", "finish"][at]} class="num">
                {stamp(value)}
              </td>
            ))}
          </tr>
        ))}
      </Section>
      <Neighbours title="Waits for" found={task.predecessors} units={units} onPick={onPick} />
      <Neighbours title="Is waited for by" found={task.successors} units={units} onPick={onPick} />
    </>
  );
}

interface NeighboursProps {
  readonly title: string;
  readonly found: readonly NeighbourDocument[];
  readonly units: Units;
  readonly onPick: (id: string) => void;
}

function Neighbours({ title, found, units, onPick }: NeighboursProps) {
  if (found.length === 0) return null;
  return (
    <Section title={title} columns={["", "", "start", "end", "length"]} numeric={[2, 3, 4]}>
      {found.slice(0, 50).map(({ id, function: name, start, end }) => (
        <tr key={id}>
          <th scope="row">
            <button type="button" class="link" onClick={() => onPick(id)}>{`task ${id}`}</button>
          </th>
          <td>{name}</td>
          <td class="num">{start?.toLocaleString() ?? "—"}</td>
          <td class="num">{end?.toLocaleString() ?? "—"}</td>
          <td class="num">{start === null || end === null ? "—" : units.say(end - start)}</td>
        </tr>
      ))}
    </Section>
  );
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
  return (
    <Section title="Functions" columns={["", "rows", "time of all cores", "share", "longest"]} numeric={[1, 2, 3, 4]}>
      {found.map(({ index, name, rows, total, longest }) => (
        <tr key={index} class={index === chosen ? "chosen" : ""}>
          <th scope="row">
            <button
              type="button"
              class="link"
              aria-pressed={index === chosen}
              onClick={() => onPick(index === chosen ? -1 : index)}
            >
              {name}
            </button>
          </th>
          <td class="num">{rows.toLocaleString()}</td>
          <td class="num" title={units.exact(total)}>
            {units.say(total)}
          </td>
          <td class="num">{percent(total, whole)}</td>
          <td class="num" title={units.exact(longest)}>
            {units.say(longest)}
          </td>
        </tr>
      ))}
    </Section>
  );
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
  if (others.length === 0) return null;
  return (
    <section>
      <h2>In-core stamps of this run</h2>
      <ul class="plain">
        {others.slice(0, 20).map((name) => (
          <li key={name}>
            <button type="button" class="link" onClick={() => session.showRecord({ name, step: "" })}>
              {name}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
