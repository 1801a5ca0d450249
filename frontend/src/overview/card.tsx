import type { ComponentChildren } from "preact";
import type { Lens } from "../lib/state";
import { useSession } from "../ui/session";
import { titleOf } from "../ui/shell";

interface CardProps {
  readonly title: string;
  readonly lens: Lens;
  readonly note?: string;
  readonly children: ComponentChildren;
}

/** A part of the overview, with the way to the lens that has the rest. */
export function Card({ title, lens, note, children }: CardProps) {
  const session = useSession();
  return (
    <section class="card">
      <div class="card-head">
        <h2>{title}</h2>
        {note && (
          <span class="muted name" title={note}>
            {note}
          </span>
        )}
        <span class="spacer" />
        <button type="button" class="link" onClick={() => session.showLens(lens)}>
          {titleOf(lens)} →
        </button>
      </div>
      {children}
    </section>
  );
}
