import { useCallback, useRef } from "preact/hooks";
import { address } from "../lib/api";
import { css, lineRgb } from "../lib/colour";
import type { Figure } from "../lib/documents";
import { format, percent } from "../lib/units";
import { Canvas } from "../ui/canvas";
import { useDocument } from "../ui/documents";
import { useSession } from "../ui/session";
import { Loaded } from "../ui/states";
import { Card } from "./card";
import { type OverviewSeries, overviewVersion } from "./documents";

const SHOWN = 8;
const POINTS = 120;
const SPARK = { width: 80, height: 20 };

/** How fast each run is: now, on average, and how steadily. */
export function Rates() {
  const document = useDocument<{ readonly series: readonly OverviewSeries[] }>(
    ({ state }) => address("throughput", { points: POINTS, run: state.value.run }),
    overviewVersion,
  );
  return (
    <Card title="Throughput" lens="throughput">
      <Loaded resource={document}>{({ series }) => <RateTable series={series} />}</Loaded>
    </Card>
  );
}

function RateTable({ series }: { series: readonly OverviewSeries[] }) {
  const units = new Set(series.map(({ unit }) => unit));
  const unit = units.size === 1 ? `${series[0]?.unit}/s` : "";
  const bare = unit !== "";
  const waits = series.some(({ statistics }) => statistics.data_wait_share !== null);
  return (
    <table class="small-table wide">
      <colgroup>
        <col />
        <col class="spark" />
        <col class={bare ? "rate" : "rate with-unit"} />
        <col class={bare ? "rate" : "rate with-unit"} />
        <col class="figure" />
        {waits && <col class="figure" />}
      </colgroup>
      <thead>
        <tr>
          <th title="The run, with its series where it has several">run</th>
          <th class="spark" title="The rate over the whole run">
            <span class="hidden">Rate over time</span>
          </th>
          {["now", "average"].map((title) => (
            <th key={title} class="num name" title={`${title} ${unit}`}>
              {title} <span class="unit">{unit}</span>
            </th>
          ))}
          <th class="num" title="Half of the steps took no longer">
            median step
          </th>
          {waits && (
            <th class="num" title="The share of the time in which the loop waited for data">
              data wait
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {series.slice(0, SHOWN).map((one) => (
          <RateRow key={`${one.run} ${one.name}`} series={one} title={titleOf(one, series)} waits={waits} bare={bare} />
        ))}
      </tbody>
      {series.length > SHOWN && (
        <tfoot>
          <tr>
            <td class="muted" colSpan={waits ? 6 : 5}>{`and ${series.length - SHOWN} more`}</td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

function titleOf({ run, name }: OverviewSeries, series: readonly OverviewSeries[]): string {
  if (run === ".") return name;
  return series.filter((one) => one.run === run).length > 1 ? `${run} · ${name}` : run;
}

interface RateRowProps {
  readonly series: OverviewSeries;
  readonly title: string;
  readonly waits: boolean;
  /** Whether the head says the unit. */
  readonly bare: boolean;
}

function RateRow({ series, title, waits, bare }: RateRowProps) {
  const session = useSession();
  const { run, name, unit, statistics } = series;
  const show = () => session.update({ lens: "throughput", run, name: "" });
  const colour = css(lineRgb(session.runSlots.value.get(run) ?? 0, session.theme.value));
  return (
    <tr>
      <td class="name" title={`${run} · ${name}`}>
        <button type="button" class="link" onClick={show}>
          {title}
        </button>
      </td>
      <td class="spark">
        <Spark values={series.local_samples_per_sec} colour={colour} />
      </td>
      <RateCell values={series.local_samples_per_sec} unit={unit} bare={bare} />
      <RateCell values={series.avg_samples_per_sec} unit={unit} bare={bare} />
      <td class="num">{format("ns", statistics.step_time?.p50_ns)}</td>
      {waits && <td class="num">{percent(statistics.data_wait_share, 1)}</td>}
    </tr>
  );
}

interface RateCellProps {
  readonly values: readonly Figure[];
  readonly unit: string;
  readonly bare: boolean;
}

/** The last rate that is known. */
function RateCell({ values, unit, bare }: RateCellProps) {
  const last = values.findLast((value) => value !== null) ?? null;
  const text = last === null ? "—" : format("rate", last).replace("/s", "");
  const whole = last === null ? "not known" : `${text} ${unit}/s`;
  return (
    <td class="num name" title={whole}>
      {bare || last === null ? text : whole}
    </td>
  );
}

/** A line as small as a word. */
function Spark({ values, colour }: { values: readonly Figure[]; colour: string }) {
  const asked = useRef(values);
  asked.current = values;
  const draw = useCallback(
    (context: CanvasRenderingContext2D) => {
      const known = asked.current.filter((value) => value !== null);
      const [low, high] = [Math.min(0, ...known), Math.max(...known)];
      context.strokeStyle = colour;
      context.lineWidth = 1.3;
      context.beginPath();
      known.forEach((value, at) => {
        const x = (at / Math.max(known.length - 1, 1)) * SPARK.width;
        context.lineTo(x, SPARK.height - 1 - ((value - low) / (high - low || 1)) * (SPARK.height - 3));
      });
      context.stroke();
    },
    [values, colour],
  );
  return <Canvas draw={draw} size={SPARK} />;
}
