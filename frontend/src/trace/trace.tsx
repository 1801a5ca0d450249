/** The trace: what every thread and stream ran when, with launches, backward calls, utilization, queues and memory. */

import { useMemo } from "preact/hooks";
import type { Block, Lane } from "../lib/lanes";
import { format } from "../lib/units";
import { Fact } from "../ui/facts";
import { Lanes } from "../ui/lanes";
import { useSession } from "../ui/session";
import { Loaded } from "../ui/states";
import { useShape } from "../ui/trace_document";
import { exactTime } from "./axis";
import { ON_PATH } from "./critical_path";
import type { ArrowDocument, CriticalPathDocument, EventDocument, MomentDocument, TimelineDocument } from "./documents";
import { arrowsOf, askedWindow, blockKey, type TraceLanes, traceLanes } from "./trace_lanes";

const WIDTH_PX = 1600;
/** A window is asked for with as much again on both sides. */
const PART_WIDTH_PX = 3600;
const NS_PER_PS = 1e-3;

export function Trace() {
  const whole = useShape<TimelineDocument>("timeline", () => ({ width_px: WIDTH_PX }));
  return <Loaded resource={whole}>{(document) => <Timeline whole={document} />}</Loaded>;
}

function Timeline({ whole }: { whole: TimelineDocument }) {
  const session = useSession();
  const { key, zoom, host } = session.state.value;
  const theme = session.theme.value;
  const part = useShape<TimelineDocument>("timeline", ({ zoom: view }) => {
    if (view === null) return null;
    const [from, to] = askedWindow(view);
    return { start_ps: Math.max(Math.floor(from), 0), end_ps: Math.ceil(to), width_px: PART_WIDTH_PX };
  });
  const asked = useShape<EventDocument>("event", ({ key: id }) => (id === "" ? null : { id }));
  const path = useShape<CriticalPathDocument>("critical-path", () => (host === ON_PATH ? {} : null));
  const marked = host === ON_PATH ? path.data.value : null;
  const lit = useMemo(() => (marked === null ? null : isOn(marked)), [marked]);
  const event = asked.data.value !== null && String(asked.data.value.id) === key ? asked.data.value : null;
  const fine = zoom === null ? null : part.data.value;
  const found = useMemo(() => traceLanes(whole, fine), [whole, fine]);
  const arrows = useMemo(() => arrowsOf(event), [event]);
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
          lit={lit}
          onSelect={(id) => session.update({ key: id < 0 ? "" : String(id) })}
          zoom={zoom}
          onZoom={(next) => session.update({ zoom: next })}
          fileName="trace"
        />
      </div>
      {key !== "" && event !== null && <Event event={event} lanes={whole} />}
    </div>
  );
}

/** Whether the critical path goes through the execution of a block. */
function isOn({ segments }: CriticalPathDocument): (block: Block) => boolean {
  const executions = new Set(segments.map(({ execution }) => execution));
  return ({ id }) => executions.has(id);
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
        <Fact name="kind" value={event.category.replaceAll("_", " ")} />
        <Fact name="on" value={lane === undefined ? "—" : `${lane.device} ${lane.name}`} />
        {event.step !== null && <Fact name="step" value={String(event.step)} />}
        <Fact name="starts at" value={exactTime(event.start_ps)} />
        <Fact name="takes" value={exactTime(event.duration_ps)} />
        <Fact name="itself" value={exactTime(event.self_ps)} />
        {event.input_shape !== "" && <Fact name="input shapes" value={event.input_shape} />}
        {Object.entries(event.attributes).map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </dl>
      {LINKS.map(({ title, back, of }) => (
        <Ends
          key={title}
          title={title}
          back={back}
          arrows={event.arrows.filter((arrow) => of(arrow, event))}
          show={show}
        />
      ))}
    </aside>
  );
}

interface Link {
  readonly title: string;
  /** Whether its other ends are where the arrows come from. */
  readonly back: boolean;
  readonly of: (arrow: ArrowDocument, event: EventDocument) => boolean;
}

const LINKS: readonly Link[] = [
  { title: "Launched", back: false, of: ({ kind, to }, { id }) => kind === "launch" && to.id !== id },
  { title: "Launched by", back: true, of: ({ kind, to }, { id }) => kind === "launch" && to.id === id },
  { title: "Backward", back: false, of: ({ kind, from }, event) => kind === "backward" && isIn(from, event) },
  { title: "Forward", back: true, of: ({ kind, from }, event) => kind === "backward" && !isIn(from, event) },
];
const MOST_ENDS = 50;

function isIn(from: MomentDocument, { lane, start_ps, duration_ps }: EventDocument): boolean {
  return from.lane === lane && from.start_ps >= start_ps && from.start_ps < start_ps + duration_ps;
}

interface EndsProps {
  readonly title: string;
  readonly back: boolean;
  readonly arrows: readonly ArrowDocument[];
  readonly show: (id: number, start: number, duration: number) => void;
}

/** The other ends of arrows. */
function Ends({ title, back, arrows, show }: EndsProps) {
  if (arrows.length === 0) return null;
  return (
    <section>
      <h3>{arrows.length === 1 ? title : `${title} (${arrows.length})`}</h3>
      <ul class="plain">
        {arrows.slice(0, MOST_ENDS).map(({ from, to, delay_ps }) => {
          const other = back ? from : to;
          return (
            <li key={`${from.id} ${to.id}`}>
              <button type="button" class="link" onClick={() => show(other.id, other.start_ps, other.duration_ps)}>
                {other.name}
              </button>{" "}
              <span class="muted">{`${back ? "before" : "after"} ${format("ps", delay_ps)}`}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
