/** The document of a lens about the chosen record. */

import { useSignalEffect } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { address, type Parameters } from "../lib/api";
import { Resource } from "./resource";
import { useSession } from "./session";

/** Asks a lens's route about the chosen record, compared where a baseline is chosen; again when the record was written anew. Options named in `without` are left to `more`. */
export function useRecordDocument<T>(
  route: string,
  more: Parameters = {},
  without: readonly string[] = [],
): Resource<T> {
  const session = useSession();
  const resource = useMemo(() => new Resource<T>(session.fetcher), [session]);
  const asked = useRef("");
  useSignalEffect(() => {
    const { chosen } = session.choices.value;
    if (!session.visible.value || chosen === null) return;
    const version = `${session.reloads.value} ${chosen.written_wall_ns}`;
    const given = Object.entries(session.state.value.options).filter(([name]) => !without.includes(name));
    const url = address(route, { ...session.recordParameters.value, ...more, ...Object.fromEntries(given) });
    void resource.load(url, asked.current !== "" && asked.current !== version);
    asked.current = version;
  });
  return resource;
}
