import { useState } from "preact/hooks";
import { useSession } from "../ui/session";
import type { AnnotationDocument } from "./document";
import { Axis, type XKind } from "./lines";
import type { Shown } from "./shown";

/** More of a kind than these are shown when asked for. */
const MOST_OF_A_KIND = 5;

/** What disturbed a run, in words; each leads to its place in the chart. */
export function Annotations({ shown, x }: { shown: Shown; x: XKind }) {
  const session = useSession();
  const [all, setAll] = useState(false);
  const { annotations } = shown.series;
  const few = annotations.filter(
    ({ kind }, at) => annotations.slice(0, at).filter((before) => before.kind === kind).length < MOST_OF_A_KIND,
  );
  const more = annotations.length - few.length;
  const axis = new Axis(shown.series, x);
  const show = (annotation: AnnotationDocument) => {
    const zoom = zoomOf(annotation, axis);
    if (zoom !== null) session.update({ zoom });
  };
  return (
    <aside class="drawer wide" aria-label="What disturbed the run">
      <h2>What disturbed {shown.label}</h2>
      <ul class="plain">
        {(all ? annotations : few).map((annotation) => (
          <li key={`${annotation.kind} ${annotation.start_ns} ${annotation.step}`} class="annotation">
            {annotation.start_ns === null ? (
              <strong>{annotation.title}</strong>
            ) : (
              <button type="button" class="link" onClick={() => show(annotation)}>
                {annotation.title}
              </button>
            )}
            {annotation.step !== null && <span class="muted"> at step {annotation.step.toLocaleString()}</span>}
            <div class="muted">{annotation.text}</div>
          </li>
        ))}
      </ul>
      {more > 0 && (
        <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show ${more} more`}
        </button>
      )}
    </aside>
  );
}

/** The stretch around an annotation, wide enough to see what was before and after. */
function zoomOf({ start_ns, end_ns }: AnnotationDocument, axis: Axis): readonly [number, number] | null {
  if (start_ns === null) return null;
  const from = axis.at(start_ns);
  const to = axis.at(end_ns ?? start_ns);
  const points = axis.points().filter((point) => point !== null);
  if (from === null || to === null || points.length < 2) return null;
  const whole = (points.at(-1) ?? 0) - (points[0] ?? 0);
  const margin = Math.max((to - from) * 2, Math.abs(whole) * 0.03);
  return margin > 0 ? [from - margin, to + margin] : null;
}
