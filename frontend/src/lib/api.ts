/** The plugin's routes, asked by relative addresses so that any path prefix works. */

import type { ErrorDocument } from "./documents";

export type Parameters = Readonly<Record<string, string | number | readonly (string | number)[] | null | undefined>>;

/** A request that gave no document: what was found, where, and what to do. */
export class RequestError extends Error {
  constructor(
    readonly found: string,
    readonly where: string,
    readonly remedy: string,
    readonly status = 0,
  ) {
    super(found);
    this.name = "RequestError";
  }
}

/** `route?key=value`, without empty values; a list is given as several values. */
export function address(route: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") query.append(key, String(one));
    }
  }
  const text = query.toString();
  return text === "" ? route : `${route}?${text}`;
}

/** A page that was saved with its documents, and has no server: it answers instead. */
export interface Snapshot {
  answer(url: string): { readonly document: unknown } | ErrorDocument;
}

/** The snapshot that the page holds, if it was saved as a report. */
export function snapshot(): Snapshot | undefined {
  return (globalThis as { stepscopeSnapshot?: Snapshot }).stepscopeSnapshot;
}

export type Fetch = (input: string, init: { signal: AbortSignal }) => Promise<Response>;

/**
 * The document of a route.
 *
 * Throws a RequestError where there is none, and lets an abort through as the DOMException that it is.
 */
export async function request<T>(fetcher: Fetch, url: string, signal: AbortSignal): Promise<T> {
  const saved = snapshot()?.answer(url);
  if (saved !== undefined) {
    if ("document" in saved) return saved.document as T;
    throw new RequestError(saved.error.found, saved.error.where || url, saved.error.remedy);
  }
  let response: Response;
  try {
    response = await fetcher(url, { signal });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new RequestError("TensorBoard did not answer", url, "Check that its process still runs, then reload.");
  }
  const body = await response.text();
  if (!response.ok) throw errorOf(response.status, body, url);
  try {
    return JSON.parse(body) as T;
  } catch {
    throw new RequestError("the answer is no JSON", url, "Reload the page; report it if it stays.", response.status);
  }
}

function errorOf(status: number, body: string, url: string): RequestError {
  try {
    const { found, where, remedy } = (JSON.parse(body) as ErrorDocument).error;
    return new RequestError(found, where || url, remedy, status);
  } catch {
    return new RequestError(`the server answered ${status}`, url, "See TensorBoard's log for the cause.", status);
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
