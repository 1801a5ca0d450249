// @vitest-environment happy-dom

import { render } from "preact";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SearchBox } from "../../src/ui/search_box";
import { Session, SessionProvider } from "../../src/ui/session";

const DEBOUNCE_MS = 150;

function show(): string[] {
  const searched: string[] = [];
  render(
    <SessionProvider value={new Session(() => new Promise(() => {}))}>
      <SearchBox value="" onSearch={(text) => searched.push(text)} />
    </SessionProvider>,
    document.body,
  );
  return searched;
}

function type(text: string): void {
  const input = document.querySelector("input");
  if (input === null) throw new Error("no search box");
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

beforeEach(() => {
  render(null, document.body);
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

test("searches for the last of what is typed, once the typing stops", () => {
  const searched = show();
  type("mat");
  vi.advanceTimersByTime(DEBOUNCE_MS - 1);
  type("matmul");
  vi.advanceTimersByTime(DEBOUNCE_MS);
  expect(searched).toEqual(["matmul"]);
});

test("what was typed last is not searched for where the box is gone", () => {
  const searched = show();
  vi.advanceTimersByTime(DEBOUNCE_MS);
  type("matmul");
  render(null, document.body);
  vi.advanceTimersByTime(DEBOUNCE_MS);
  expect(searched).toEqual([]);
});
