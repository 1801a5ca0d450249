/** Rows of a tree that stays on the server: pages of what is in sight, asked for as the user scrolls. */

import { batch, type Signal, signal } from "@preact/signals";
import { address, type Fetch, isAbort, type Parameters, RequestError, request } from "../lib/api";
import type { RowsDocument, ViewRow } from "../lib/documents";

const PAGE = 200;
/** Scrolling through a large tree keeps no more of it than this. */
const MOST_PAGES = 100;
const SLOW_AFTER_MS = 150;

export class PagedRows {
  /** The last answer: columns, counts, matches. */
  readonly head: Signal<RowsDocument | null> = signal(null);
  readonly error: Signal<RequestError | null> = signal(null);
  readonly slow: Signal<boolean> = signal(false);
  /** Rises whenever rows arrive. */
  readonly version: Signal<number> = signal(0);
  private parameters: Parameters | null = null;
  private asked = "";
  /** Whether the pages still belong to the former question; they stay in sight until the first new page is there. */
  private stale = false;
  private pages = new Map<number, readonly ViewRow[]>();
  private readonly pending = new Map<number, AbortController>();
  private wanted: [number, number] = [0, 1];

  constructor(private readonly fetcher: Fetch) {}

  /** Asks another question; `again` asks the same one, as after new data. */
  show(parameters: Parameters, again = false): void {
    const asked = JSON.stringify(parameters);
    if (asked === this.asked && !again) return;
    this.asked = asked;
    this.parameters = parameters;
    this.stale = true;
    this.abort(() => true);
    this.fill();
  }

  /** Says which rows are in sight. */
  need(first: number, stop: number): void {
    this.wanted = [first, stop];
    const [from, to] = this.wantedPages();
    this.abort((page) => page < from || page > to);
    this.fill();
    if (this.pending.size === 0) this.slow.value = false;
  }

  row(index: number): ViewRow | undefined {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Where a row stands, -1 where it is not among the loaded ones. */
  indexOf(id: number): number {
    for (const [page, rows] of this.pages) {
      const at = rows.findIndex((row) => row.id === id);
      if (at >= 0) return page * PAGE + at;
    }
    return -1;
  }

  close(): void {
    this.abort(() => true);
  }

  private wantedPages(): [number, number] {
    const [first, stop] = this.wanted;
    return [Math.floor(first / PAGE), Math.floor(Math.max(stop - 1, first) / PAGE)];
  }

  private abort(which: (page: number) => boolean): void {
    for (const [page, controller] of this.pending) {
      if (!which(page)) continue;
      controller.abort();
      this.pending.delete(page);
    }
  }

  private fill(): void {
    if (this.parameters === null) return;
    const [from, to] = this.wantedPages();
    for (let page = from; page <= to; page++) {
      if (!this.pending.has(page) && (this.stale || !this.pages.has(page))) void this.load(page, this.parameters);
    }
  }

  private async load(page: number, parameters: Parameters): Promise<void> {
    const controller = new AbortController();
    this.pending.set(page, controller);
    const timer = setTimeout(() => {
      if (this.pending.get(page) === controller) this.slow.value = true;
    }, SLOW_AFTER_MS);
    try {
      const url = address("views", { ...parameters, shape: "rows", offset: page * PAGE, limit: PAGE });
      const document = await request<RowsDocument>(this.fetcher, url, controller.signal);
      if (this.pending.get(page) === controller) this.accept(page, document);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof RequestError)) throw error;
      if (this.pending.get(page) === controller) this.fail(page, error);
    } finally {
      clearTimeout(timer);
    }
  }

  private accept(page: number, document: RowsDocument): void {
    this.pending.delete(page);
    if (this.stale) this.pages = new Map();
    this.stale = false;
    this.pages.delete(page);
    this.pages.set(page, document.rows);
    const [oldest] = this.pages.keys();
    if (this.pages.size > MOST_PAGES && oldest !== undefined) this.pages.delete(oldest);
    batch(() => {
      this.head.value = document;
      this.error.value = null;
      this.slow.value = this.pending.size > 0 && this.slow.value;
      this.version.value++;
    });
  }

  private fail(page: number, error: RequestError): void {
    this.pending.delete(page);
    batch(() => {
      this.error.value = error;
      this.slow.value = false;
    });
  }
}
