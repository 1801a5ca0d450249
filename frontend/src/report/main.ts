/** A report: the documents in the page answer the panel, and what needs a server says that there is none. */

import { type KeptDocument, KeptDocuments } from "./kept_documents";

/** The whole panel, in this one file: the page of a report holds no other. */
export { render } from "../main";

const NO_SERVER = "A report has no server to export from: use Copy, or ask the source itself";

/** Makes the documents in an element, gzipped JSON in base 64, answer the panel's questions. */
export async function install(own: Window, holder: HTMLElement): Promise<void> {
  const documents = (await unpacked(holder.textContent ?? "")) as readonly KeptDocument[];
  Object.assign(own, { stepscopeSnapshot: new KeptDocuments(documents) });
  disableExports(own.document);
}

export async function unpacked(text: string): Promise<unknown> {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).json();
}

/** Links to the server's files lead nowhere here. */
export function disableExports(document: Document): void {
  const disable = () => {
    for (const link of document.querySelectorAll<HTMLAnchorElement>("a[href^='export']")) {
      link.removeAttribute("href");
      link.setAttribute("aria-disabled", "true");
      link.title = NO_SERVER;
    }
  };
  new MutationObserver(disable).observe(document.body, { childList: true, subtree: true });
  disable();
}
