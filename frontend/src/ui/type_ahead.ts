/** Shift and a letter lead to the next row that begins with it; further letters within a second narrow it. */

import { useRef } from "preact/hooks";

const PAUSE_MS = 1000;

type Find = (from: number, begins: (text: string) => boolean) => void;

/** Handles a key: true where it was typed ahead. Letters alone stay commands until one was typed with Shift. */
export function useTypeAhead(find: Find): (event: KeyboardEvent, cursor: number) => boolean {
  const typed = useRef({ text: "", at: 0 });
  return ({ key, shiftKey, altKey, timeStamp }, cursor) => {
    // When it was pressed: a busy page handles keys later.
    const going = timeStamp - typed.current.at < PAUSE_MS ? typed.current.text : "";
    if (key.length !== 1 || key === " " || altKey || (going === "" && !(shiftKey && /\p{L}/u.test(key)))) return false;
    const text = going + key.toLowerCase();
    typed.current = { text, at: timeStamp };
    // A second letter may stay where the first has led; the first one moves on.
    find(Math.max(cursor + (going === "" ? 1 : 0), 0), (name) => name.toLowerCase().startsWith(text));
    return true;
  };
}
