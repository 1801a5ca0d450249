/** The header: which lens, which record, compared with which. */

import { useMemo, useRef } from "preact/hooks";
import type { Command } from "../lib/commands";
import { claims, infoOf, recordsOf, showsOneRun } from "../lib/selection";
import { LENSES, type Lens } from "../lib/state";
import { formatAge } from "../lib/units";
import { type Session, useCommands, useSession } from "./session";
import { Notices, Problems } from "./states";

export function titleOf(lens: Lens): string {
  return infoOf(lens)?.title ?? (lens === "overview" ? "Overview" : "Findings");
}

export function Header() {
  const session = useSession();
  useCommands(useMemo(() => shellCommands(session), [session]));
  return (
    <header class="header">
      <h1 class="hidden">StepScope</h1>
      <LensTabs />
      <Pickers />
      <span class="spacer" />
      <LiveMark />
      <button
        type="button"
        class="icon-button"
        title="Keyboard commands (?)"
        aria-label="Keyboard commands"
        onClick={() => {
          session.helpOpen.value = true;
        }}
      >
        ?
      </button>
    </header>
  );
}

function LensTabs() {
  const session = useSession();
  const shown = session.lens.value;
  const index = session.index.data.value;
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = LENSES[(LENSES.indexOf(shown) + step + LENSES.length) % LENSES.length];
    if (step === 0 || next === undefined) return;
    session.showLens(next);
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
    event.preventDefault();
  };
  return (
    <div ref={list} class="tabs" role="tablist" aria-label="Lenses" onKeyDown={onKeyDown}>
      {LENSES.map((lens) => (
        <button
          key={lens}
          id={`tab-${lens}`}
          type="button"
          role="tab"
          aria-selected={lens === shown}
          aria-controls="lens"
          tabIndex={lens === shown ? 0 : -1}
          class={index !== null && !claims(index, lens) ? "tab nothing" : "tab"}
          onClick={() => session.showLens(lens)}
        >
          {titleOf(lens)}
        </button>
      ))}
    </div>
  );
}

function Pickers() {
  const session = useSession();
  const { runs, names, steps, chosen } = session.choices.value;
  const state = session.state.value;
  if (runs.length === 0) return null;
  const one = showsOneRun(session.lens.value);
  const together = infoOf(session.lens.value)?.shows === "run";
  if (session.lens.value === "findings" || session.lens.value === "overview") return <RunOrAll />;
  const others = runs.filter((run) => run !== chosen?.run);
  return (
    <div class="pickers">
      {one && (
        <Picker
          label="Run"
          value={chosen?.run ?? state.run}
          words={runs}
          onPick={(run) => session.showRecord({ run, name: "", step: "" })}
        />
      )}
      {one && names.length > 1 && (
        <Picker
          label="Record"
          value={together ? state.name : (chosen?.name ?? state.name)}
          words={together ? ["", ...names] : names}
          titles={{ "": "all" }}
          onPick={(name) => session.showRecord({ name, step: "" })}
        />
      )}
      {one && steps.length > 1 && (
        <Picker
          label="Step"
          value={state.step}
          words={["", ...steps.map(String)]}
          titles={{ "": `newest (${chosen?.first_step ?? ""})` }}
          onPick={(step) => session.showRecord({ step })}
        />
      )}
      {one && (
        <Picker
          label="Baseline"
          id="baseline"
          value={state.compare}
          words={["", ...others]}
          titles={{ "": others.length > 0 ? "none" : "no other run" }}
          onPick={(compare) => session.showRecord({ compare })}
        />
      )}
    </div>
  );
}

function RunOrAll() {
  const session = useSession();
  return (
    <div class="pickers">
      <Picker
        label="Run"
        value={session.state.value.run}
        words={["", ...session.choices.value.runs]}
        titles={{ "": "all" }}
        onPick={(run) => session.showRecord({ run, name: "", step: "" })}
      />
    </div>
  );
}

interface PickerProps {
  readonly label: string;
  readonly id?: string;
  readonly value: string;
  readonly words: readonly string[];
  readonly titles?: Readonly<Record<string, string>>;
  readonly onPick: (word: string) => void;
}

export function Picker({ label, id, value, words, titles = {}, onPick }: PickerProps) {
  const known = words.includes(value) ? words : [...words, value];
  return (
    <label class="picker">
      <span>{label}</span>
      <select id={id} value={value} disabled={known.length < 2} onChange={(event) => onPick(event.currentTarget.value)}>
        {known.map((word) => (
          <option key={word} value={word}>
            {titles[word] ?? (word === "." ? "(top)" : word)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Says that a record still grows, or when the shown one was written. */
function LiveMark() {
  const session = useSession();
  const { chosen } = session.choices.value;
  if (chosen === null) return null;
  const together = !showsOneRun(session.lens.value);
  const index = session.index.data.value;
  const grows = together && index !== null && recordsOf(index, session.lens.value).some((record) => !record.closed);
  if (!chosen.closed || grows) return <span class="live">live</span>;
  if (together) return null;
  const seconds = Date.now() / 1000 - Number(chosen.written_wall_ns ?? 0) / 1e9;
  return (
    <span class="muted written" title={chosen.producer}>
      {chosen.written_wall_ns ? `written ${formatAge(seconds)}` : ""}
    </span>
  );
}

export function ShellNotices() {
  const session = useSession();
  const dismiss = () => {
    session.notices.value = [];
  };
  const { data, error } = session.index;
  // Without an index the lens itself says so.
  const lost = data.value === null ? null : error.value;
  return (
    <>
      {lost !== null && <Notices notices={[`${lost.found}. ${lost.remedy}`]} dismiss={() => session.refresh()} />}
      <Notices notices={session.notices.value} dismiss={dismiss} />
      <Problems problems={session.index.data.value?.problems ?? []} />
    </>
  );
}

/** Opens the export menu, or leads to the first file where there is none. */
function openExport(): void {
  const menu = document.querySelector<HTMLElement>("[data-export] > button");
  (menu ?? document.querySelector<HTMLElement>("a[download]"))?.focus();
  if (menu?.getAttribute("aria-expanded") === "false") menu.click();
}

function shellCommands(session: Session): Command[] {
  const group = "Everywhere";
  const step = (by: number) => () => {
    const { steps, chosen } = session.choices.value;
    const at = steps.indexOf(chosen?.first_step ?? Number.NaN);
    const next = steps[at + by];
    if (at >= 0 && next !== undefined) session.showRecord({ step: String(next) });
  };
  const lenses = LENSES.map((lens, at) => ({
    keys: [`Alt+${at + 1}`],
    title: titleOf(lens),
    group: "Lenses",
    run: () => session.showLens(lens),
  }));
  return [
    ...lenses,
    { keys: ["["], title: "Earlier step", group, run: step(-1) },
    { keys: ["]"], title: "Later step", group, run: step(1) },
    { keys: ["c"], title: "Compare: to the baseline", group, run: () => document.getElementById("baseline")?.focus() },
    { keys: ["e"], title: "Export: to the files of what is shown", group, run: openExport },
    { keys: ["r"], title: "Read again", group, run: () => session.refresh() },
    {
      keys: ["?"],
      title: "This sheet",
      group,
      run: () => {
        session.helpOpen.value = !session.helpOpen.value;
      },
    },
  ];
}
