/** The document of a lens about the chosen record. */

import { useSignalEffect } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { address, type Parameters } from "../lib/api";
import { Resource } from "./resource";
import { useSession } from "./session";

/** Asks a lens's route about the chosen record, compared where a baseline is chosen; again when the record was written anew. */
export function useRecordDocument<T>(route: string, more: Parameters = {}): Resource<T> {
  const session = useSession();
  const resource = useMemo(() => new Resource<T>(session.fetcher), [session]);
  const asked = useRef("");
  useSignalEffect(() => {
    const { chosen } = session.choices.value;
    if (!session.visible.value || chosen === null) return;
    const version = `${session.reloads.value} ${chosen.written_wall_ns}`;
    const url = address(route, { ...session.recordParameters.value, ...more, ...session.state.value.options });
    void resource.load(url, asked.current !== "" && asked.current !== version);
    asked.current = version;
  });
  return resource;
}
