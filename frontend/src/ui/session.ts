/** What the whole panel shares: its state, what there is, the theme, and the commands. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import type { Fetch } from "../lib/api";
import { lineSlots } from "../lib/colour";
import type { Command } from "../lib/commands";
import type { IndexDocument, OptionTables } from "../lib/documents";
import { type Choices, choose, infoOf, recordsOf } from "../lib/selection";
import { INITIAL_STATE, type Lens, type PanelState, type ParsedState } from "../lib/state";
import type { Theme } from "../lib/theme";
import { Resource } from "./resource";

/** Fields that name rows of one record, and mean nothing in another one. */
const OF_RECORD = {
  toggled: [],
  below: [],
  root: 0,
  from: "",
  top: 0,
  selected: 0,
  match: 0,
  key: "",
  zoom: null,
} as const satisfies Partial<PanelState>;

export class Session {
  readonly state: Signal<PanelState> = signal(INITIAL_STATE);
  readonly notices: Signal<readonly string[]> = signal([]);
  readonly theme: Signal<Theme> = signal("light");
  /** False while the tab is hidden: nothing is asked or drawn then. */
  readonly visible: Signal<boolean> = signal(true);
  readonly helpOpen: Signal<boolean> = signal(false);
  readonly commands: Signal<readonly Command[]> = signal([]);
  readonly index: Resource<IndexDocument>;
  readonly options: Resource<OptionTables>;
  /** Rises when TensorBoard reloaded its data. */
  readonly reloads: Signal<number> = signal(0);

  readonly lens: ReadonlySignal<Lens> = computed(() => this.state.value.lens || "overview");

  readonly choices: ReadonlySignal<Choices> = computed(() => {
    const index = this.index.data.value;
    return choose(index === null ? [] : recordsOf(index, this.lens.value), this.state.value);
  });

  /** The run, name and step parameters of the shown record. */
  readonly recordParameters = computed(() => {
    const { chosen } = this.choices.value;
    const { compare, run, name, step } = this.state.value;
    const together = infoOf(this.lens.value)?.shows === "run"; // Such as the records of a run's hosts.
    const named = together ? name : (chosen?.name ?? name);
    return { run: chosen?.run ?? run, name: this.comparable(named) ? named : "", record_step: step, compare };
  });

  /** The line colour of each run, the same in every lens. */
  readonly runSlots = computed(() => lineSlots(this.index.data.value?.runs.map((run) => run.name) ?? []));

  constructor(readonly fetcher: Fetch) {
    this.index = new Resource(fetcher);
    this.options = new Resource(fetcher);
  }

  /** Whether the baseline has a record of this name. Where it has not and the run has but one, their newest are compared. */
  private comparable(name: string): boolean {
    const { compare } = this.state.value;
    const index = this.index.data.value;
    if (compare === "" || name === "" || index === null || this.choices.value.names.length > 1) return true;
    return recordsOf(index, this.lens.value).some((record) => record.run === compare && record.name === name);
  }

  update(patch: Partial<PanelState>): void {
    this.state.value = { ...this.state.value, ...patch };
  }

  /** Shows another record; what pointed into the old one is forgotten. */
  showRecord(patch: Partial<PanelState>): void {
    this.update({ ...OF_RECORD, ...patch });
  }

  showLens(lens: Lens): void {
    if (lens !== this.lens.value)
      this.update({ ...OF_RECORD, lens, pane: "", name: "", step: "", sort: "", search: "" });
  }

  setOption(name: string, value: string | null): void {
    const { [name]: _, ...others } = this.state.value.options;
    this.showRecord({ options: value === null ? others : { ...others, [name]: value } });
  }

  accept({ state, notices }: ParsedState): void {
    batch(() => {
      this.state.value = state;
      this.notices.value = notices;
    });
  }

  refresh(): void {
    this.reloads.value++;
    void this.index.load("index", true);
  }
}

const SessionContext = createContext<Session | null>(null);
export const SessionProvider = SessionContext.Provider;

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("a widget outside the panel");
  return session;
}

/** Adds commands to the table for as long as a widget is there. The list must be stable. */
export function useCommands(commands: readonly Command[]): void {
  const session = useSession();
  useEffect(() => {
    session.commands.value = [...session.commands.peek(), ...commands];
    return () => {
      session.commands.value = session.commands.peek().filter((command) => !commands.includes(command));
    };
  }, [session, commands]);
}
