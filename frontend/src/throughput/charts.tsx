import { useCallback, useMemo } from "preact/hooks";
import { clockTicks, type Domain, linearTicks, logTicks } from "../lib/plot";
import type { PanelState } from "../lib/state";
import { format, formatClock, percent } from "../lib/units";
import { Chart } from "../ui/chart";
import type { Line } from "../ui/chart_lines";
import { useSession } from "../ui/session";
import { seriesLines, seriesMarks, seriesSpans, stepTimeLine, timesBaseline, type XKind } from "./lines";
import type { Shown } from "./shown";

interface ChartProps {
  readonly shown: readonly Shown[];
  readonly picked: Shown | undefined;
  readonly x: XKind;
}

/** Series of one unit whose rates are further apart than this are drawn in charts of their own. */
const FAR_APART = 20;

/** A chart for each unit and scale of rates; one chart of speed-ups or step times. */
export function ThroughputCharts({ shown, picked, x }: ChartProps) {
  const { chart } = useSession().state.value;
  const groups = chart === "rate" ? groupsOf(shown) : [shown];
  return (
    <>
      {groups.map((group) => (
        <ThroughputChart
          key={group.map(({ label }) => label).join("\n")}
          shown={group}
          picked={groups.length > 1 && picked && !group.includes(picked) ? group[0] : picked}
          x={x}
        />
      ))}
    </>
  );
}

/** The series by unit, and of one unit by scale. */
export function groupsOf(shown: readonly Shown[]): Shown[][] {
  const units = [...new Set(shown.map(({ series }) => series.unit))];
  return units.flatMap((unit) => byScale(shown.filter(({ series }) => series.unit === unit)));
}

function byScale(shown: readonly Shown[]): Shown[][] {
  const rate = ({ series }: Shown) => series.statistics.whole_time.per_sec ?? series.statistics.windowed.per_sec ?? 0;
  const known = shown.filter((one) => rate(one) > 0).sort((one, other) => rate(one) - rate(other));
  const groups: Shown[][] = [];
  for (const one of known) {
    const last = groups.at(-1)?.at(-1);
    if (last === undefined || rate(one) > FAR_APART * rate(last)) groups.push([]);
    groups.at(-1)?.push(one);
  }
  const unknown = shown.filter((one) => !(rate(one) > 0));
  if (groups.length === 0) return [unknown];
  groups[0]?.push(...unknown);
  // In the order that the legend has.
  return groups.map((group) => shown.filter((one) => group.includes(one)));
}

/** What the lens draws: the rates, how much faster than the baseline they are, or how long steps take. */
function ThroughputChart({ shown, picked, x }: ChartProps) {
  const session = useSession();
  const { rate, y, zoom, compare } = session.state.value;
  const chart = availableCharts(shown, compare).includes(session.state.value.chart)
    ? session.state.value.chart
    : "rate";
  const visible = useMemo(() => shown.filter(({ muted }) => !muted), [shown]);
  const lines = useMemo(
    () => linesOf(chart, visible, shown, x, rate, compare),
    [chart, visible, shown, x, rate, compare],
  );
  // The spans of several runs over each other would say nothing.
  const spans = useMemo(
    () =>
      picked && !picked.muted && chart !== "step time"
        ? [...seriesMarks(picked.series, x), ...seriesSpans(picked.series, x)]
        : [],
    [picked, x, chart],
  );
  const formatX = useCallback((value: number) => formatXOf(chart === "step time" ? "step time" : x, value), [chart, x]);
  const unit = picked?.series.unit ?? "samples";
  const what = {
    rate: `${unit} per second`,
    "speed-up": `speed-up over ${compare}`,
    "step time": "share of steps by time",
  };
  return (
    <div class="chart-area">
      <Chart
        lines={lines}
        spans={spans}
        theme={session.theme.value}
        label={`${what[chart]} of ${visible.map(({ label }) => label).join(", ")}`}
        log={y === "log" && chart === "rate"}
        ticksX={chart === "step time" ? durationTicks : x === "step" || x === "samples" ? wholeTicks : clockTicks}
        formatX={formatX}
        formatY={FORMAT_Y[chart]}
        zoom={zoom}
        onZoom={(next) => session.update({ zoom: next })}
      />
    </div>
  );
}

/** The charts that the series have something for. */
export function availableCharts(shown: readonly Shown[], compare: string): PanelState["chart"][] {
  const charts: PanelState["chart"][] = ["rate"];
  if (shown.length > 1 && shown.some(({ series }) => series.run === compare)) charts.push("speed-up");
  if (shown.some(({ series }) => series.statistics.step_time?.histogram)) charts.push("step time");
  return charts;
}

function linesOf(
  chart: PanelState["chart"],
  visible: readonly Shown[],
  shown: readonly Shown[],
  x: XKind,
  rate: PanelState["rate"],
  compare: string,
): Line[] {
  if (chart === "step time") {
    return visible.flatMap(({ series, label, colour }) => stepTimeLine(series, label, colour));
  }
  const of = ({ series, label, colour }: Shown) => seriesLines(series, label, colour, x, rate);
  const baseline = shown.find(({ series }) => series.run === compare);
  if (chart === "rate" || baseline === undefined) return visible.flatMap(of);
  const base = of(baseline);
  return visible.filter(({ note }) => note !== "sum").flatMap((one) => timesBaseline(of(one), base));
}

const short = (value: number) =>
  value.toLocaleString(undefined, { maximumSignificantDigits: 5, notation: value < 1e5 ? "standard" : "compact" });
const FORMAT_Y: Readonly<Record<PanelState["chart"], (value: number) => string>> = {
  rate: short,
  "speed-up": (value) => `${value.toLocaleString(undefined, { maximumSignificantDigits: 4 })}×`,
  "step time": (value) => percent(value, 1),
};

const wholeTicks = (domain: Domain, count: number) => linearTicks(domain, count, true);
/** Round times where the axis is the logarithm of ns. */
const durationTicks = ([low, high]: Domain) => logTicks([10 ** low, 10 ** high]).map(Math.log10);

function formatXOf(x: XKind | "step time", value: number): string {
  if (x === "step time") return format("ns", 10 ** value);
  if (x === "step" || x === "samples") return value.toLocaleString(undefined, { maximumFractionDigits: 0 });
  if (x === "wall") return new Date(value * 1000).toLocaleTimeString();
  const seconds = value.toLocaleString(undefined, { maximumFractionDigits: 3 });
  return Math.abs(value) < 60 ? `${seconds} s` : formatClock(value);
}
