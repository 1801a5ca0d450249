/** A length of time as a bar of its parts. */

import { type Part, partCss } from "../lib/parts";
import { percent } from "../lib/units";
import { useSession } from "../ui/session";

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
            style={{ width: `${(100 * value) / Math.max(whole, 1)}%`, background: partCss(part, theme) }}
          />
        );
      })}
    </div>
  );
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
            <span class="swatch" style={{ background: partCss(part, theme) }} /> {part.title}{" "}
            <span class="muted">{percent(values[key], sum)}</span>
          </span>
        ),
      )}
    </div>
  );
}
