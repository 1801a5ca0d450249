import { useMemo, useState } from "preact/hooks";
import { css, lineRgb, lineSlots } from "../lib/colour";
import { type Domain, linearTicks } from "../lib/plot";
import { format, scaleFor } from "../lib/units";
import { Chart, type Line } from "../ui/chart";
import type { Resource } from "../ui/resource";
import { useSession } from "../ui/session";

export interface MemoryDocument {
  readonly series: readonly {
    readonly device: string;
    readonly allocator: string;
    readonly time_ps: readonly number[];
    readonly allocated_bytes: readonly number[];
    readonly reserved_bytes: readonly (number | null)[];
    readonly peak_bytes: number;
  }[];
}

const short = (value: number) => value.toLocaleString(undefined, { maximumSignificantDigits: 4 });

/** What each allocator held over time, and, dashed, what it had reserved. */
export function MemoryPane({ memory }: { memory: Resource<MemoryDocument> }) {
  const session = useSession();
  const theme = session.theme.value;
  const [zoom, setZoom] = useState<Domain | null>(null);
  const series = memory.data.value?.series ?? [];
  const peak = Math.max(0, ...series.map(({ peak_bytes }) => peak_bytes));
  const last = Math.max(0, ...series.map(({ time_ps }) => (time_ps.at(-1) ?? 0) - (time_ps[0] ?? 0)));
  const [size, time] = [scaleFor("bytes", peak, 1), scaleFor("ps", last, 1)];
  const lines = useMemo(() => {
    const names = series.map(({ device, allocator }) => [device, allocator].filter(Boolean).join(" · ") || "memory");
    const slots = lineSlots(names);
    const inUnit = (bytes: number | null) => (bytes === null ? null : bytes / size.divisor);
    return series.flatMap(({ time_ps, allocated_bytes, reserved_bytes }, at): Line[] => {
      const name = names[at] ?? "";
      const start = time_ps[0] ?? 0;
      const common = {
        x: time_ps.map((ps) => (ps - start) / time.divisor),
        colour: css(lineRgb(slots.get(name) ?? 0, theme)),
      };
      const reserved = { ...common, label: `${name} reserved`, y: reserved_bytes.map(inUnit), dashed: true };
      const allocated = { ...common, label: `${name} allocated`, y: allocated_bytes.map(inUnit) };
      return reserved_bytes.some((bytes) => bytes) ? [allocated, reserved] : [allocated];
    });
  }, [series, theme, size.divisor, time.divisor]);
  if (lines.length === 0) return null;
  return (
    <div class="chart-area low">
      <Chart
        lines={lines}
        spans={[]}
        theme={theme}
        label={`Memory over time; at most ${format("bytes", peak)}`}
        log={false}
        ticksX={linearTicks}
        formatX={(value) => `${short(value)} ${time.unit}`}
        formatY={(value) => `${short(value)} ${size.unit}`}
        zoom={zoom}
        onZoom={setZoom}
      />
    </div>
  );
}
