// @vitest-environment happy-dom

import { render } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import { numberColumn, wordColumn } from "../../src/ui/columns";
import { toMarkdown, toTsv } from "../../src/ui/copying";
import { DataTable, searchRows, sortRows } from "../../src/ui/data_table";
import { nextSort } from "../../src/ui/grid_head";
import { Session, SessionProvider } from "../../src/ui/session";

interface Item {
  readonly name: string;
  readonly ms: number | null;
}
const ITEMS: Item[] = [
  { name: "b10", ms: 2 },
  { name: "<img src=x onerror=alert(1)>", ms: null },
  { name: "b9", ms: 30 },
];
const COLUMNS = [
  wordColumn<Item>({ key: "name", title: "name", help: "Its name", value: ({ name }) => name }),
  numberColumn(ITEMS, { key: "ms", title: "time", help: "Its time", quantity: "ms", value: ({ ms }) => ms, whole: 32 }),
];
const names = (rows: readonly Item[]) => rows.map(({ name }) => name);

test("sorts numbers in words by value, and puts what is absent last", () => {
  expect(names(sortRows(ITEMS, COLUMNS, "name")).slice(1)).toEqual(["b9", "b10"]);
  expect(names(sortRows(ITEMS, COLUMNS, "-ms"))).toEqual(["b9", "b10", ITEMS[1]?.name]);
  expect(names(sortRows(ITEMS, COLUMNS, "ms"))).toEqual(["b10", "b9", ITEMS[1]?.name]);
});

test("figures sort the largest first, words from A, and a second click turns it", () => {
  expect(nextSort("ms", true, "")).toBe("-ms");
  expect(nextSort("ms", true, "-ms")).toBe("ms");
  expect(nextSort("name", false, "")).toBe("name");
});

test("searches the words", () => {
  expect(names(searchRows(ITEMS, COLUMNS, "B1"))).toEqual(["b10"]);
  expect(names(searchRows(ITEMS, COLUMNS, "/^b/"))).toEqual(["b10", "b9"]);
});

test("copies figures as they are, without units", () => {
  expect(toTsv(COLUMNS, ITEMS.slice(0, 2))).toBe(`name\tms\nb10\t2\n${ITEMS[1]?.name}\t`);
});

test("copies Markdown in which no name ends a cell", () => {
  const rows = [{ name: "a|b", ms: 2 }];
  expect(toMarkdown(COLUMNS, rows)).toBe("| name | ms |\n| --- | --- |\n| a\\|b | 2 |");
});

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

function show(onSelect: (id: string) => void = () => {}) {
  render(
    <SessionProvider value={new Session(async () => new Response())}>
      <DataTable
        label="Items"
        columns={COLUMNS}
        rows={ITEMS}
        id={({ name }) => name}
        sort="-ms"
        onSort={() => {}}
        selected="b9"
        onSelect={onSelect}
      />
    </SessionProvider>,
    document.body,
  );
}

test("is a grid that says its size, its order and its active row", async () => {
  show();
  await vi.waitFor(() => expect(document.querySelectorAll(".row")).toHaveLength(3));
  const grid = document.querySelector('[role="grid"]');
  expect(grid?.getAttribute("aria-rowcount")).toBe("4");
  expect(document.querySelectorAll('[aria-sort="descending"]')).toHaveLength(1);
  const active = document.getElementById(grid?.getAttribute("aria-activedescendant") ?? "");
  expect(active?.getAttribute("aria-selected")).toBe("true");
  expect(active?.textContent).toContain("b9");
});

test("shows names as text, whatever they hold", async () => {
  show();
  await vi.waitFor(() => expect(document.body.textContent).toContain("onerror"));
  expect(document.querySelector("img")).toBeNull();
});

test("absent is a dash, and the exact figure is there on hover", async () => {
  show();
  await vi.waitFor(() => expect(document.querySelectorAll(".cell.num")).toHaveLength(3));
  const [first, , last] = document.querySelectorAll(".cell.num");
  expect(first?.getAttribute("title")).toBe("30 ms · 93.8% of all");
  expect(last?.textContent).toBe("—");
});

test("the arrow keys move the selection", async () => {
  const selected: string[] = [];
  show((id) => selected.push(id));
  await vi.waitFor(() => expect(document.querySelectorAll(".row")).toHaveLength(3));
  const grid = document.querySelector(".grid");
  for (const key of ["ArrowDown", "End", "Home"])
    grid?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  expect(selected).toEqual(["b10", ITEMS[1]?.name, "b9"]);
});
