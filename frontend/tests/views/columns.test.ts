import { describe, expect, test } from "vitest";
import type { RowsDocument, ViewColumn, ViewRow } from "../../src/lib/documents";
import {
  defaultMetric,
  figureColumn,
  onSide,
  rowName,
  shareColumn,
  shortTitle,
  usefulColumns,
} from "../../src/views/columns";

const column = (name: string, unit = "us"): ViewColumn => ({
  name,
  unit,
  title: name,
  help: "",
  total: name.startsWith("total_"),
});
const NAMES = [
  "total_exec_micros",
  "total_accelerator_exec_micros",
  "total_cpu_exec_micros",
  "exec_micros",
  "accelerator_exec_micros",
  "cpu_exec_micros",
];
const row = (figures: Record<string, number>): ViewRow => ({
  id: 1,
  name: "a",
  depth: 1,
  parent: 0,
  children: 0,
  open: false,
  matched: false,
  ...figures,
});

function head(root: Record<string, number>, more: Partial<RowsDocument> = {}): RowsDocument {
  const columns = [
    ...NAMES.map((name) => column(name)),
    column("total_requested_bytes", "bytes"),
    column("requested_bytes", "bytes"),
  ];
  const rows = [row({ exec_micros: 4 })];
  return {
    view: "scope",
    total_rows: 1,
    visible_rows: 1,
    offset: 0,
    rows,
    root,
    columns,
    matches: null,
    steps: [],
    problems: [],
    ...more,
  };
}

const names = (columns: readonly ViewColumn[]) => columns.map(({ name }) => name);

describe("the columns of a view", () => {
  test("leave out what is nothing throughout", () => {
    const found = usefulColumns(
      head({
        total_exec_micros: 9,
        total_accelerator_exec_micros: 3,
        total_cpu_exec_micros: 6,
        total_requested_bytes: 0,
      }),
    );
    expect(names(found)).toEqual([
      "total_exec_micros",
      "exec_micros",
      "total_accelerator_exec_micros",
      "accelerator_exec_micros",
      "total_cpu_exec_micros",
      "cpu_exec_micros",
    ]);
  });

  test("leave out the sum of host and device time where time is read by resource, and begin with the resource", () => {
    const root = { total_exec_micros: 9, total_accelerator_exec_micros: 3, total_cpu_exec_micros: 6 };
    const device = { resource: "device", time: "accelerator_exec_micros" } as const;
    expect(names(usefulColumns(head(root, { ...device, view: "op" })))).toEqual([
      "accelerator_exec_micros",
      "total_accelerator_exec_micros",
      "cpu_exec_micros",
      "total_cpu_exec_micros",
    ]);
    const host = { resource: "host", time: "cpu_exec_micros" } as const;
    expect(names(usefulColumns(head(root, host)))).toEqual([
      "total_cpu_exec_micros",
      "cpu_exec_micros",
      "total_accelerator_exec_micros",
      "accelerator_exec_micros",
    ]);
    expect(defaultMetric(head(root, host))).toBe("total_cpu_exec_micros");
  });

  test("name the whole of their share", () => {
    const column = shareColumn(head({}, { resource: "device" }));
    expect(column.title).toBe("% of device time");
    expect(column.cell(row({ share: 0.25 }))).toEqual({ text: "25.0", share: 0.25 });
    expect(column.cell(row({})).text).toBe("—");
  });

  test("do not say host time twice where there is no accelerator", () => {
    const found = usefulColumns(
      head({ total_exec_micros: 9, total_accelerator_exec_micros: 0, total_cpu_exec_micros: 9 }),
    );
    expect(names(found)).toEqual(["total_exec_micros", "exec_micros"]);
  });

  test("have self beside total for times only, unless self is asked for", () => {
    const document = head({});
    const side = (which: "both" | "total" | "self") =>
      names(document.columns.filter((one) => onSide(one, which, document)));
    expect(side("both")).not.toContain("requested_bytes");
    expect(side("both")).toContain("exec_micros");
    expect(side("total").every((name) => name.startsWith("total_"))).toBe(true);
    expect(side("self").some((name) => name.startsWith("total_"))).toBe(false);
  });

  test("say once what is the same in a flat op view", () => {
    const document = head({}, { view: "op" });
    expect(names(document.columns.filter((one) => onSide(one, "both", document)))).not.toContain("exec_micros");
    const nested = { ...document, columns: [...document.columns, column("p50_micros")] };
    expect(names(nested.columns.filter((one) => onSide(one, "both", nested)))).toContain("exec_micros");
  });
});

test("a figure has its share of the whole, and absent is not zero", () => {
  const { cell, unit } = figureColumn(column("exec_micros"), head({ total_exec_micros: 16 }));
  expect(unit).toBe("µs");
  expect(cell(row({ exec_micros: 4 }))).toMatchObject({ text: "4.000", share: 0.25, title: "4 µs · 25.0% of all" });
  expect(cell(row({ exec_micros: 0 })).text).toBe("0.000");
  expect(cell(row({})).text).toBe("—");
});

test("names and titles are for readers", () => {
  expect(rowName("_TFProfRoot")).toBe("(total)");
  expect(shortTitle("self accelerator time")).toBe("self accelerator");
  expect(shortTitle("self time")).toBe("self time");
});
