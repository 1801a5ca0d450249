/** The panel: TensorBoard imports this module into the plugin's frame and calls `render`. */

import { render as renderInto } from "preact";
import { useEffect, useState } from "preact/hooks";
import { FindingsLens } from "./findings";
import { RequestError } from "./lib/api";
import { commandFor } from "./lib/commands";
import { connectHost } from "./lib/host";
import { recordsOf, showsOneRun } from "./lib/selection";
import { LENSES, type Lens } from "./lib/state";
import { followTheme } from "./lib/theme";
import { Overview } from "./overview";
import { bindAddress, bindVisibility, pollWhileLive } from "./ui/binding";
import { HelpSheet } from "./ui/help_sheet";
import { NothingLogged } from "./ui/nothing_logged";
import { Session, SessionProvider, useSession } from "./ui/session";
import { Header, ShellNotices } from "./ui/shell";
import { Empty, Failure, Skeleton } from "./ui/states";
import styles from "./ui/styles.css";
import { ViewsLens } from "./views";

type LensView = () => preact.JSX.Element | null;

type LaterParts = typeof import("./later");

/** What no first screen needs, once one of its parts was opened. */
let later: LaterParts | null = null;
const LATER = "static/later.js";

const FIRST_PANELS: Readonly<Partial<Record<Lens, LensView>>> = {
  overview: Overview,
  views: () => <ViewsLens comparison={() => <Later part="ViewComparison" />} />,
  findings: FindingsLens,
};

/** The panel of a lens: of the first screen, or loaded now. */
function panelOf(lens: Lens): LensView {
  return FIRST_PANELS[lens] ?? (() => <Later part={lens as keyof LaterParts} />);
}

const PANELS = new Map<Lens, LensView>(LENSES.map((lens) => [lens, panelOf(lens)]));

function Panel() {
  const session = useSession();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => handleKey(session, event);
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [session]);
  return (
    <div class="panel">
      <Header />
      <ShellNotices />
      <main class="lens">
        <div id="lens" class="lens" role="tabpanel" aria-labelledby={`tab-${session.lens.value}`}>
          <LensPanel />
        </div>
      </main>
      <HelpSheet />
    </div>
  );
}

function LensPanel() {
  const session = useSession();
  const index = session.index.data.value;
  const error = session.index.error.value;
  const lens = session.lens.value;
  const retry = () => session.refresh();
  if (index === null && error !== null) return <Failure error={error} retry={retry} />;
  if (index === null) return session.index.slow.value ? <Skeleton /> : null;
  if (recordsOf(index, lens).length === 0) {
    return <NothingLogged lens={lens} />;
  }
  if (showsOneRun(lens) && session.choices.value.missing) return <MissingRecord />;
  const Shown = PANELS.get(lens);
  return Shown === undefined ? null : <Shown key={lens} />;
}

function Later({ part }: { part: keyof LaterParts }) {
  const [loaded, setLoaded] = useState(later);
  const [error, setError] = useState<RequestError | null>(null);
  const load = () => {
    if (later !== null) return;
    setError(null);
    import("./later").then(
      (parts) => {
        later = parts;
        setLoaded(parts);
      },
      () => setError(new RequestError("a part of the panel did not load", LATER, "Check that TensorBoard still runs")),
    );
  };
  useEffect(load, []);
  if (error !== null) return <Failure error={error} retry={load} />;
  if (loaded === null) return <Skeleton />;
  const Part = loaded[part];
  return <Part />;
}

function MissingRecord() {
  const session = useSession();
  const { run, name, step } = session.state.value;
  const named = [run && `run ${run}`, name && `record ${name}`, step && `step ${step}`].filter(Boolean).join(", ");
  const newest = () => session.showRecord({ run: "", name: "", step: "" });
  return (
    <Empty title="The record in the address is not here" action={{ label: "Show the newest", run: newest }}>
      {`There is no ${named}. It may have been deleted, or lie in another log directory.`}
    </Empty>
  );
}

function handleKey(session: Session, event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  if (session.helpOpen.value && event.key === "Escape") {
    session.helpOpen.value = false;
    return;
  }
  const typing = event.target instanceof Element && event.target.matches("input, select, textarea");
  if (typing && !event.ctrlKey && !event.metaKey) return;
  const command = commandFor(session.commands.value, event);
  if (command === undefined) return;
  event.preventDefault();
  command.run();
}

/** Draws the panel into the document. */
export function render(): void {
  const style = document.createElement("style");
  style.textContent = styles;
  document.head.append(style);
  document.documentElement.lang = "en";
  document.title = "StepScope";
  const session = new Session((input, init) => fetch(input, init));
  followTheme(window, (theme) => {
    document.documentElement.dataset.theme = theme;
    session.theme.value = theme;
  });
  bindAddress(session, window);
  bindVisibility(session, window);
  connectHost(window, () => session.refresh());
  void session.index.load("index");
  void session.options.load("options");
  pollWhileLive(session);
  renderInto(
    <SessionProvider value={session}>
      <Panel />
    </SessionProvider>,
    document.body,
  );
}
