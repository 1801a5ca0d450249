// @vitest-environment happy-dom

import { render } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import { address } from "../../src/lib/api";
import { lensVersion, useDocument, useRecordDocument } from "../../src/ui/documents";
import { Session, SessionProvider } from "../../src/ui/session";

const indexWritten = (written: string) => {
  const record = { kind: "profile", name: "main", tag: "main", first_step: 0, last_step: 0, closed: true, rows: 9 };
  return {
    runs: [{ name: "run", records: [{ ...record, written_wall_ns: written, producer: "test" }] }],
    problems: [],
  };
};

interface Asked {
  readonly url: string;
  readonly signal: AbortSignal;
}

/** Shows a widget, and keeps what it asks; nothing is answered. */
function show(Widget: () => null): { session: Session; asked: Asked[] } {
  const asked: Asked[] = [];
  const session = new Session((url, { signal }) => {
    asked.push({ url, signal });
    return new Promise((_, refuse) => signal.addEventListener("abort", () => refuse(signal.reason)));
  });
  session.update({ lens: "views" });
  render(
    <SessionProvider value={session}>
      <Widget />
    </SessionProvider>,
    document.body,
  );
  return { session, asked };
}

function OfRecord() {
  useRecordDocument("views", { shape: "rows" });
  return null;
}

function OfLens() {
  useDocument(
    ({ state }) => (state.value.key === "" ? null : address("throughput", { key: state.value.key })),
    (session) => lensVersion(session, "views"),
  );
  return null;
}

/** Until effects have followed a change: they wait for the next frame, and for a task after it. */
const effects = () => new Promise<void>((done) => requestAnimationFrame(() => setTimeout(() => setTimeout(done))));
const urls = (asked: readonly Asked[]) => asked.map(({ url }) => url);

beforeEach(() => render(null, document.body));

test("asks once there is a record, and again when it was written anew", async () => {
  const { session, asked } = show(OfRecord);
  expect(asked).toEqual([]);
  session.index.data.value = indexWritten("1");
  await vi.waitFor(() => expect(urls(asked)).toEqual(["views?run=run&name=main&shape=rows"]));
  session.index.data.value = indexWritten("1");
  await effects();
  expect(asked).toHaveLength(1);
  session.index.data.value = indexWritten("2");
  await effects();
  expect(urls(asked)).toEqual(Array(2).fill("views?run=run&name=main&shape=rows"));
  expect(asked[0]?.signal.aborted).toBe(true);
});

test("asks nothing while the tab is hidden, and what has changed when it is seen", async () => {
  const { session, asked } = show(OfRecord);
  session.visible.value = false;
  session.index.data.value = indexWritten("1");
  session.setOption("step", "3");
  await effects();
  expect(asked).toEqual([]);
  session.visible.value = true;
  await vi.waitFor(() => expect(urls(asked)).toEqual(["views?run=run&name=main&shape=rows&step=3"]));
});

test("a question that is none any more is given up, and so is every one with its widget", async () => {
  const { session, asked } = show(OfLens);
  session.index.data.value = indexWritten("1");
  session.update({ key: "a" });
  await vi.waitFor(() => expect(urls(asked)).toEqual(["throughput?key=a"]));
  session.update({ key: "" });
  await effects();
  expect(asked[0]?.signal.aborted).toBe(true);
  session.update({ key: "b" });
  await effects();
  expect(asked).toHaveLength(2);
  render(null, document.body);
  await vi.waitFor(() => expect(asked[1]?.signal.aborted).toBe(true));
});
