// @vitest-environment happy-dom

import { render } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import { INITIAL_STATE } from "../../src/lib/state";
import type { GridColumn } from "../../src/ui/grid_column";
import { Session, SessionProvider } from "../../src/ui/session";
import { type Caller, CallersPane, sortTree } from "../../src/views/callers_pane";
import { turnBelow } from "../../src/views/tree";

const RECORD = {
  kind: "profile",
  name: "main",
  tag: "main",
  first_step: 0,
  last_step: 0,
  closed: true,
  rows: 9,
  written_wall_ns: "1",
  producer: "test",
};
const CALLERS = {
  view: "graph",
  metric: "total_exec_micros",
  rows: [
    { name: "matmul", id: 4, parent: -1, depth: 0, value: 85, places: 3 },
    { name: "linear", id: 3, parent: 0, depth: 1, value: 80, places: 2 },
  ],
  left_out: 2,
};

beforeEach(() => {
  render(null, document.body);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(300);
});

function show(selected: number): string[] {
  const asked: string[] = [];
  const session = new Session(async (url) => {
    asked.push(url);
    return new Response(JSON.stringify(CALLERS));
  });
  session.index.data.value = { runs: [{ name: "run", records: [RECORD] }], problems: [] };
  session.update({ lens: "views", selected, view: "graph" });
  render(
    <SessionProvider value={session}>
      <CallersPane quantity="micros" />
    </SessionProvider>,
    document.body,
  );
  return asked;
}

test("shows who calls the selected row, with their share of its cost", async () => {
  const asked = show(4);
  await vi.waitFor(() => expect(document.querySelectorAll(".row")).toHaveLength(2));
  expect(asked[0]).toContain("shape=callers&id=4");
  expect(document.querySelector("#caller-1")?.textContent).toContain("linear");
  expect(document.querySelector("#caller-1")?.getAttribute("aria-level")).toBe("2");
  expect(document.body.textContent).toContain("2 cheaper ones left out");
});

test("says that a row must be selected first", async () => {
  const asked = show(0);
  await vi.waitFor(() => expect(document.body.textContent).toContain("Whose callers?"));
  expect(asked).toEqual([]);
});

test("opening all below a row forgets what was said of rows in there", () => {
  const state = { ...INITIAL_STATE, toggled: [2, 5, 9], below: [-6, 12] };
  expect(turnBelow(state, { id: 4, end: 9 }, true)).toEqual({ toggled: [2, 9], below: [12, 4] });
  expect(turnBelow(state, { id: 4, end: 20 }, false)).toEqual({ toggled: [2], below: [-4] });
  expect(turnBelow(state, { id: 0, end: 20 }, false)).toMatchObject({ depth: 1, toggled: [], below: [] });
});

test("callers are sorted below what they call, by any column", async () => {
  const column = (key: string, value: (row: Caller) => string | number): GridColumn<Caller> => ({
    ...{ key, title: key, help: "", width: 1, numeric: key !== "name", value },
    cell: (row) => ({ text: String(value(row)) }),
  });
  const columns = [column("name", ({ name }) => name), column("cost", ({ value }) => value)];
  const row = (name: string, depth: number, value: number) => ({ name, depth, value, id: 0, parent: -1, places: 1 });
  const rows = [row("mm", 0, 9), row("b", 1, 6), row("b.x", 2, 6), row("a", 1, 3), row("a.y", 2, 1), row("a.z", 2, 2)];
  const names = (sort: string) => sortTree(rows, columns, sort).map(({ name }) => name);
  expect(names("-cost")).toEqual(["mm", "b", "b.x", "a", "a.z", "a.y"]);
  expect(names("cost")).toEqual(["mm", "a", "a.y", "a.z", "b", "b.x"]);
  expect(names("name")).toEqual(["mm", "a", "a.y", "a.z", "b", "b.x"]);
  expect(names("")).toEqual(["mm", "b", "b.x", "a", "a.y", "a.z"]);
});

test("the head of the callers sorts them", async () => {
  show(4);
  await vi.waitFor(() => expect(document.querySelectorAll(".row")).toHaveLength(2));
  const head = () => document.querySelectorAll("[role=columnheader]")[1];
  expect(head()?.getAttribute("aria-sort")).toBe("descending");
  head()?.querySelector("button")?.click();
  await vi.waitFor(() => expect(head()?.getAttribute("aria-sort")).toBe("ascending"));
});
