import { address } from "../lib/api";
import { CHART, ExportMenu, Menu, Switch } from "../ui/menu";
import { OptionChips } from "../ui/options";
import { useSession } from "../ui/session";
import { Picker } from "../ui/shell";
import { availableCharts } from "./charts";
import type { XKind } from "./lines";
import type { Shown } from "./shown";

interface ToolbarProps {
  readonly shown: readonly Shown[];
  readonly kinds: readonly XKind[];
  readonly x: XKind;
}

const MOST_IN_LEGEND = 12;

export function ThroughputToolbar({ shown, kinds, x }: ToolbarProps) {
  const session = useSession();
  const { zoom, compare, options, chart } = session.state.value;
  const charts = availableCharts(shown, compare);
  const drawn = charts.includes(chart) ? chart : "rate";
  const runs = [...new Set(shown.filter(({ note }) => note !== "sum").map(({ series }) => series.run))];
  return (
    <div class="toolbar">
      <OptionChips lens="throughput" except={["points"]} command="stepscope throughput LOGDIR" />
      {runs.length > 1 && (
        <Picker
          label="Baseline"
          value={compare}
          words={["", ...runs]}
          titles={{ "": "none" }}
          onPick={(run) => session.update({ compare: run })}
        />
      )}
      <span class="spacer" />
      {zoom !== null && (
        <button type="button" class="button" onClick={() => session.update({ zoom: null })}>
          Zoom out
        </button>
      )}
      {charts.length > 1 && (
        <Switch
          label="Chart"
          value={drawn}
          choices={charts.map((word) => ({ word, title: word }))}
          onPick={(word) => session.update({ chart: word, zoom: null })}
        />
      )}
      {drawn !== "step time" && <Axes kinds={kinds} x={x} log={drawn === "rate"} />}
      <ExportMenu
        title="All points of these series"
        url={(format) => address("export", { lens: "throughput", format, run: "*", ...options })}
        picture={CHART}
      />
    </div>
  );
}

interface AxesProps {
  readonly kinds: readonly XKind[];
  readonly x: XKind;
  /** Whether a logarithmic axis makes sense. */
  readonly log: boolean;
}

function Axes({ kinds, x, log }: AxesProps) {
  const session = useSession();
  const { rate, y } = session.state.value;
  return (
    <>
      <Switch
        label="Rate"
        value={rate}
        choices={[
          { word: "both", title: "both" },
          { word: "local", title: "local", help: "Rate: smoothed throughput since the last sampling" },
          { word: "avg", title: "avg", help: "GlobalRate: samples over the whole time" },
        ]}
        onPick={(word) => session.update({ rate: word })}
      />
      <Switch
        label="Horizontal axis"
        value={x}
        choices={kinds.map((word) => ({ word, title: word }))}
        onPick={(word) => session.update({ x: word, zoom: null })}
      />
      {log && (
        <Switch
          label="Vertical axis"
          value={y}
          choices={[
            { word: "linear", title: "linear" },
            { word: "log", title: "log" },
          ]}
          onPick={(word) => session.update({ y: word })}
        />
      )}
    </>
  );
}

/** The series, each a switch; nothing where there is but one. */
export function Legend({ shown }: { shown: readonly Shown[] }) {
  const session = useSession();
  const { muted } = session.state.value;
  const toggle = (label: string) =>
    session.update({ muted: muted.includes(label) ? muted.filter((other) => other !== label) : [...muted, label] });
  if (shown.length < 2) return null;
  const button = ({ label, colour, muted: off, note }: Shown) => (
    <button key={label} type="button" aria-pressed={!off} title={`Show or hide ${label}`} onClick={() => toggle(label)}>
      <span class="swatch" style={{ background: colour }} />
      <span class="name">{label}</span>
      {note === "slowest" && <small class="muted">slowest</small>}
    </button>
  );
  return (
    <div class="toolbar second legend">
      {shown.slice(0, MOST_IN_LEGEND).map(button)}
      {shown.length > MOST_IN_LEGEND && (
        <Menu label={`${shown.length - MOST_IN_LEGEND} more runs`} title="Show or hide">
          <div class="check-list legend">{shown.slice(MOST_IN_LEGEND).map(button)}</div>
        </Menu>
      )}
    </div>
  );
}
