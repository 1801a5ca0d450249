// @vitest-environment happy-dom

import { render } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import { type Block, packed } from "../../src/lib/lanes";
import { Lanes } from "../../src/ui/lanes";

const block = (start: number, end: number, id: number): Block => ({ start, end, kind: 0, id });
const LANES = [
  { key: "a", label: "AIC_0", group: "AIC", tracks: packed([[block(0, 40, 1)], [block(60, 100, 2)]]) },
  { key: "b", label: "<b>AIV_1</b>", group: "AIV", tracks: packed([[block(50, 90, 3)]]) },
];
const KINDS = [{ name: "matmul" }, { name: "slack", striped: true }];

beforeEach(() => {
  render(null, document.body);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
});

function show(selected: number, onSelect: (id: number) => void = () => {}, onZoom: (zoom: unknown) => void = () => {}) {
  render(
    <Lanes
      lanes={LANES}
      kinds={KINDS}
      label="Tasks on 2 cores"
      theme="light"
      ns={0}
      exact={(length) => `${length} cycles`}
      describe={({ start, end }) => ({ title: "matmul", rows: [{ label: "length", value: `${end - start} cycles` }] })}
      selected={selected}
      onSelect={onSelect}
      zoom={null}
      onZoom={onZoom}
      fileName="lanes"
    />,
    document.body,
  );
  return document.querySelector<HTMLElement>("[role=application]");
}

const press = (element: HTMLElement | null, key: string) =>
  element?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

test("can be focused, and says what it is and which keys there are", () => {
  const element = show(-1);
  expect(element?.tabIndex).toBe(0);
  expect(element?.getAttribute("aria-label")).toContain("Tasks on 2 cores. Arrow keys move between blocks");
});

test("arrow keys select, from the first block on", () => {
  const selected: number[] = [];
  press(
    show(-1, (id) => selected.push(id)),
    "ArrowRight",
  );
  press(
    show(1, (id) => selected.push(id)),
    "ArrowRight",
  );
  press(
    show(2, (id) => selected.push(id)),
    "ArrowDown",
  );
  expect(selected).toEqual([1, 2, 3]);
});

test("the selected block is read out with its exact figures, names as text", () => {
  show(3);
  const spoken = document.querySelector("p[role=status]");
  expect(spoken?.textContent).toBe("<b>AIV_1</b>: matmul, length 40 cycles");
  expect(spoken?.querySelector("b")).toBeNull();
});

test("the view is told once it rests, and the whole is no zoom", async () => {
  vi.useFakeTimers();
  const told: unknown[] = [];
  const element = show(
    -1,
    () => {},
    (zoom) => told.push(zoom),
  );
  press(element, "w");
  await vi.advanceTimersByTimeAsync(300);
  press(element, "0");
  await vi.advanceTimersByTimeAsync(300);
  vi.useRealTimers();
  expect(told).toHaveLength(2);
  expect(told[0]).toHaveLength(2);
  expect(told[1]).toBeNull();
});

test("the legend tells kinds by name and form", () => {
  show(-1);
  expect([...document.querySelectorAll(".lanes-legend li")].map((item) => item.textContent)).toEqual([
    "matmul",
    "slack",
  ]);
  expect(document.querySelectorAll(".lanes-legend .striped")).toHaveLength(1);
});
