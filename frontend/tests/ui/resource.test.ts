import { expect, test } from "vitest";
import type { Fetch } from "../../src/lib/api";
import { Resource } from "../../src/ui/resource";

/** A server that answers when told to, and honours aborts. */
function server() {
  const waiting: { url: string; answer: (body: unknown, status?: number) => void; aborted: () => boolean }[] = [];
  const fetcher: Fetch = (url, { signal }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      const answer = (body: unknown, status = 200) => resolve(new Response(JSON.stringify(body), { status }));
      waiting.push({ url, answer, aborted: () => signal.aborted });
    });
  return { waiting, fetcher };
}

test("a later question aborts the earlier one, whose answer never shows", async () => {
  const { waiting, fetcher } = server();
  const resource = new Resource<string>(fetcher);
  const first = resource.load("a");
  const second = resource.load("b");
  waiting[1]?.answer("of b");
  await Promise.all([first, second]);
  expect(waiting[0]?.aborted()).toBe(true);
  expect(resource.data.value).toBe("of b");
});

test("the last answer stays while the next one is awaited", async () => {
  const { waiting, fetcher } = server();
  const resource = new Resource<string>(fetcher);
  const first = resource.load("a");
  waiting[0]?.answer("of a");
  await first;
  void resource.load("b");
  expect([resource.data.value, resource.loading.value]).toEqual(["of a", true]);
});

test("the same address is asked once, unless it is asked for again", () => {
  const { waiting, fetcher } = server();
  const resource = new Resource<string>(fetcher);
  void resource.load("a");
  void resource.load("a");
  expect(waiting).toHaveLength(1);
  resource.reload();
  expect(waiting).toHaveLength(2);
});

test("an error takes the place of the data and says what to do", async () => {
  const { waiting, fetcher } = server();
  const resource = new Resource<string>(fetcher);
  const loading = resource.load("a");
  waiting[0]?.answer({ error: { found: "no run", where: "runs", remedy: "Choose one" } }, 404);
  await loading;
  expect(resource.data.value).toBeNull();
  expect(resource.error.value?.remedy).toBe("Choose one");
});

test("an error while reading again leaves what was there", async () => {
  const { waiting, fetcher } = server();
  const resource = new Resource<string>(fetcher);
  const first = resource.load("a");
  waiting[0]?.answer("of a");
  await first;
  const second = resource.load("a", true);
  waiting[1]?.answer({}, 500);
  await second;
  expect([resource.data.value, resource.error.value?.status]).toEqual(["of a", 500]);
});
