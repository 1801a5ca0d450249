/** One kernel, stamp by stamp: what adds up to it, its lanes, and the tables beside them. All share one selection. */

import { useMemo } from "preact/hooks";
import type { Block, Lane } from "../lib/lanes";
import { absolute } from "../lib/stamps";
import { Lanes } from "../ui/lanes";
import { useSession } from "../ui/session";
import { type InCoreDocument, phasesOf, sumOf, totalOf } from "./document";
import { blockAtBoundary, ENVELOPE, type PhaseLanes, phaseLanes } from "./phase_lanes";
import { Boundaries, Collective, Merged, Phases } from "./tables";
import type { Units } from "./units";

interface PhasePanelProps {
  readonly document: InCoreDocument;
  readonly units: Units;
  readonly title: string;
}

const PINNED = [ENVELOPE];

export function PhasePanel({ document, units, title }: PhasePanelProps) {
  const session = useSession();
  const { key, zoom } = session.state.value;
  const detail = document.detail ?? {};
  const found = useMemo(() => phaseLanes(document, detail), [document]);
  const selected = useMemo(() => indexOf(found, key), [found, key]);
  const block = found.blocks[selected];
  const select = (id: number) => session.update({ key: found.blocks[id]?.key ?? "" });
  const pickPhase = (name: string) => session.update({ key: `${ENVELOPE}/${name}` });
  const pickSlot = (slot: number, boundary: number) => {
    const stamp = detail.lanes?.find((lane) => lane.slot === slot)?.stamps[boundary] ?? 0;
    session.update({ key: blockAtBoundary(found, slot, stamp)?.key ?? "" });
  };
  const lit = useMemo(() => litOf(found, block?.lane === ENVELOPE ? block.phase : null), [found, block]);
  const describe = (one: Block, lane: Lane) => describePhase(found, detail.base ?? "0", units, one, lane);
  const tables = { document, units, phase: block?.phase ?? "", slot: block?.lane ?? "", pickPhase, pickSlot };
  return (
    <div class="split">
      <div class="main-column">
        <Partition document={document} units={units} phase={block?.phase ?? ""} onPick={pickPhase} />
        <Lanes
          lanes={found.lanes}
          kinds={found.kinds}
          marks={found.marks}
          pinned={PINNED}
          label={`Stamps of ${found.lanes.length - 1} cores`}
          theme={session.theme.value}
          ns={units.ns}
          exact={units.exact}
          describe={describe}
          selected={selected}
          onSelect={select}
          lit={lit}
          zoom={zoom}
          onZoom={(next) => session.update({ zoom: next })}
          fileName={title}
        />
      </div>
      <aside class="drawer wide" aria-label="Figures" tabIndex={0}>
        <Boundaries {...tables} />
        <Phases {...tables} />
        <Collective {...tables} />
        <Merged {...tables} />
      </aside>
    </div>
  );
}

/** The block of a key; of a slot alone its first. */
function indexOf({ blocks }: PhaseLanes, key: string): number {
  const whole = key.endsWith("/");
  return blocks.findIndex((block) => (whole ? `${block.lane}/` : block.key) === key);
}

function litOf({ kinds }: PhaseLanes, phase: string | null): ((block: Block) => boolean) | null {
  const kind = kinds.findIndex(({ name }) => name === phase);
  return kind < 0 ? null : (block) => block.kind === kind;
}

function describePhase({ kinds, marks }: PhaseLanes, base: string, units: Units, block: Block, lane: Lane) {
  const sets = marks.filter(({ lane: key, at }) => key === lane.key && (at === block.start || at === block.end));
  const stamp = (offset: number) => `${absolute(BigInt(base), offset)} (${offset.toLocaleString()} from the first)`;
  return {
    title: `${lane.label} · ${kinds[block.kind]?.name ?? ""}`,
    rows: [
      { label: "length", value: units.exact(block.end - block.start) },
      { label: "from", value: stamp(block.start) },
      { label: "to", value: stamp(block.end) },
      ...(sets.length > 0 ? [{ label: "sets the boundary", value: sets.map(({ text }) => text).join(", ") }] : []),
    ],
  };
}

interface PartitionProps {
  readonly document: InCoreDocument;
  readonly units: Units;
  readonly phase: string;
  readonly onPick: (name: string) => void;
}

/** The sum written out, and checked against the total that the document states. */
function Partition({ document, units, phase, onPick }: PartitionProps) {
  const phases = phasesOf(document);
  const sum = sumOf(phases);
  const total = totalOf(document);
  return (
    <div class="partition">
      {phases.map(({ name, cycles }, at) => (
        <span key={name}>
          {at > 0 && <i>+</i>}
          <button type="button" class="term" aria-pressed={name === phase} onClick={() => onPick(name)}>
            <span class="muted">{name}</span> <b title={units.exact(cycles)}>{units.say(cycles)}</b>
          </button>
        </span>
      ))}
      <i>=</i>
      <b title={units.exact(sum)}>{units.say(sum)}</b>
      {sum === total ? (
        <span class="badge" title={`The total in the document is ${units.exact(sum)}`}>
          ✓ is the total
        </span>
      ) : (
        <span class="badge bad">{total === undefined ? "no total stated" : `the total is ${units.exact(total)}`}</span>
      )}
    </div>
  );
}
