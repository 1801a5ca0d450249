/** The panel's part of TensorBoard's address: `#stepscope&p.stepscope.<key>=<value>`. */

const PLUGIN = "stepscope";
const PREFIX = `p.${PLUGIN}.`;

/** The plugin's keys and values in an address's hash. */
export function readHash(hash: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const cut = part.indexOf("=");
    const key = decode(cut < 0 ? part : part.slice(0, cut));
    if (cut >= 0 && key.startsWith(PREFIX)) values.set(key.slice(PREFIX.length), decode(part.slice(cut + 1)));
  }
  return values;
}

/** The hash with the plugin's keys replaced and everything else, such as other plugins' keys, as it was. */
export function writeHash(hash: string, values: ReadonlyMap<string, string>): string {
  const others = hash
    .replace(/^#/, "")
    .split("&")
    .filter((part) => part !== "" && !decode(part).startsWith(PREFIX));
  if (others[0] === undefined || others[0].includes("=")) others.unshift(PLUGIN);
  const own = [...values].map(([key, value]) => `${PREFIX}${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
  return `#${[...others, ...own].join("&")}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The window whose address is the user's: TensorBoard's, or our own where the panel stands alone. */
export function addressWindow(own: Window): Window {
  try {
    void own.parent.location.hash;
    return own.parent;
  } catch {
    return own; // Embedded from another origin: the parent's address is out of reach.
  }
}

/** Reads, writes and follows the plugin's part of the address. */
export class Address {
  constructor(private readonly target: Window) {}

  read(): Map<string, string> {
    return readHash(this.target.location.hash);
  }

  /** Replaces without a history entry: TensorBoard keeps the frame alive only this way. */
  write(values: ReadonlyMap<string, string>): void {
    const { history, location } = this.target;
    const next = writeHash(location.hash, values);
    if (next !== location.hash) history.replaceState(history.state, "", next);
  }

  follow(listener: () => void): () => void {
    this.target.addEventListener("hashchange", listener);
    return () => this.target.removeEventListener("hashchange", listener);
  }
}
