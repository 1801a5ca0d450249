// @vitest-environment happy-dom

import { render as unrender } from "preact";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { render } from "../src/main";

type Answer = unknown | { readonly status: number; readonly body: unknown };

const record = (kind: string, name: string) => ({
  kind,
  name,
  tag: name,
  first_step: 1,
  last_step: 1,
  closed: true,
  rows: 3,
  written_wall_ns: "1795985530002716126",
  producer: "test",
});
const index = (...kinds: string[]) => ({
  runs: [{ name: "<b>run</b>", records: kinds.map((kind) => record(kind, "main")) }],
  problems: [],
});
const OPTIONS = { views: [], throughput: [], incore: [], dcn: [] };

/** Answers each route with a document, and an index of 404 with nothing. */
function serve(answers: Readonly<Record<string, Answer>>): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    const answer = answers[url.split("?")[0] ?? ""];
    const failed = typeof answer === "object" && answer !== null && "status" in answer && "body" in answer;
    const { status, body } = failed ? (answer as { status: number; body: unknown }) : { status: 200, body: answer };
    return new Response(JSON.stringify(body), { status });
  });
  return asked;
}

/** A file that is loaded later is compiled first, which takes its time. */
const LOADED_MS = 20_000;
const shows = (text: string, timeout = 1000) =>
  vi.waitFor(() => expect(document.body.textContent).toContain(text), { timeout });

beforeEach(() => {
  unrender(null, document.body);
  document.head.replaceChildren();
  location.hash = "";
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
});

describe("the panel says which state it is in, and what to do next", () => {
  test("nothing logged: how to log it", async () => {
    serve({ index: index("throughput"), options: OPTIONS });
    location.hash = "#stepscope&p.stepscope.lens=views";
    render();
    await shows("No profile is logged here");
    expect(document.body.textContent).toContain("stepscope import");
  });

  test("the record in the address is gone: the newest instead", async () => {
    serve({ index: index("profile"), options: OPTIONS });
    location.hash = "#stepscope&p.stepscope.lens=views&p.stepscope.run=gone";
    render();
    await shows("The record in the address is not here");
    await shows("Show the newest");
  });

  test("the server cannot answer: what, where, and what to do", async () => {
    const error = { found: "the log directory is not there", where: "/logs", remedy: "Check --logdir" };
    serve({ index: { status: 404, body: { error } }, options: OPTIONS });
    render();
    await shows("The log directory is not there.");
    await shows("Check --logdir.");
  });

  test("part of it is damaged: the rest, and what was lost", async () => {
    const problems = [
      { run: "a", where: "events.1 at byte 7", what: "a damaged record", remedy: "Copy the file again", count: 2 },
    ];
    serve({ index: { ...index(), problems }, options: OPTIONS });
    render();
    await shows("a: a damaged record (2×).");
    await shows("events.1 at byte 7");
  });

  test("the options hide every row: they can be cleared", async () => {
    const root = { id: 0, name: "_TFProfRoot", depth: 0, parent: -1, children: 0, open: false, matched: false };
    const rows = {
      view: "op",
      total_rows: 1,
      visible_rows: 1,
      offset: 0,
      rows: [root],
      root: {},
      columns: [],
      matches: null,
      steps: [],
      problems: [],
      series: [],
    };
    const asked = serve({ index: index("profile"), options: OPTIONS, views: rows });
    location.hash = "#stepscope&p.stepscope.lens=views&p.stepscope.opt.min_micros=999";
    render();
    await shows("The options hide every row");
    expect(asked.some((url) => url.startsWith("views?") && url.includes("min_micros=999"))).toBe(true);
  });

  test("a bad value in the address: the default, and a notice", async () => {
    serve({ index: index("throughput"), options: OPTIONS, throughput: { series: [] } });
    location.hash = "#stepscope&p.stepscope.view=tree";
    render();
    await shows("The address has view=tree");
  });
});

test("what no first screen needs is there once it is opened", { timeout: LOADED_MS }, async () => {
  serve({ index: index("throughput"), options: OPTIONS, throughput: { series: [] } });
  location.hash = "#stepscope&p.stepscope.lens=throughput";
  render();
  await shows("No series in these records", LOADED_MS);
});

test("names are text, whatever they hold", async () => {
  serve({ index: index("profile", "incore"), options: OPTIONS, views: { status: 404, body: {} } });
  render();
  await shows("<b>run</b>");
  expect(document.querySelector("b")).toBeNull();
});

test("tabs are a tab list in which lenses without data are marked", async () => {
  serve({ index: index("profile"), options: OPTIONS, views: { status: 404, body: {} } });
  render();
  await vi.waitFor(() => expect(document.querySelectorAll('[role="tab"].nothing')).toHaveLength(3));
  expect(document.querySelector('[aria-selected="true"]')?.textContent).toBe("Overview");
});

test("the overview says what is logged, and of what is not how to log it", async () => {
  serve({ index: index("profile"), options: OPTIONS, views: { status: 404, body: {} }, findings: [] });
  render();
  await shows("1 record in 1 run");
  await shows("No issues found");
  expect(document.body.textContent).toContain("rate = writer.throughput(");
  expect(document.body.textContent).not.toContain("writer.log_profile(");
});

test("a run with several series names each, with its unit where they differ", async () => {
  const series = (run: string, name: string, unit: string) => ({
    ...{ run, name, unit, local_samples_per_sec: [12], avg_samples_per_sec: [10] },
    statistics: { data_wait_share: null },
  });
  const throughput = {
    series: [series("jax", "steps", "steps"), series("jax", "train", "samples"), series("b", "train", "samples")],
  };
  serve({ index: index("throughput"), options: OPTIONS, throughput, findings: [] });
  render();
  await shows("jax · train");
  const cells = [...document.querySelectorAll(".small-table tbody tr")].map((row) => row.textContent);
  expect(cells).toEqual([
    "jax · steps12.000 steps/s10.000 steps/s—",
    "jax · train12.000 samples/s10.000 samples/s—",
    "b12.000 samples/s10.000 samples/s—",
  ]);
});

test("where the time goes adds up: no kernel beside the op that launched it, and steps apart from ops", async () => {
  const row = (id: number, name: string, exec_micros: number, launched = false) => ({
    id,
    name,
    parent: 0,
    exec_micros,
    launched,
  });
  const rows = [
    row(1, "ProfilerStep#5", 20),
    row(2, "aten::mm", 60),
    row(3, "gemm", 50, true),
    row(4, "aten::add", 15),
  ];
  const document_ = {
    rows,
    root: { total_exec_micros: 100 },
    steps: [{ id: 5, name: "ProfilerStep#5" }],
    total_rows: 5,
  };
  serve({ index: index("profile"), options: OPTIONS, views: document_, findings: [] });
  render();
  await shows("aten::mm");
  const list = [...document.querySelectorAll(".ranked")].find((one) => one.textContent?.includes("aten::mm"));
  expect([...(list?.children ?? [])].map((line) => line.textContent)).toEqual([
    "60.0%aten::mm60.000 µs",
    "15.0%aten::add15.000 µs",
    "5.0%other ops5.000 µs",
    "20.0%steps, outside every op20.000 µs",
  ]);
});

test("the sheet of commands is made from the commands that there are", async () => {
  serve({ index: index("profile"), options: OPTIONS, views: { status: 404, body: {} } });
  location.hash = "#stepscope&p.stepscope.lens=views";
  render();
  await shows("Try again");
  // Keys are listened to as soon as the first picture stands.
  await vi.waitFor(() => {
    if (document.querySelector("[role=dialog]") === null) {
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "?" }));
    }
    expect(document.querySelector("[role=dialog]")).not.toBeNull();
  });
  await shows("Start from the selected row");
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  await vi.waitFor(() => expect(document.querySelector(".sheet")).toBeNull());
});
