/** A box beside the pointer, kept inside the panel. */

interface TooltipProps {
  readonly x: number;
  readonly y: number;
  readonly title: string;
  readonly rows: readonly { readonly label: string; readonly value: string; readonly colour?: string }[];
  readonly note?: string;
}

export function Tooltip({ x, y, title, rows, note }: TooltipProps) {
  const right = x > window.innerWidth / 2;
  const below = y < window.innerHeight / 2;
  const style = {
    left: right ? "auto" : `${x + 14}px`,
    right: right ? `${window.innerWidth - x + 14}px` : "auto",
    top: below ? `${y + 14}px` : "auto",
    bottom: below ? "auto" : `${window.innerHeight - y + 14}px`,
  };
  return (
    <div class="tooltip" style={style}>
      <strong>{title}</strong>
      {rows.map(({ label, value, colour }) => (
        <div key={label + value} class="tip">
          {colour && <span class="swatch" style={{ background: colour }} />}
          <span class="tip-label">{label}</span>
          <span class="tip-value">{value}</span>
        </div>
      ))}
      {note && <div class="muted">{note}</div>}
    </div>
  );
}
