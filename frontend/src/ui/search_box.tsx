/** A search that says how many it found and goes from one to the next. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Command } from "../lib/commands";
import { useCommands } from "./session";

const DEBOUNCE_MS = 150;
const COMMANDS: readonly Command[] = [{ keys: ["/", "Mod+f"], title: "Search", group: "Search", run: focusSearch }];

interface Found {
  readonly count: number;
  readonly index: number;
}

interface SearchProps {
  readonly value: string;
  readonly onSearch: (text: string) => void;
  /** What was found, where one goes from one match to the next. */
  readonly found?: Found | null;
  readonly onGo?: (by: number) => void;
  readonly note?: string;
}

export function SearchBox({ value, onSearch, found = null, onGo = () => {}, note = "" }: SearchProps) {
  useCommands(COMMANDS);
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
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
      {value !== "" && found !== null && <Matches found={found} onGo={onGo} note={note} />}
    </search>
  );
}

interface MatchesProps {
  readonly found: Found;
  readonly onGo: (by: number) => void;
  readonly note: string;
}

/** Which of the matches is shown, and the ways to the others. */
function Matches({ found: { count, index }, onGo, note }: MatchesProps) {
  const step = (label: string, arrow: string, by: number) => (
    <button type="button" class="icon-button" aria-label={label} disabled={count < 2} onClick={() => onGo(by)}>
      {arrow}
    </button>
  );
  return (
    <>
      <span class={count === 0 ? "found none" : "found"} role="status">
        {count === 0 ? "no match" : `${(index + 1).toLocaleString()} of ${count.toLocaleString()}`}
        {note && <span class="muted"> · {note}</span>}
      </span>
      {step("Previous match", "↑", -1)}
      {step("Next match", "↓", 1)}
    </>
  );
}

function focusSearch(): void {
  const input = document.getElementById("search");
  if (input instanceof HTMLInputElement) {
    input.focus();
    input.select();
  }
}
