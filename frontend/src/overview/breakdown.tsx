import { address } from "../lib/api";
import { blockRgb, css } from "../lib/colour";
import type { RowsDocument, ViewRow } from "../lib/documents";
import { CATEGORIES, partCss } from "../lib/parts";
import { choose, type RunRecord, recordsOf } from "../lib/selection";
import { format, percent } from "../lib/units";
import { useDocument } from "../ui/documents";
import { type Session, useSession } from "../ui/session";
import { Loaded } from "../ui/states";
import { Card } from "./card";
import { overviewVersion } from "./documents";

const SHOWN = 8;
const ASKED = 60;

/** Where the time of the newest profile goes, by op. */
export function Breakdown() {
  const session = useSession();
  const profile = newestProfile(session);
  const document = useDocument<RowsDocument>((session) => {
    const record = newestProfile(session);
    if (record === null) return null;
    const { run, name } = record;
    return address("views", { run, name, view: "op", limit: ASKED });
  }, overviewVersion);
  const resource = document.data.value?.resource ?? "both";
  const time = resource === "both" ? "self time" : `self ${resource} time`;
  const note = profile === null ? "" : `${profile.run === "." ? profile.name : profile.run}, by op, ${time}`;
  return (
    <Card title="Where the time goes" lens="views" note={note}>
      <StepParts profile={profile} />
      <Loaded resource={document}>{(rows) => <Shares document={rows} profile={profile} />}</Loaded>
    </Card>
  );
}

function newestProfile(session: Session): RunRecord | null {
  const index = session.index.data.value;
  const { run } = session.state.value;
  return index === null ? null : choose(recordsOf(index, "views"), { run, name: "", step: "" }).chosen;
}

interface BreakdownDocument {
  /** One without an id where the profile names no steps. */
  readonly steps: readonly { readonly id: number | null; readonly complete: boolean }[];
  /** Over the complete steps. */
  readonly total_ps: Readonly<Record<string, number>>;
}

/** The mean of the complete steps in words; empty where there is none. */
export function stepTime({ steps, total_ps }: BreakdownDocument): string {
  const complete = steps.filter((step) => step.complete);
  const [first] = complete;
  const whole = Object.values(total_ps).reduce((sum, time) => sum + time, 0);
  if (first === undefined || whole === 0) return "";
  return `${first.id === null ? "Whole profile" : "Step"} ${format("ps", whole / complete.length)}`;
}

/** The mean step by what it is spent on, where single executions are known; else nothing. */
function StepParts({ profile }: { profile: RunRecord | null }) {
  const session = useSession();
  const document = useDocument<BreakdownDocument>((session) => {
    const record = newestProfile(session);
    return record === null ? null : address("views", { run: record.run, name: record.name, shape: "breakdown" });
  }, overviewVersion);
  const { steps = [], total_ps = {} } = document.data.value ?? {};
  const title = stepTime({ steps, total_ps });
  const parts = Object.entries(total_ps).filter(([, time]) => time > 0);
  const whole = parts.reduce((sum, [, time]) => sum + time, 0);
  if (title === "") return null;
  const show = () =>
    session.update({ lens: "trace", run: profile?.run ?? "", name: profile?.name ?? "", pane: "steps" });
  const shown = parts.map(([key, time]) => {
    const part = CATEGORIES[key] ?? { title: key, hue: null };
    return { key, share: time / whole, colour: partCss(part, session.theme.value), title: part.title };
  });
  const words = shown.map(({ title, share }) => `${title} ${percent(share, 1)}`);
  return (
    <>
      <p class="step-time">
        <button type="button" class="link" onClick={show}>
          {title}
        </button>
        <span class="muted">{words.join(" · ")}</span>
      </p>
      <Stack label={words.join(", ")} parts={shown} />
    </>
  );
}

interface StackProps {
  readonly label: string;
  readonly parts: readonly {
    readonly key: string | number;
    readonly share: number;
    readonly colour: string;
    readonly title: string;
  }[];
}

/** Shares of a whole side by side. */
function Stack({ label, parts }: StackProps) {
  return (
    <div class="stack" role="img" aria-label={label}>
      {parts.map(({ key, share, colour, title }) => (
        <div
          key={key}
          title={`${title} ${percent(share, 1)}`}
          style={{ width: `${share * 100}%`, background: colour }}
        />
      ))}
    </div>
  );
}

function Shares({ document, profile }: { document: RowsDocument; profile: RunRecord | null }) {
  const session = useSession();
  const theme = session.theme.value;
  const self = document.time ?? "exec_micros";
  const whole = time(document.root, `total_${self}`);
  const costly = document.rows.filter((row) => row.parent >= 0 && row.launched !== true && time(row, self) > 0);
  const steps = new Set(document.steps.map(({ name }) => name));
  const rows = costly.filter(({ name }) => !steps.has(name)).slice(0, SHOWN);
  const outside = sum(
    costly.filter(({ name }) => steps.has(name)),
    self,
  );
  const rest = whole - outside - sum(rows, self);
  const show = (row: ViewRow) =>
    session.update({ lens: "trace", run: profile?.run ?? "", name: profile?.name ?? "", view: "op", search: row.name });
  if (rows.length === 0) return <p class="muted">No op of this profile has a time.</p>;
  const parts = rows.map((row) => ({ row, share: time(row, self) / whole, colour: css(blockRgb(row.name, theme)) }));
  return (
    <>
      <Stack
        label={rows.map((row) => `${row.name} ${percent(time(row, self), whole)}`).join(", ")}
        parts={parts.map(({ row, share, colour }) => ({ key: row.id, share, colour, title: row.name }))}
      />
      <ul class="plain ranked">
        {parts.map(({ row, share, colour }) => (
          <li key={row.id}>
            <span class="num">{percent(share, 1)}</span>
            <span class="name">
              <span class="swatch" style={{ background: colour }} />
              <button type="button" class="link" title={row.name} onClick={() => show(row)}>
                {row.name}
              </button>
            </span>
            <span class="muted num">{format("micros", time(row, self))}</span>
          </li>
        ))}
        <Rest title="other ops" part={rest} whole={whole} />
        <Rest title="steps, outside every op" part={outside} whole={whole} />
      </ul>
    </>
  );
}

function Rest({ title, part, whole }: { title: string; part: number; whole: number }) {
  if (part / whole <= 0.0005) return null;
  return (
    <li class="muted">
      <span class="num">{percent(part, whole)}</span>
      <span>{title}</span>
      <span class="num">{format("micros", part)}</span>
    </li>
  );
}

function sum(rows: readonly ViewRow[], name: string): number {
  return rows.reduce((whole, row) => whole + time(row, name), 0);
}

function time(row: Readonly<Record<string, unknown>>, name: string): number {
  const value = row[name];
  return typeof value === "number" ? value : 0;
}
