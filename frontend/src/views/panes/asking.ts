/** What a pane asks about the chosen profile. */

import { useSignalEffect } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { address, type Parameters } from "../../lib/api";
import type { PanelState } from "../../lib/state";
import { Resource } from "../../ui/resource";
import { useSession } from "../../ui/session";

/** The document of a shape; asked again when the question changes, or the record was written anew. Null asks nothing. */
export function useShape<T>(shape: string, question: (state: PanelState) => Parameters | null): Resource<T> {
  const session = useSession();
  const resource = useMemo(() => new Resource<T>(session.fetcher), [session]);
  const version = useRef("");
  useSignalEffect(() => {
    const { chosen } = session.choices.value;
    const more = question(session.state.value);
    if (!session.visible.value || chosen === null || more === null) return;
    const now = `${session.reloads.value} ${chosen.written_wall_ns}`;
    const { run, name, record_step } = session.recordParameters.value;
    void resource.load(address("views", { run, name, record_step, shape, ...more }), version.current !== now);
    version.current = now;
  });
  return resource;
}

export const NOTHING_MORE = () => ({});

/** The zoom as a window of time. */
export function windowOf({ zoom }: PanelState): Parameters {
  return zoom === null ? {} : { start_ps: Math.floor(zoom[0]), end_ps: Math.ceil(zoom[1]) };
}
