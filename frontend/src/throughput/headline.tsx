import { format, formatClock, percent } from "../lib/units";
import type { Shown } from "./shown";

/** The figures that are asked for first. */
export function Headline({ shown, several }: { shown: Shown; several: boolean }) {
  const { series, label, colour } = shown;
  const { statistics, unit } = series;
  const rate = (value: number | null) => format("rate", value).replace("/s", "");
  const left = statistics.time_left_ns;
  const figures: [string, string, string][] = [
    ["Rate now", rate(series.local_samples_per_sec.findLast((value) => value !== null) ?? null), `${unit}/s`],
    ["GlobalRate", rate(statistics.whole_time.per_sec), `${unit}/s`],
    ["Last steps", statistics.whole_time.per_sec === null ? rate(statistics.windowed.per_sec) : "—", `${unit}/s`],
    ["Training only", rate(statistics.training_only.per_sec), `${unit}/s`],
    ["Median step", format("ns", statistics.step_time?.p50_ns), ""],
    ["Waiting for data", percent(statistics.data_wait_share, 1), ""],
    ["MFU", percent(statistics.mfu ?? statistics.stated?.mfu ?? null, 1), ""],
    ["Time left", left === null ? "—" : left < 60e9 ? `${Math.round(left / 1e9)} s` : formatClock(left / 1e9), ""],
  ];
  const known = figures.filter(([, value]) => value !== "—");
  return (
    <div class="headline">
      {several && (
        <div>
          <strong title={label}>
            <span class="swatch" style={{ background: colour }} /> <span class="name">{label}</span>
          </strong>
          <span>{series.sampling_rule.replaceAll("_", " ")}</span>
        </div>
      )}
      {known.map(([title, value, word]) => (
        <div key={title}>
          <strong>
            {value}
            {word && <small>{word}</small>}
          </strong>
          <span>{title}</span>
        </div>
      ))}
    </div>
  );
}
