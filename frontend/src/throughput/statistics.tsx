import { useMemo } from "preact/hooks";
import type { Figure } from "../lib/documents";
import type { Quantity } from "../lib/units";
import { numberColumn, wordColumn } from "../ui/columns";
import { type DataColumn, DataTable } from "../ui/data_table";
import { useSession } from "../ui/session";
import type { StatisticsDocument } from "./document";
import type { Shown } from "./shown";
import { type Found, sure } from "./significance";

type Pick = (statistics: StatisticsDocument) => Figure;

const FIGURES: readonly [string, string, Quantity, string, Pick][] = [
  [
    "whole",
    "GlobalRate",
    "rate",
    "Samples whose outputs were received, over the time since the executable was loaded",
    (s) => s.whole_time.per_sec,
  ],
  ["windowed", "windowed", "rate", "The average over the last steps; how many is an option", (s) => s.windowed.per_sec],
  [
    "training",
    "training only",
    "rate",
    "Without compile, checkpoint, evaluation, profile and data spans",
    (s) => s.training_only.per_sec,
  ],
  ["steps", "steps", "rate", "Steps of training per second", (s) => s.steps_per_sec],
  [
    "device",
    "per device",
    "rate",
    "GlobalRate, over the devices of the run",
    (s) => s.whole_time.per_sec_per_device ?? null,
  ],
  ["mean", "step mean", "ns", "The mean time of a step", (s) => s.step_time?.mean_ns ?? null],
  ["p50", "step p50", "ns", "Half of the steps take at most this long", (s) => s.step_time?.p50_ns ?? null],
  ["p95", "step p95", "ns", "95 of 100 steps take at most this long", (s) => s.step_time?.p95_ns ?? null],
  ["max", "step max", "ns", "The longest step", (s) => s.step_time?.max_ns ?? null],
  ["wait", "data wait", "ratio", "Share of the time spent waiting for data", (s) => s.data_wait_share],
  ["mfu", "MFU", "ratio", "Model FLOPs used, of the peak", (s) => s.mfu],
  [
    "first",
    "first sample",
    "ns",
    "From when the executable was loaded to the first sample",
    (s) => s.time_to_first_sample_ns ?? null,
  ],
  ["left", "time left", "ns", "Until the last step that was announced, at this pace", (s) => s.time_left_ns],
  [
    "stretches",
    "stretches",
    "count",
    "Between resets and resumes; no average goes over more than one silently",
    (s) => ((s.stretches ?? 1) > 1 ? (s.stretches ?? null) : null),
  ],
  ["samples", "samples", "count", "Samples to date", (s) => s.samples_to_date],
  ["last", "last step", "count", "The last step that was marked", (s) => s.last_step],
];

/** One row for each series; the selected one's spans and disturbances are shown. */
export function StatisticsTable({ shown, found }: { shown: readonly Shown[]; found: Found }) {
  const session = useSession();
  const { compare, sort, key } = session.state.value;
  const verdicts = shown.map((one) => sure(found(one)) ?? "").join(",");
  const columns = useMemo(() => columnsOf(shown, compare, found), [shown, compare, verdicts]);
  return (
    <DataTable
      label="Statistics of the runs"
      columns={columns}
      rows={shown}
      id={({ label }) => label}
      sort={sort}
      onSort={(next) => session.update({ sort: next })}
      selected={key}
      onSelect={(next) => session.update({ key: next })}
    />
  );
}

/** Room for the longest name, within bounds. */
function nameWidth(shown: readonly Shown[]): number {
  const longest = Math.max(...shown.map(({ label, note }) => label.length + (note === "slowest" ? 9 : 0)));
  return Math.min(Math.max(longest * 8 + 34, 140), 340);
}

function columnsOf(shown: readonly Shown[], compare: string, found: Found): DataColumn<Shown>[] {
  const name: DataColumn<Shown> = {
    ...wordColumn<Shown>({
      key: "run",
      title: "run",
      help: "The run, and the series in it",
      value: ({ label }) => label,
    }),
    width: nameWidth(shown),
    grows: true,
    content: ({ label, colour, note }) => (
      <span class="tree">
        <span class="dot" style={{ background: colour }} />
        <span class="name">{label}</span>
        {note === "slowest" && <small class="muted">&nbsp; slowest</small>}
      </span>
    ),
  };
  const figures = FIGURES.map(([key, title, quantity, help, pick]) =>
    numberColumn(shown, { key, title, help, quantity, value: ({ series }) => pick(series.statistics) }),
  ).filter((column) => shown.some((one) => column.value(one) !== null));
  const base = shown.find(({ series }) => series.run === compare)?.series.statistics.whole_time.per_sec;
  if (!base) return [name, ...figures];
  const speedUp = (one: Shown) => {
    if (one.note === "sum") return null;
    const rate = one.series.statistics.whole_time.per_sec;
    return rate === null ? null : rate / base - 1;
  };
  const help = "How much faster than the baseline, by GlobalRate";
  return [
    name,
    numberColumn(shown, {
      key: "speed_up",
      title: "vs baseline",
      help,
      quantity: "ratio",
      value: speedUp,
      signed: true,
    }),
    wordColumn<Shown>({
      key: "sure",
      title: "significant",
      help: "Whether the difference in GlobalRate is statistically significant (95 % interval); sentences under the chart give the interval of each rate",
      value: (one) => sure(found(one)),
    }),
    ...figures,
  ];
}
