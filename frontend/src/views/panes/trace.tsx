/** The trace: what every thread and stream ran when, with launches, utilization and queues. */

import { useMemo } from "preact/hooks";
import { css, lineRgb } from "../../lib/colour";
import type { Block, Lane } from "../../lib/lanes";
import { linearTicks } from "../../lib/plot";
import { format, percent } from "../../lib/units";
import { Chart, type Line } from "../../ui/chart";
import { gutterOf, Lanes } from "../../ui/lanes";
import { useSession } from "../../ui/session";
import { Loaded } from "../../ui/states";
import { useShape } from "./asking";
import { exactTime, tickText } from "./axis";
import type { EventDocument, TimelineDocument } from "./documents";
import { askedWindow, blockKey, launchArrows, type TraceLanes, traceLanes } from "./trace_lanes";

const WIDTH_PX = 1600;
/** A window is asked for with as much again on both sides. */
const PART_WIDTH_PX = 3600;
const CHART_LEFT_PX = 58;
const NS_PER_PS = 1e-3;

export function Trace() {
  const whole = useShape<TimelineDocument>("timeline", () => ({ width_px: WIDTH_PX }));
  return <Loaded resource={whole}>{(document) => <Timeline whole={document} />}</Loaded>;
}

function Timeline({ whole }: { whole: TimelineDocument }) {
  const session = useSession();
  const { key, zoom } = session.state.value;
  const theme = session.theme.value;
  const part = useShape<TimelineDocument>("timeline", ({ zoom: view }) => {
    if (view === null) return null;
    const [from, to] = askedWindow(view);
    return { start_ps: Math.max(Math.floor(from), 0), end_ps: Math.ceil(to), width_px: PART_WIDTH_PX };
  });
  const asked = useShape<EventDocument>("event", ({ key: id }) => (id === "" ? null : { id }));
  const event = asked.data.value !== null && String(asked.data.value.id) === key ? asked.data.value : null;
  const fine = zoom === null ? null : part.data.value;
  const found = useMemo(() => traceLanes(whole, fine), [whole, fine]);
  const arrows = useMemo(() => launchArrows(event), [event]);
  return (
    <div class="split">
      <div class="main-column">
        <Lanes
          lanes={found.lanes}
          kinds={found.kinds}
          arrows={arrows}
          label={`Timeline of ${whole.lanes.length} threads and streams`}
          theme={theme}
          ns={NS_PER_PS}
          exact={(length) => exactTime(Math.round(length))}
          describe={(block, lane) => describe(found, block, lane)}
          selected={key === "" ? -1 : Number(key)}
          onSelect={(id) => session.update({ key: id < 0 ? "" : String(id) })}
          zoom={zoom}
          onZoom={(next) => session.update({ zoom: next })}
          fileName="trace"
        />
        <Counters document={fine ?? whole} whole={whole} left={gutterOf(found.lanes)} />
      </div>
      {key !== "" && event !== null && <Event event={event} lanes={whole} />}
    </div>
  );
}

function describe({ kinds, merged }: TraceLanes, block: Block, lane: Lane) {
  const count = merged.get(blockKey(block.id, block.start));
  const name = kinds[block.kind]?.name ?? "";
  return {
    title: count === undefined ? name : `${count.toLocaleString()} short ones, the longest ${name}`,
    rows: [
      { label: "on", value: lane.label },
      { label: "from", value: exactTime(block.start) },
      { label: count === undefined ? "takes" : "together", value: exactTime(block.end - block.start) },
    ],
  };
}

interface CountersProps {
  readonly document: TimelineDocument;
  readonly whole: TimelineDocument;
  /** Where the lanes begin. */
  readonly left: number;
}

/** As wide as the lanes, and over the same time. */
function Counters({ document, whole, left }: CountersProps) {
  const session = useSession();
  const theme = session.theme.value;
  const { zoom } = session.state.value;
  const lines = useMemo(() => counterLines(document, theme), [document, theme]);
  if (lines.length === 0) return null;
  const edge = (whole.last_ps - whole.first_ps) / 100;
  return (
    <div class="pane-chart" style={{ paddingLeft: `${left - CHART_LEFT_PX}px` }}>
      <Chart
        lines={lines}
        spans={[]}
        theme={theme}
        label="Utilization of each accelerator"
        log={false}
        ticksX={linearTicks}
        formatX={tickText("ps")}
        formatY={(share) => percent(share, 1)}
        zoom={zoom ?? [whole.first_ps - edge, whole.last_ps + edge]}
        onZoom={(next) => session.update({ zoom: next })}
      />
    </div>
  );
}

const COUNTERS: Readonly<Record<string, string>> = {
  utilization: "utilization",
  sm_efficiency: "est. SM efficiency",
};

function counterLines({ counters, start_ps, end_ps }: TimelineDocument, theme: "light" | "dark"): Line[] {
  const devices = [...new Set(counters.map(({ device }) => device))];
  return counters
    .filter(({ what }) => what in COUNTERS)
    .map(({ device, what, values }) => ({
      label: `${device} ${COUNTERS[what]}`,
      colour: css(lineRgb(devices.indexOf(device), theme)),
      dashed: what !== "utilization",
      x: values.map((_, index) => start_ps + ((end_ps - start_ps) * (index + 0.5)) / values.length),
      y: values,
    }));
}

function Event({ event, lanes }: { event: EventDocument; lanes: TimelineDocument }) {
  const session = useSession();
  const lane = lanes.lanes.find(({ id }) => id === event.lane);
  const show = (id: number, start: number, duration: number) => {
    const width = Math.max(duration * 20, 1);
    session.update({ key: String(id), zoom: [start - width / 2, start + width / 2] });
  };
  return (
    <aside class="drawer pane-event" aria-label="The selected execution" tabIndex={0}>
      <div class="drawer-head">
        <h2>{event.name}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => session.update({ key: "" })}>
          ×
        </button>
      </div>
      <dl class="facts">
        <dt>kind</dt>
        <dd>{event.category.replace("_", " ")}</dd>
        <dt>on</dt>
        <dd>{lane === undefined ? "—" : `${lane.device} ${lane.name}`}</dd>
        {event.step !== null && <Fact name="step" value={String(event.step)} />}
        <Fact name="starts at" value={exactTime(event.start_ps)} />
        <Fact name="takes" value={exactTime(event.duration_ps)} />
        <Fact name="itself" value={exactTime(event.self_ps)} />
        {event.input_shape !== "" && <Fact name="input shapes" value={event.input_shape} />}
        {Object.entries(event.attributes).map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </dl>
      {event.arrows.length > 0 && (
        <section>
          <h3>{event.arrows.length === 1 ? "Launch" : `${event.arrows.length} launches`}</h3>
          <ul class="plain">
            {event.arrows.slice(0, 50).map(({ from, to, delay_ps }) => {
              const other = to.id === event.id ? from : to;
              return (
                <li key={`${from.id} ${to.id}`}>
                  <button type="button" class="link" onClick={() => show(other.id, other.start_ps, other.duration_ps)}>
                    {other.name}
                  </button>{" "}
                  <span class="muted">{`after ${format("ps", delay_ps)}`}</span>
                </li>
              );
            })}
          </ul>
        </section>
      )}
    </aside>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
