/** TensorBoard sends no theme: it marks its own body, which the panel watches. */

export type Theme = "light" | "dark";

const DARK_CLASS = "dark-mode";

/** Calls the listener now and at each change, with the theme of TensorBoard, else of the system. Returns how to stop. */
export function followTheme(own: Window, listener: (theme: Theme) => void): () => void {
  const body = parentBody(own);
  return body === null ? followSystem(own, listener) : followClass(body, listener);
}

function parentBody(own: Window): HTMLElement | null {
  try {
    return own.parent === own ? null : own.parent.document.body;
  } catch {
    return null; // Embedded from another origin.
  }
}

function followClass(body: HTMLElement, listener: (theme: Theme) => void): () => void {
  const tell = () => listener(body.classList.contains(DARK_CLASS) ? "dark" : "light");
  const observer = new MutationObserver(tell);
  observer.observe(body, { attributes: true, attributeFilter: ["class"] });
  tell();
  return () => observer.disconnect();
}

function followSystem(own: Window, listener: (theme: Theme) => void): () => void {
  const query = own.matchMedia("(prefers-color-scheme: dark)");
  const tell = () => listener(query.matches ? "dark" : "light");
  query.addEventListener("change", tell);
  tell();
  return () => query.removeEventListener("change", tell);
}
