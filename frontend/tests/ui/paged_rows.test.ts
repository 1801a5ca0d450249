import { expect, test, vi } from "vitest";
import type { Fetch } from "../../src/lib/api";
import { PagedRows } from "../../src/ui/paged_rows";

/** A server of a flat tree with a million rows, whose names say the question. */
function server() {
  const asked: URLSearchParams[] = [];
  const fetcher: Fetch = async (url) => {
    const query = new URLSearchParams(url.slice(url.indexOf("?")));
    asked.push(query);
    const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
    const rows = Array.from({ length: limit }, (_, k) => ({
      id: offset + k,
      name: `${query.get("sort")} ${offset + k}`,
    }));
    return new Response(JSON.stringify({ visible_rows: 1_000_000, rows, columns: [] }));
  };
  return { asked, fetcher };
}

test("asks only for the pages in sight", async () => {
  const { asked, fetcher } = server();
  const rows = new PagedRows(fetcher);
  rows.show({ sort: "name" });
  await vi.waitFor(() => expect(rows.row(0)?.name).toBe("name 0"));
  rows.need(500_190, 500_230);
  await vi.waitFor(() => expect(rows.row(500_229)?.id).toBe(500_229));
  expect(asked.map((query) => query.get("offset"))).toEqual(["0", "500000", "500200"]);
  expect(rows.indexOf(500_201)).toBe(500_201);
});

test("keeps the old rows in sight until the new ones are there", async () => {
  const { fetcher } = server();
  const rows = new PagedRows(fetcher);
  rows.show({ sort: "name" });
  await vi.waitFor(() => expect(rows.row(0)).toBeDefined());
  rows.show({ sort: "time" });
  expect(rows.row(0)?.name).toBe("name 0");
  await vi.waitFor(() => expect(rows.row(0)?.name).toBe("time 0"));
});

test("asks the same question once", async () => {
  const { asked, fetcher } = server();
  const rows = new PagedRows(fetcher);
  rows.show({ sort: "name" });
  await vi.waitFor(() => expect(rows.row(0)).toBeDefined());
  rows.show({ sort: "name" });
  rows.need(0, 30);
  expect(asked).toHaveLength(1);
});

test("keeps the pages that were read last, however far one scrolls", async () => {
  const { asked, fetcher } = server();
  const rows = new PagedRows(fetcher);
  rows.show({ sort: "name" });
  for (let page = 0; page <= 100; page++) {
    rows.need(page * 200, page * 200 + 30);
    await vi.waitFor(() => expect(rows.row(page * 200)).toBeDefined(), { interval: 1 });
  }
  expect(asked).toHaveLength(101);
  expect(rows.row(0)).toBeUndefined();
  expect(rows.row(200)?.id).toBe(200);
});

test("is slow no longer where what was slow is out of sight", async () => {
  vi.useFakeTimers();
  try {
    const { fetcher } = server();
    const rows = new PagedRows((url, init) => (url.includes("offset=0&") ? fetcher(url, init) : new Promise(() => {})));
    rows.show({ sort: "name" });
    await vi.waitFor(() => expect(rows.row(0)).toBeDefined());
    rows.need(4000, 4030);
    vi.advanceTimersByTime(1000);
    expect(rows.slow.value).toBe(true);
    rows.need(0, 30);
    expect(rows.slow.value).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});
