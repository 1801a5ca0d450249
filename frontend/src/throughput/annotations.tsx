import { useSession } from "../ui/session";
import type { AnnotationDocument } from "./document";
import type { Shown } from "./index";
import { Axis, type XKind } from "./lines";

/** What disturbed a run, in words; each leads to its place in the chart. */
export function Annotations({ shown, x }: { shown: Shown; x: XKind }) {
  const session = useSession();
  const { annotations } = shown.series;
  const axis = new Axis(shown.series, x);
  const show = (annotation: AnnotationDocument) => {
    const zoom = zoomOf(annotation, axis);
    if (zoom !== null) session.update({ zoom });
  };
  return (
    <aside class="drawer wide" aria-label="What disturbed the run">
      <h2>What disturbed {shown.label}</h2>
      <ul class="plain">
        {annotations.map((annotation) => (
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
