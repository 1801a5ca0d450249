/** A length of time as a bar of its parts. */

import type { Theme } from "../../lib/theme";
import { percent } from "../../lib/units";
import { kindCss } from "../../ui/lanes_scene";
import { useSession } from "../../ui/session";

export interface Part {
  readonly title: string;
  /** Degrees; null for what is left over. */
  readonly hue: number | null;
}

/** What a step's time is divided into, in the order in which it is claimed. */
export const CATEGORIES: Readonly<Record<string, Part>> = {
  kernel: { title: "kernel", hue: 250 },
  memcpy: { title: "memcpy", hue: 195 },
  memset: { title: "memset", hue: 165 },
  communication: { title: "communication", hue: 35 },
  runtime: { title: "runtime", hue: 305 },
  data_loader: { title: "data loader", hue: 80 },
  cpu: { title: "CPU", hue: 140 },
  other: { title: "other", hue: null },
};

export const RANK_PARTS: Readonly<Record<string, Part>> = {
  computation: { title: "computation", hue: 250 },
  overlap: { title: "both", hue: 305 },
  communication: { title: "communication", hue: 35 },
  other: { title: "other", hue: null },
};

interface BarProps {
  readonly parts: Readonly<Record<string, Part>>;
  readonly values: Readonly<Record<string, number>>;
  /** What a full width stands for. */
  readonly whole: number;
}

export function Bar({ parts, values, whole }: BarProps) {
  const theme = useSession().theme.value;
  const sum = Object.values(values).reduce((total, value) => total + value, 0);
  return (
    <div class="part-bar">
      {Object.entries(parts).map(([key, part]) => {
        const value = values[key] ?? 0;
        if (value === 0) return null;
        return (
          <i
            key={key}
            title={`${part.title} ${percent(value, sum)}`}
            style={{ width: `${(100 * value) / Math.max(whole, 1)}%`, background: fill(part, theme) }}
          />
        );
      })}
    </div>
  );
}

function fill({ title, hue }: Part, theme: Theme): string {
  return hue === null ? "var(--block)" : kindCss({ name: title, hue }, theme);
}

/** The parts by name and colour, with what each is of all. */
export function Legend({ parts, values }: Omit<BarProps, "whole">) {
  const theme = useSession().theme.value;
  const sum = Object.values(values).reduce((total, value) => total + value, 0);
  return (
    <div class="part-legend">
      {Object.entries(parts).map(([key, part]) =>
        (values[key] ?? 0) === 0 ? null : (
          <span key={key}>
            <span class="swatch" style={{ background: fill(part, theme) }} /> {part.title}{" "}
            <span class="muted">{percent(values[key], sum)}</span>
          </span>
        ),
      )}
    </div>
  );
}
