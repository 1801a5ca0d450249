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
