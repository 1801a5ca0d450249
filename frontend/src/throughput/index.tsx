/** The throughput lens: how fast the runs are, on average and right now, and what disturbed them. */

import { useMemo } from "preact/hooks";
import { address } from "../lib/api";
import { BLOCK_TEXT, css, lineRgb, lineSlots } from "../lib/colour";
import type { Command } from "../lib/commands";
import type { PanelState } from "../lib/state";
import { lensVersion, useDocument } from "../ui/documents";
import { type Session, useCommands, useSession } from "../ui/session";
import { Empty, Loaded, Problems } from "../ui/states";
import { Annotations } from "./annotations";
import { ThroughputCharts } from "./charts";
import type { ThroughputDocument } from "./document";
import { Headline } from "./headline";
import { jobSentence, together } from "./jobs";
import { labels, xKinds } from "./lines";
import type { Shown } from "./shown";
import { type Found, significanceSentences, useSignificance } from "./significance";
import { StatisticsTable } from "./statistics";
import { Legend, ThroughputToolbar } from "./toolbar";

/** Disturbances above the chart. */
const MOST_TITLES = 3;

/** More points than pixels would only cost; extremes are kept by the server. Many runs share what a screen can show. */
const POINTS_IN_ALL = 80_000;
const [LEAST_POINTS, MOST_POINTS] = [300, 4000];

export function ThroughputLens() {
  const resource = useDocument<ThroughputDocument>(
    ({ state, choices }) => throughputAddress(state.value, choices.value.runs.length),
    (session) => lensVersion(session, "throughput"),
  );
  return (
    <Loaded resource={resource}>
      {(document) => (document.series.length === 0 ? <NoSeries /> : <Throughput document={document} />)}
    </Loaded>
  );
}

export function throughputAddress({ options, name }: PanelState, records: number): string {
  const share = Math.floor(POINTS_IN_ALL / Math.max(records, 1));
  const points = Math.min(Math.max(share, LEAST_POINTS), MOST_POINTS);
  return address("throughput", { points, name, ...options });
}

function NoSeries() {
  return <Empty title="No series in these records">The runs have begun, but no rate was sampled yet.</Empty>;
}

function Throughput({ document }: { document: ThroughputDocument }) {
  const session = useSession();
  useCommands(useMemo(() => chartCommands(session), [session]));
  const state = session.state.value;
  const shown = useShown(session, document);
  const kinds = useMemo(() => xKinds(document.series), [document]);
  const x = kinds.includes(state.x) ? state.x : (kinds[0] ?? "relative");
  const picked =
    shown.find(({ label }) => label === state.key) ??
    shown.find(({ series }) => series.run === state.run) ??
    shown.find(({ muted }) => !muted) ??
    shown[0];
  const found = useSignificance(session, document, shown);
  const problems = document.series.flatMap(({ run, problems: own }) => own.map((what) => ({ run, where: "", what })));
  return (
    <>
      <ThroughputToolbar shown={shown} kinds={kinds} x={x} />
      <Legend shown={shown} />
      <Problems problems={problems} />
      {picked && <Headline shown={picked} several={shown.length > 1} />}
      {picked && <Disturbances shown={picked} />}
      <ThroughputCharts shown={shown} picked={picked} x={x} />
      <ul class="plain foot-note">
        {notes(document, picked, found, state.compare).map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      <div class="below split" style={{ height: `${belowHeight(shown, picked)}px` }}>
        <StatisticsTable shown={shown} found={found} />
        {picked && picked.series.annotations.length > 0 && <Annotations shown={picked} x={x} />}
      </div>
    </>
  );
}

/** What disturbed the picked run most, above the chart; the list below has all of it. */
function Disturbances({ shown }: { shown: Shown }) {
  const titles = [...new Set(shown.series.annotations.map(({ title }) => title))];
  if (titles.length === 0) return null;
  const more = titles.length > MOST_TITLES ? ` and ${titles.length - MOST_TITLES} more below` : "";
  return (
    <p class="foot-note" aria-label="Disturbances">
      <strong>Disturbed by:</strong> {titles.slice(0, MOST_TITLES).join("; ")}
      {more}
    </p>
  );
}

function useShown(session: Session, document: ThroughputDocument): Shown[] {
  const theme = session.theme.value;
  const { muted } = session.state.value;
  return useMemo(() => {
    const names = labels(document.series);
    const slots = lineSlots(names);
    const slowest = new Set((document.jobs ?? []).map(({ slowest_run }) => slowest_run));
    const own = document.series.map((series, at): Shown => {
      const label = names[at] ?? "";
      const note = slowest.has(series.run) ? "slowest" : "";
      return { series, label, colour: css(lineRgb(slots.get(label) ?? 0, theme)), muted: muted.includes(label), note };
    });
    const sums = (document.jobs ?? []).flatMap(together).map((series): Shown => {
      return {
        series,
        label: series.run,
        colour: css(BLOCK_TEXT[theme]),
        muted: muted.includes(series.run),
        note: "sum",
      };
    });
    return [...own, ...sums];
  }, [document, theme, muted]);
}

/** Room for all rows where there are few, and for some text where there is something to say. */
function belowHeight(shown: readonly Shown[], picked: Shown | undefined): number {
  const rows = 34 + 22 * shown.length;
  return picked && picked.series.annotations.length > 0 ? Math.max(rows, 220) : rows;
}

/** How to read the chart, what ranks did together, and whether the picked run differs from the baseline. */
function notes(document: ThroughputDocument, picked: Shown | undefined, found: Found, baseline: string): string[] {
  const sure = picked && found(picked);
  return [
    measuredAt(document),
    ...(document.jobs ?? []).map(jobSentence),
    ...(sure ? significanceSentences(sure, picked.label, baseline) : []),
  ];
}

function measuredAt({ series }: ThroughputDocument): string {
  const where = [...new Set(series.map(({ measured_at }) => measured_at).filter(Boolean))].join(", ");
  const place = where === "" ? "where outputs are received" : `at ${where}`;
  return `Solid: Rate (local), dashed: GlobalRate (avg), measured ${place}, not on the device. Drag to zoom, double-click to reset.`;
}

function chartCommands(session: Session): Command[] {
  const group = "Throughput";
  return [
    { keys: ["Escape"], title: "Zoom out", group, run: () => session.update({ zoom: null }) },
    {
      keys: ["l"],
      title: "Logarithmic or linear",
      group,
      run: () => session.update({ y: session.state.value.y === "log" ? "linear" : "log" }),
    },
  ];
}
