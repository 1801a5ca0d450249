/** A document that is asked for again and again: the last answer stays until the next one is there. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Fetch, isAbort, RequestError, request } from "../lib/api";

/** A skeleton before this would only flicker. */
const SLOW_AFTER_MS = 150;

export class Resource<T> {
  readonly data: Signal<T | null> = signal(null);
  readonly error: Signal<RequestError | null> = signal(null);
  readonly loading: Signal<boolean> = signal(false);
  /** Loading for so long that it should be said. */
  readonly slow: Signal<boolean> = signal(false);
  readonly first: ReadonlySignal<boolean> = computed(() => this.data.value === null && this.error.value === null);
  private asked = "";
  private controller: AbortController | null = null;

  constructor(private readonly fetcher: Fetch) {}

  /** Asks for an address, and gives up on what was asked before. The same address is asked again only with `again`. */
  async load(url: string, again = false): Promise<void> {
    const same = url === this.asked;
    if (same && !again) return;
    this.asked = url;
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    const timer = setTimeout(() => {
      if (this.controller === controller) this.slow.value = true;
    }, SLOW_AFTER_MS);
    this.loading.value = true;
    try {
      this.settle(controller, await request<T>(this.fetcher, url, controller.signal), null);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof RequestError)) throw error;
      // What was there of the same question is still better than nothing.
      this.settle(controller, same ? this.data.value : null, error);
    } finally {
      clearTimeout(timer);
    }
  }

  reload(): void {
    if (this.asked !== "") void this.load(this.asked, true);
  }

  /** Gives up on what is asked, and forgets the answer. */
  clear(): void {
    this.controller?.abort();
    this.asked = "";
    batch(() => {
      this.data.value = null;
      this.error.value = null;
      this.loading.value = false;
      this.slow.value = false;
    });
  }

  private settle(controller: AbortController, data: T | null, error: RequestError | null): void {
    if (this.controller !== controller) return;
    batch(() => {
      this.data.value = data;
      this.error.value = error;
      this.loading.value = false;
      this.slow.value = false;
    });
  }
}
