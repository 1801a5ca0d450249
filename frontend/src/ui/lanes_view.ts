/** Which part of a timeline is in view. Kept here while it moves, and told to the owner once it rests. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Lane, spanOf, type View, within } from "../lib/lanes";

const REST_MS = 250;
const MARGIN = 0.01;

export interface ViewControl {
  readonly view: View;
  readonly full: View;
  readonly setView: (view: View) => void;
}

export function useView(lanes: readonly Lane[], zoom: View | null, onZoom: (zoom: View | null) => void): ViewControl {
  const full = useMemo(() => withMargin(spanOf(lanes)), [lanes]);
  const [chosen, choose] = useState<View | null>(zoom);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const view = useMemo(() => (chosen === null ? full : within(chosen, full)), [chosen, full]);
  const setView = (next: View) => {
    const whole = next[0] <= full[0] && next[1] >= full[1];
    choose(whole ? null : next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onZoom(whole ? null : next), REST_MS);
  };
  return { view, full, setView };
}

function withMargin([low, high]: View): View {
  const margin = (high - low) * MARGIN;
  return [low - margin, high + margin];
}
