/** A search that says how many it found and goes from one to the next. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Command } from "../lib/commands";
import { useCommands } from "./session";

const DEBOUNCE_MS = 150;
const COMMANDS: readonly Command[] = [{ keys: ["/", "Mod+f"], title: "Search", group: "Search", run: focusSearch }];

interface SearchProps {
  readonly value: string;
  readonly onSearch: (text: string) => void;
  readonly found: { readonly count: number; readonly index: number } | null;
  readonly onGo: (by: number) => void;
  readonly note?: string;
}

export function SearchBox({ value, onSearch, found, onGo, note }: SearchProps) {
  useCommands(COMMANDS);
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText(value), [value]);
  const change = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onSearch(next), DEBOUNCE_MS);
  };
  const now = (next: string) => {
    clearTimeout(timer.current);
    if (next !== value) onSearch(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      if (text !== value) now(text);
      else onGo(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      now("");
      (event.currentTarget as HTMLElement).blur();
    } else return;
    event.stopPropagation();
  };
  return (
    <search class="search">
      <input
        id="search"
        type="search"
        placeholder="Search text or /regex/"
        aria-label="Search text, or /regex/"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {value !== "" && found !== null && (
        <>
          <span class={found.count === 0 ? "found none" : "found"} role="status">
            {found.count === 0
              ? "no match"
              : `${(found.index + 1).toLocaleString()} of ${found.count.toLocaleString()}`}
            {note && <span class="muted"> · {note}</span>}
          </span>
          <button
            type="button"
            class="icon-button"
            aria-label="Previous match"
            disabled={found.count < 2}
            onClick={() => onGo(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label="Next match"
            disabled={found.count < 2}
            onClick={() => onGo(1)}
          >
            ↓
          </button>
        </>
      )}
    </search>
  );
}

function focusSearch(): void {
  const input = document.getElementById("search");
  if (input instanceof HTMLInputElement) {
    input.focus();
    input.select();
  }
}
