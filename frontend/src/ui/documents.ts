/** Documents that a widget shows: asked for as the state changes, and given up when the widget goes. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { address, type Parameters } from "../lib/api";
import { recordsOf } from "../lib/selection";
import type { Lens } from "../lib/state";
import { Resource } from "./resource";
import { type Session, useSession } from "./session";

/** Changes when the shown record was written anew or all is read again; null while there is none. */
export function recordVersion(session: Session): string | null {
  const { chosen } = session.choices.value;
  return chosen === null ? null : `${session.reloads.value} ${chosen.written_wall_ns}`;
}

/** Changes when a record of a lens was written anew or all is read again; null while the index is not there. */
export function lensVersion(session: Session, lens: Lens): string | null {
  const index = session.index.data.value;
  if (index === null) return null;
  const written = recordsOf(index, lens).map((record) => record.written_wall_ns);
  return `${session.reloads.value} ${written.join(" ")}`;
}

/** The answer at the address that the session gives; asked again with each version. Null, of either, asks nothing. */
export function useDocument<T>(
  question: (session: Session) => string | null,
  versionOf: (session: Session) => string | null = recordVersion,
): Resource<T> {
  const session = useSession();
  const resource = useMemo(() => new Resource<T>(session.fetcher), [session]);
  const asked = useRef("");
  useSignalEffect(() => {
    if (!session.visible.value) return;
    const version = versionOf(session);
    const url = version === null ? null : question(session);
    if (url === null) return resource.clear();
    void resource.load(url, version !== asked.current);
    asked.current = version ?? "";
  });
  useEffect(() => () => resource.clear(), [resource]);
  return resource;
}

/** Asks a lens's route about the shown record, compared where a baseline is chosen. Options named in `without` are left to `more`. */
export function useRecordDocument<T>(
  route: string,
  more: Parameters = {},
  without: readonly string[] = [],
): Resource<T> {
  return useDocument(({ state, recordParameters }) => {
    const given = Object.entries(state.value.options).filter(([name]) => !without.includes(name));
    return address(route, { ...recordParameters.value, ...more, ...Object.fromEntries(given) });
  });
}
