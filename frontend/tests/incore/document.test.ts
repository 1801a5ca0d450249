import { expect, test } from "vitest";
import { blocksOf, type InCoreDocument, isMeasured, phasesOf, slotNames, sumOf } from "../../src/incore/document";

const PARTITION = { "R-E": 5002, "B-R": 162, "A-B": 60, "F-A": 4002 };

test("the phases add up to the total", () => {
  const document: InCoreDocument = { status: "ok", partition: PARTITION, total: 9226 };
  expect(phasesOf(document).map(({ name }) => name)).toEqual(["R-E", "B-R", "A-B", "F-A"]);
  expect(sumOf(phasesOf(document))).toBe(document.total);
});

test("within a task's own bounds its partition is the one that adds up", () => {
  const l2 = { ordered: true, partition: { "E-M0": 8, ...PARTITION, "M1-F": 44 }, total: 9278 };
  expect(sumOf(phasesOf({ status: "ok", partition: PARTITION, l2 }))).toBe(l2.total);
});

test("where the task's clock is another one, its own partition is left alone", () => {
  const document: InCoreDocument = { status: "warning", partition: PARTITION, l2: { ordered: null, partition: null } };
  expect(phasesOf(document)).toHaveLength(4);
});

test("user phases are named by their boundaries", () => {
  const phases = [{ from: "start", to: "qk_done", cycles: 888 }];
  expect(phasesOf({ status: "ok", phases })).toEqual([{ name: "start → qk_done", cycles: 888 }]);
});

test("a lane bridges stamps that its slot does not owe", () => {
  const blocks = blocksOf({ slot: 1, stamps: [0, null, 30, 90] });
  expect(blocks).toEqual([
    { from: 0, to: 30, first: 0, last: 2 },
    { from: 30, to: 90, first: 2, last: 3 },
  ]);
});

test("slots are called by their core where it is known", () => {
  const name = slotNames({ cores: [{ slot: 3, name: "AIC 3", engine: "aic" }] });
  expect([name(3), name(4)]).toEqual(["AIC 3", "slot 4"]);
});

test("a task is the measured one where it fills the task's own bounds, counted from the capture's base", () => {
  const document: InCoreDocument = {
    status: "ok",
    l2_bounds: { M0: "18446744073709551000", M1: "18446744073709551090" },
    detail: { capture: { base_time_cycles: "18446744073709550990" } },
  };
  const row = (core: number, start: number, end: number) => ({
    ...{ core, start, end },
    ...{ receive: null, dispatch: null, finish: null },
  });
  const task = { id: "1", function: null, predecessors: [], successors: [], gap: null };
  expect(isMeasured(document, { ...task, rows: [row(0, 10, 90), row(1, 12, 100)] })).toBe(true);
  expect(isMeasured(document, { ...task, rows: [row(0, 10, 90)] })).toBe(false);
});
