import { expect, test } from "vitest";
import { address } from "../../src/lib/api";
import type { ViewRow } from "../../src/lib/documents";
import { INITIAL_STATE } from "../../src/lib/state";
import { icicleAddress, rowsParameters } from "../../src/views/questions";
import { arrow, openDepth, toggle } from "../../src/views/tree";

const row = (id: number, parent: number, children: number, open: boolean): ViewRow => ({
  id,
  parent,
  children,
  open,
  name: `n${id}`,
  depth: 0,
  matched: false,
});
const ROWS = [row(0, -1, 2, true), row(1, 0, 1, false), row(3, 0, 0, false)];
const at = (index: number) => ROWS[index];

test("the right arrow opens a closed row and enters an open one", () => {
  expect(arrow("ArrowRight", 1, at)).toEqual({ toggle: 1 });
  expect(arrow("ArrowRight", 0, at)).toEqual({ move: 1 });
  expect(arrow("ArrowRight", 2, at)).toBeNull();
});

test("the left arrow closes an open row and leaves a closed one", () => {
  expect(arrow("ArrowLeft", 0, at)).toEqual({ toggle: 0 });
  expect(arrow("ArrowLeft", 2, at)).toEqual({ move: 0 });
  expect(arrow("ArrowUp", 2, at)).toBeNull();
});

test("toggling twice is nothing, and the list stays short enough for an address", () => {
  expect(toggle(toggle([5], 7), 7)).toEqual([5]);
  const many = Array.from({ length: 4000 }, (_, k) => k);
  expect(toggle(many, 9999)).toHaveLength(4000);
});

test("a tree is open a few levels at first, a list of ops one", () => {
  expect(openDepth({ view: "op", depth: 0 })).toBe(1);
  expect(openDepth({ view: "scope", depth: 0 })).toBe(3);
  expect(openDepth({ view: "scope", depth: 7 })).toBe(7);
});

test("the questions carry the record, the view, its options and the window", () => {
  const state = { ...INITIAL_STATE, view: "scope" as const, toggled: [4, 2], root: 3, options: { min_micros: "5" } };
  const record = { run: "a/b", name: "p", record_step: "" };
  expect(address("views", rowsParameters(state, record))).toBe(
    "views?run=a%2Fb&name=p&min_micros=5&view=scope&depth=3&toggled=4%2C2&root=3",
  );
  expect(icicleAddress(state, record)).toContain("shape=icicle&root=3");
});
