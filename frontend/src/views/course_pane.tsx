/** How two runs differ along a step: the parts of a scope in order of time, and the difference as it adds up. */

import { useMemo } from "preact/hooks";
import { snapshot } from "../lib/api";
import { exact, format, type Quantity } from "../lib/units";
import { Switch } from "../ui/menu";
import { useSession } from "../ui/session";
import { Empty, Loaded } from "../ui/states";
import { useShape } from "../ui/trace_document";
import { rowName } from "./columns";
import { courseOf, type Part } from "./course";
import { changeColour } from "./diverging";
import { DivergingPane, type DivergingProps } from "./diverging_pane";

const IN_TIME = "time";

/** The compared tree by size, or the parts of one scope in order of time. */
export function ComparedPicture(props: DivergingProps) {
  const session = useSession();
  const { host } = session.state.value;
  if (props.view !== "scope" || snapshot() !== undefined) return <DivergingPane {...props} />;
  return (
    <>
      <div class="course-switch">
        <Switch
          label="Picture"
          value={host === IN_TIME ? IN_TIME : ""}
          choices={[
            { word: "", title: "by size", help: "The whole tree; width is what a row costs" },
            {
              word: IN_TIME,
              title: "in order of time",
              help: "The parts of one scope, and the difference as it adds up",
            },
          ]}
          onPick={(next) => session.update({ host: next })}
        />
      </div>
      {host === IN_TIME ? <Course {...props} /> : <DivergingPane {...props} />}
    </>
  );
}

function Course(props: DivergingProps) {
  const resource = useShape<{ readonly keys: readonly string[] }>("order", ({ from, compare }) => ({
    path: from,
    compare,
  }));
  return <Loaded resource={resource}>{({ keys }) => <Drawn {...props} order={keys} />}</Loaded>;
}

function Drawn({ document, metric, quantity, start, order }: DivergingProps & { readonly order: readonly string[] }) {
  const session = useSession();
  const { key } = session.state.value;
  const { rows } = document;
  // What adds up has no figure of its own beside it: the self time is that of the resource.
  const own = metric === "cost_micros" ? (document.time ?? "") : metric.replace(/^total_/, "");
  const parts = useMemo(() => courseOf(rows, start, metric, order, own), [rows, start, metric, order, own]);
  if (parts.length === 0) return <Empty title="Nothing is in this scope" />;
  const pick = (part: Part) => session.update(part.opens ? { from: part.key, key: part.key } : { key: part.key });
  return (
    <section class="course" aria-label="Parts in order of time">
      <Bars parts={parts} quantity={quantity} selected={key} onPick={pick} />
      <Changes parts={parts} quantity={quantity} />
    </section>
  );
}

interface BarsProps {
  readonly parts: readonly Part[];
  readonly quantity: Quantity;
  readonly selected: string;
  readonly onPick: (part: Part) => void;
}

/** This run and the baseline beside each other, a pair for each part. */
function Bars({ parts, quantity, selected, onPick }: BarsProps) {
  const most = Math.max(...parts.map(({ a, b }) => Math.max(a, b)));
  const tall = (value: number) => ({ height: `${(100 * value) / (most || 1)}%` });
  return (
    <div class="course-bars">
      {parts.map((part) => (
        <button
          key={part.key || part.name}
          type="button"
          class={part.key !== "" && part.key === selected ? "selected" : ""}
          title={spoken(part, quantity)}
          aria-label={spoken(part, quantity)}
          disabled={part.key === ""}
          onClick={() => onPick(part)}
        >
          <span>
            <i class="mine" style={tall(part.a)} />
            <i class="theirs" style={tall(part.b)} />
          </span>
          <b>{part.name.split(/\/|::/).pop()}</b>
        </button>
      ))}
    </div>
  );
}

function spoken({ name, a, b, accumulated }: Part, quantity: Quantity): string {
  const signed = (value: number) => `${value > 0 ? "+" : ""}${exact(quantity, value)}`;
  return [
    rowName(name),
    `this run ${exact(quantity, a)}`,
    `baseline ${exact(quantity, b)}`,
    `difference ${signed(a - b)}`,
    `accumulated ${signed(accumulated)}`,
  ].join("\n");
}

/** The difference of each part, and the line of what they add up to. */
function Changes({ parts, quantity }: Pick<BarsProps, "parts" | "quantity">) {
  const theme = useSession().theme.value;
  const values = parts.flatMap(({ a, b, accumulated }) => [a - b, accumulated]);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const y = (value: number) => (100 * (high - value)) / (high - low || 1);
  const line = parts.map(({ accumulated }, at) => `${at},${y(accumulated)} ${at + 1},${y(accumulated)}`).join(" ");
  const last = parts[parts.length - 1]?.accumulated ?? 0;
  return (
    <div class="course-changes">
      <svg viewBox={`0 -3 ${parts.length} 106`} preserveAspectRatio="none" aria-hidden="true">
        <title>Differences</title>
        {parts.map(({ key, name, a, b }, at) => (
          <rect
            key={key || name}
            x={at + 0.15}
            width={0.7}
            y={Math.min(y(a - b), y(0))}
            height={Math.abs(y(a - b) - y(0))}
            fill={changeColour(a > b ? 1 : -1, theme)}
          />
        ))}
        <line x1={0} x2={parts.length} y1={y(0)} y2={y(0)} />
        <polyline points={`0,${y(0)} ${line}`} />
      </svg>
      <span class="muted">
        <i class="swatch mine" /> this run <i class="swatch theirs" /> baseline
        {` · below: the difference of each part, and as a line what they add up to: ${last > 0 ? "+" : ""}${format(quantity, last)}`}
      </span>
    </div>
  );
}
