import { expect, test } from "vitest";
import type { TasksDocument } from "../../src/incore/document";
import { dependencyArrows, taskLanes } from "../../src/incore/task_lanes";

const TASKS: TasksDocument = {
  unit: "cycles",
  task_ids: ["7", "18446744073709551615", "9"],
  functions: ["matmul"],
  cores: [
    { core: 0, name: "AIC_0", engine: "aic" },
    { core: 1, name: "AIV_1", engine: "aiv" },
    { core: 2, name: "", engine: "unknown" },
  ],
  rows: {
    task: [0, 1, 1, 2],
    core: [0, 1, 2, 0],
    start: [0, 60, 50, 100],
    end: [40, 90, 80, 200],
    function: [0, 0, 0, -1],
  },
  activities: {
    lanes: ["scheduler 0"],
    kinds: ["dispatch"],
    lane: [0, 0],
    kind: [0, 0],
    start: [10, 0],
    end: [12, 5],
    on_host_clock: [false, true],
  },
};
const found = taskLanes(TASKS);

test("a lane for each core with its share of busy time, then the scheduler's", () => {
  expect(found.lanes.map(({ label, group, note }) => [label, group, note])).toEqual([
    ["AIC_0", "AIC · 1", "70.0%"],
    ["AIV_1", "AIV · 1", "15.0%"],
    ["core 2", "Cores · 1", "15.0%"],
    ["scheduler 0", "Scheduler", undefined],
  ]);
});

test("spans of the host's clock are counted, not drawn among the device's", () => {
  expect(found.apart).toBe(1);
  expect(found.lanes[3]?.tracks[0]?.start).toEqual([10]);
});

test("all rows of a task share its id, and one without a function is no other's", () => {
  expect(found.rows.get(1)).toEqual([1, 2]);
  const [track] = found.lanes[0]?.tracks ?? [];
  expect(track?.id).toEqual([0, 2]);
  expect(track?.kind.map((kind) => found.kinds[kind]?.name)).toEqual(["matmul", ""]);
});

test("arrows lead from the last end of what is waited for to the first start, by ids beyond 2^53", () => {
  const neighbour = (id: string) => ({ id, function: null, start: null, end: null });
  const task = {
    id: "18446744073709551615",
    function: null,
    rows: [],
    predecessors: [neighbour("7"), neighbour("absent")],
    successors: [neighbour("9")],
    gap: 10,
  };
  expect(dependencyArrows(TASKS, found, task)).toEqual([
    { from: { lane: "0", at: 40 }, to: { lane: "2", at: 50 } },
    { from: { lane: "1", at: 90 }, to: { lane: "0", at: 100 } },
  ]);
});
