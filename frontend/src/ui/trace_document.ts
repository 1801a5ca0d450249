/** What a pane asks about the chosen profile. */

import { address, type Parameters } from "../lib/api";
import type { PanelState } from "../lib/state";
import { useDocument } from "./documents";
import type { Resource } from "./resource";

/** The document of a shape; asked again when the question changes, or the record was written anew. Null asks nothing. */
export function useShape<T>(
  shape: string,
  question: (state: PanelState) => Parameters | null = () => ({}),
): Resource<T> {
  return useDocument<T>(({ state, recordParameters }) => {
    const { run, name, record_step } = recordParameters.value;
    const more = question(state.value);
    return more === null ? null : address("views", { run, name, record_step, shape, ...more });
  });
}
