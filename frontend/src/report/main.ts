/** A report: the documents in the page answer the panel, and what needs a server says that there is none. */

import { SnapshotDocuments, type SnapshotEntry } from "./snapshot_documents";

/** The whole panel, in this one file: the page of a report holds no other. */
export { render } from "../main";

const NO_EXPORT = "A report has no server to export from: use Copy, or ask the source itself";
const NO_SERVER = "A report holds one answer here. For others, open the source itself";
/** Pickers of which every other choice is a question to the server, by their titles. */
const SERVED_PICKERS = ["Steps", "Network"];

/** Makes the documents in an element, gzipped JSON in base 64, answer the panel's questions. */
export async function install(own: Window, holder: HTMLElement): Promise<void> {
  const documents = (await unpacked(holder.textContent ?? "")) as readonly SnapshotEntry[];
  Object.assign(own, { stepscopeSnapshot: new SnapshotDocuments(documents) });
  disableServed(own.document);
}

export async function unpacked(text: string): Promise<unknown> {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).json();
}

/** Links to the server's files lead nowhere here, and other answers than those in the page are not to be had. */
export function disableServed(document: Document): void {
  const disable = () => {
    for (const link of document.querySelectorAll<HTMLAnchorElement>("a[href^='export']")) {
      link.removeAttribute("href");
      mark(link, NO_EXPORT);
    }
    for (const control of served(document)) {
      if (!control.disabled) mark(control, NO_SERVER);
      control.disabled = true;
    }
  };
  new MutationObserver(disable).observe(document.body, { childList: true, subtree: true });
  disable();
}

function mark(element: HTMLElement, why: string): void {
  element.setAttribute("aria-disabled", "true");
  element.title = why;
}

function served(document: Document): (HTMLSelectElement | HTMLInputElement)[] {
  return [...document.querySelectorAll(".picker")]
    .filter((picker) => SERVED_PICKERS.includes(picker.querySelector("span")?.textContent ?? ""))
    .flatMap((picker) => [...picker.querySelectorAll<HTMLSelectElement | HTMLInputElement>("select, input")]);
}
