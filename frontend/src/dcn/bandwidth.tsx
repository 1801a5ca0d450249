/** What collectives ask of the network, against what it can carry. */

import { useRef } from "preact/hooks";
import { logScale, logTicks, type Scale } from "../lib/plot";
import { exact, format } from "../lib/units";
import { download, type Size, token, useSize } from "../ui/canvas";
import { useSession } from "../ui/session";
import { type DcnDocument, type DcnRow, rowKey } from "./document";

const MARGIN = { left: 92, right: 90, top: 14, bottom: 44 };

/** Required bandwidth of a host against the size, both logarithmic, with what its network can carry. */
export function Bandwidth({ document, rows }: { document: DcnDocument; rows: readonly DcnRow[] }) {
  const session = useSession();
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const { network_gbps: capacity = null, cores_per_host: cores = 1 } = document.diagnosis ?? {};
  const points = rows.flatMap((row) => {
    const needed = row.required_bandwidth_gbps;
    return row.bytes && needed ? [{ row, x: row.bytes, y: needed * cores }] : [];
  });
  const endless = rows.filter((row) => row.required_bandwidth_gbps === null).length;
  const x = logScale(domainOf(points.map((one) => one.x)), MARGIN.left, Math.max(width - MARGIN.right, 100));
  const needs = [...points.map((one) => one.y), ...(capacity === null ? [] : [capacity])];
  const y = logScale(domainOf(needs), Math.max(height - MARGIN.bottom, 60), MARGIN.top);
  const most = points.reduce((top, { row }) => Math.max(top, row.total_stall_ms ?? 0), 0) || 1;
  return (
    <div class="scatter" ref={box}>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label="Required bandwidth against size; the table has the figures"
      >
        <Axes x={x} y={y} width={width} height={height} capacity={capacity} />
        {points.map(({ row, x: size, y: needed }) => (
          <circle
            key={rowKey(row)}
            class={rowKey(row) === session.state.value.key ? "chosen" : ""}
            cx={x.at(size)}
            cy={y.at(needed)}
            r={4 + 8 * Math.sqrt((row.total_stall_ms ?? 0) / most)}
            onClick={() => session.update({ key: rowKey(row) })}
          >
            <title>{`${row.rendezvous}: ${exact("gbps", needed)} for ${exact("network_bytes", size)}, total stall ${format("ms", row.total_stall_ms)}`}</title>
          </circle>
        ))}
      </svg>
      <button type="button" class="button" onClick={() => saveSvg(box.current?.querySelector("svg") ?? null)}>
        SVG
      </button>
      <p class="foot-note">
        {`Required by the ${cores} core${cores > 1 ? "s" : ""} of a host, against the bytes of one occurrence. A larger circle stalls more.`}
        {capacity === null
          ? " Enter the network's capacity above to see the limit."
          : " Above the line the network is too small."}
        {endless > 0 && ` ${endless} without slack or size are not drawn.`}
      </p>
    </div>
  );
}

interface AxesProps extends Size {
  readonly x: Scale;
  readonly y: Scale;
  readonly capacity: number | null;
}

/** Ticks of both axes, and the line of what the network can carry. */
function Axes({ x, y, width, height, capacity }: AxesProps) {
  const across = (value: number) => ({
    x1: MARGIN.left,
    x2: width - MARGIN.right,
    y1: y.at(value),
    y2: y.at(value),
  });
  return (
    <>
      {logTicks(y.domain).map((tick) => (
        <g key={tick} class="tick">
          <line {...across(tick)} />
          <text x={MARGIN.left - 8} y={y.at(tick) + 4} text-anchor="end">
            {`${tick.toLocaleString()} Gbit/s`}
          </text>
        </g>
      ))}
      {logTicks(x.domain).map((tick) => (
        <g key={tick} class="tick">
          <text x={x.at(tick)} y={height - MARGIN.bottom + 16} text-anchor="middle">
            {format("network_bytes", tick).replace(/\.0+ /, " ")}
          </text>
        </g>
      ))}
      {capacity !== null && (
        <g class="capacity">
          <line {...across(capacity)} />
          <text x={width - MARGIN.right + 6} y={y.at(capacity) + 4}>
            capacity
          </text>
        </g>
      )}
    </>
  );
}

const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family"];

/** Hands the drawing to the browser as a file that needs no stylesheet. */
function saveSvg(drawn: SVGSVGElement | null): void {
  if (drawn === null) return;
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const parts = [...drawn.querySelectorAll("*")];
  copy.querySelectorAll<SVGElement>("*").forEach((part, at) => {
    const style = getComputedStyle(parts[at] ?? drawn);
    for (const look of LOOKS) part.style.setProperty(look, style.getPropertyValue(look));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.style.background = token("bg");
  download(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), "bandwidth.svg");
}

function domainOf(values: readonly number[]): readonly [number, number] {
  const known = values.filter((value) => value > 0);
  if (known.length === 0) return [1, 10];
  return [Math.min(...known) / 1.6, Math.max(...known) * 1.6];
}
