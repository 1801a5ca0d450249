/** The panel: TensorBoard imports this module into the plugin's frame and calls `render`. */

import { effect } from "@preact/signals";
import { render as renderInto } from "preact";
import { useEffect } from "preact/hooks";
import { DcnLens } from "./dcn";
import { FindingsLens } from "./findings";
import { InCoreLens } from "./incore";
import { Address, addressWindow } from "./lib/address";
import { commandFor } from "./lib/commands";
import { connectHost } from "./lib/host";
import { recordsOf } from "./lib/selection";
import { formatState, type Lens, parseState } from "./lib/state";
import { followTheme } from "./lib/theme";
import { ThroughputLens } from "./throughput";
import { Session, SessionProvider, useSession } from "./ui/session";
import { Header, HelpSheet, ShellNotices } from "./ui/shell";
import { Empty, Failure, Skeleton } from "./ui/states";
import styles from "./ui/styles.css";
import { ViewsLens } from "./views";

const LIVE_POLL_MS = 3000;
/** Browsers refuse pages that write their address too often. */
const ADDRESS_WRITE_MS = 200;

const LENS_PANELS: Readonly<Record<Lens, () => preact.JSX.Element | null>> = {
  views: ViewsLens,
  throughput: ThroughputLens,
  incore: InCoreLens,
  dcn: DcnLens,
  findings: FindingsLens,
};

/** How each kind of record is logged: the next step for who has none. */
const HOW_TO_LOG: Readonly<Record<Lens, string>> = {
  views:
    'stepscope import trace.pt.trace.json --logdir LOGDIR\n\n# or from Python\nwith stepscope.Writer(LOGDIR) as writer:\n    writer.log_profile("trace.pt.trace.json", step=10)',
  throughput:
    'with stepscope.Writer(LOGDIR) as writer:\n    rate = writer.throughput("train", unit="samples", log_every=10)\n    for step, batch in enumerate(loader):\n        ...\n        rate.add(len(batch), step=step)',
  incore:
    "with stepscope.Writer(LOGDIR) as writer:\n    writer.log_incore(timing, columns=columns, participating=slots, producers=producers, step=step)",
  dcn: "stepscope import host0.xplane.pb host1.xplane.pb --logdir LOGDIR",
  findings: "stepscope demo",
};

const NOTHING: Readonly<Record<Lens, string>> = {
  views: "No profile is logged here",
  throughput: "No throughput is logged here",
  incore: "No in-core timing is logged here",
  dcn: "No cross-slice collectives are logged here",
  findings: "Nothing is logged here that findings could stand on",
};

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
      <div id="lens" class="lens" role="tabpanel" aria-labelledby={`tab-${session.lens.value}`}>
        <LensPanel />
      </div>
      <HelpSheet />
    </div>
  );
}

function LensPanel() {
  const session = useSession();
  const index = session.index.data.value;
  const error = session.index.error.value;
  const lens = session.lens.value;
  if (error !== null) return <Failure error={error} retry={() => session.refresh()} />;
  if (index === null) return session.index.slow.value ? <Skeleton /> : null;
  if (recordsOf(index, lens).length === 0) {
    return (
      <Empty
        title={NOTHING[lens]}
        code={HOW_TO_LOG[lens]}
        action={{ label: "Look again", run: () => session.refresh() }}
      >
        Log it from your training loop or import a file, then reload.
      </Empty>
    );
  }
  const ofOneRecord = lens !== "throughput" && lens !== "findings";
  if (ofOneRecord && session.choices.value.missing) return <MissingRecord />;
  const Shown = LENS_PANELS[lens];
  return <Shown key={lens} />;
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
  const target = event.target as HTMLElement;
  const typing = target.matches("input, select, textarea");
  if (typing && !event.ctrlKey && !event.metaKey) return;
  const command = commandFor(session.commands.value, event);
  if (command === undefined) return;
  event.preventDefault();
  command.run();
}

/** The panel's state and its address follow each other. */
function bindAddress(session: Session, own: Window): void {
  const address = new Address(addressWindow(own));
  const read = () => session.accept(parseState(address.read()));
  read();
  address.follow(read);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const values = formatState(session.state.value);
    clearTimeout(timer);
    timer = setTimeout(() => address.write(values), ADDRESS_WRITE_MS);
  });
}

/** A hidden tab has no size; it asks and draws nothing until it is seen again. */
function bindVisibility(session: Session, own: Window): void {
  const tell = () => {
    session.visible.value = own.document.visibilityState === "visible" && own.innerHeight > 0 && own.innerWidth > 0;
  };
  own.addEventListener("resize", tell);
  own.document.addEventListener("visibilitychange", tell);
  tell();
}

/** While a record grows, the index is asked every few seconds. */
function pollWhileLive(session: Session): void {
  setInterval(() => {
    const index = session.index.data.value;
    const grows = index?.runs.some((run) => run.records.some((record) => !record.closed)) ?? true;
    if (grows && session.visible.value && !session.index.loading.value) void session.index.load("index", true);
  }, LIVE_POLL_MS);
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
