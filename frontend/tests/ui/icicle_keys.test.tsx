// @vitest-environment happy-dom

import { render } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import type { IcicleDocument } from "../../src/lib/documents";
import { Icicle } from "../../src/ui/icicle";

const ICICLE: IcicleDocument = {
  metric: "time",
  total: 10,
  depths: 2,
  rects: [
    [0, 0, 0, 1, 0, 0, 0],
    [4, 1, 0, 0.6, 1, 1, 0],
    [-1, 1, 0.6, 1, -1, -1, 3],
  ],
  names: ["all", "forward"],
  colors: ["", ""],
};

let did: string[];

beforeEach(() => {
  did = [];
  render(null, document.body);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  render(
    <Icicle
      document={ICICLE}
      theme="light"
      selected={4}
      label="Icicle"
      matches={null}
      shorten={(name) => name}
      colour={() => ""}
      describe={() => ({ title: "", rows: [] })}
      onSelect={(id) => did.push(`select ${id}`)}
      onZoom={(id) => did.push(`zoom ${id}`)}
      onOut={() => did.push("out")}
      onWhole={() => did.push("whole")}
    />,
    document.body,
  );
});

function press(...keys: string[]): void {
  const icicle = document.querySelector("[role=application]");
  for (const key of keys) icicle?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}

function wheel(deltaY: number, clientX: number, ctrlKey = true): boolean {
  const canvas = document.querySelector(".icicle-canvas");
  vi.spyOn(canvas as Element, "getBoundingClientRect").mockReturnValue({ left: 0, top: 0, width: 100 } as DOMRect);
  const event = new WheelEvent("wheel", { deltaY, bubbles: true, cancelable: true });
  Object.defineProperty(event, "clientX", { value: clientX });
  Object.defineProperty(event, "ctrlKey", { value: ctrlKey });
  return canvas?.dispatchEvent(event) ?? false;
}

test("keys zoom in, out and to the whole", () => {
  press("Enter", "+", "-", "0", "Escape", "ArrowUp");
  expect(did).toEqual(["zoom 4", "zoom 4", "out", "whole", "whole", "select 0"]);
});

test("the wheel with Ctrl goes a level in where it points, or out; alone it scrolls the page", () => {
  wheel(-120, 20);
  wheel(-120, 80);
  wheel(120, 20);
  expect(did).toEqual(["zoom 4", "out"]);
  expect(wheel(120, 20, false)).toBe(true);
  expect(did).toHaveLength(2);
});
