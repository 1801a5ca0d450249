/** A button that opens a box below it; Escape and a click elsewhere close it. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { savePng } from "./canvas";

interface MenuProps {
  readonly label: ComponentChildren;
  readonly title: string;
  readonly children: ComponentChildren;
  /** Whether it holds the files of what is shown. */
  readonly exports?: boolean;
}

export function Menu({ label, title, children, exports = false }: MenuProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const onPointerDown = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", onPointerDown);
    return () => document.removeEventListener("pointerdown", onPointerDown);
  }, [open]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open) return;
    setOpen(false);
    box.current?.querySelector("button")?.focus();
    event.stopPropagation();
  };
  return (
    <div ref={box} class="menu" data-export={exports || undefined} onKeyDown={onKeyDown}>
      <button type="button" class="button" title={title} aria-expanded={open} onClick={() => setOpen(!open)}>
        {label}
        <span class="caret" aria-hidden="true">
          ▾
        </span>
      </button>
      {open && <div class="menu-box">{children}</div>}
    </div>
  );
}

interface Picture {
  readonly name: string;
  readonly selector: string;
}

/** Of lenses that draw a tree. */
export const ICICLE: Picture = { name: "icicle", selector: ".icicle canvas" };

/** Of lenses that draw lines. */
export const CHART: Picture = { name: "chart", selector: ".chart-area canvas" };

interface ExportMenuProps {
  readonly title: string;
  /** The address of the file in a format. */
  readonly url: (format: string) => string;
  /** What is drawn and can be saved too: what it is called, and where its canvas is. */
  readonly picture?: Picture | null;
  readonly formats?: readonly string[];
}

const TABLES: readonly string[] = ["csv", "json"];

/** The rows as a file. `e` opens it. */
export function ExportMenu({ title, url, picture = null, formats = TABLES }: ExportMenuProps) {
  return (
    <Menu label="Export" title={`${title} (e)`} exports>
      <div class="check-list">
        {formats.map((format) => (
          <a key={format} class="link" href={url(format)} download>
            {TABLES.includes(format) ? format.toUpperCase() : format}
          </a>
        ))}
        {picture !== null && (
          <button
            type="button"
            class="link"
            onClick={() => savePng(document.querySelector(picture.selector), picture.name)}
          >
            {`PNG of the ${picture.name}`}
          </button>
        )}
      </div>
    </Menu>
  );
}

interface ColumnMenuProps {
  readonly columns: readonly { readonly key: string; readonly title: string; readonly help: string }[];
  readonly hidden: readonly string[];
  readonly onHidden: (hidden: string[]) => void;
}

/** Chooses which columns are shown. The first, which names the rows, always is. */
export function ColumnMenu({ columns, hidden, onHidden }: ColumnMenuProps) {
  const toggle = (key: string) =>
    onHidden(hidden.includes(key) ? hidden.filter((other) => other !== key) : [...hidden, key]);
  return (
    <Menu label="Columns" title="Choose columns">
      <div class="check-list">
        {columns.map(({ key, title, help }) => (
          <label key={key} title={help}>
            <input type="checkbox" checked={!hidden.includes(key)} onChange={() => toggle(key)} />
            {title}
          </label>
        ))}
      </div>
    </Menu>
  );
}

interface SwitchProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly { readonly word: T; readonly title: string; readonly help?: string }[];
  readonly onPick: (word: T) => void;
  /** Why nothing else can be chosen; empty where it can. */
  readonly disabled?: string;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** A few choices of which one holds. One stop of Tab; the arrows choose. */
export function Switch<T extends string>({ label, value, choices, onPick, disabled = "" }: SwitchProps<T>) {
  const at = Math.max(
    choices.findIndex(({ word }) => word === value),
    0,
  );
  const pick = (word: T) => {
    if (word !== value) onPick(word);
    // What was picked may show another toolbar, with this switch anew.
    requestAnimationFrame(() => focusChosen(label));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    const next = choices[(at + (step ?? 0) + choices.length) % choices.length];
    if (step === undefined || next === undefined || disabled !== "") return;
    pick(next.word);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="switch" role="radiogroup" aria-label={label} onKeyDown={onKeyDown}>
      {choices.map(({ word, title, help }, place) => (
        <button
          key={word}
          type="button"
          role="radio"
          aria-checked={word === value}
          tabIndex={place === at ? 0 : -1}
          title={disabled || help}
          disabled={disabled !== "" && word !== value}
          onClick={() => pick(word)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

function focusChosen(label: string): void {
  const groups = [...document.querySelectorAll(`[role="radiogroup"]`)];
  const group = groups.find((one) => one.getAttribute("aria-label") === label);
  group?.querySelector<HTMLElement>('[aria-checked="true"]')?.focus();
}
