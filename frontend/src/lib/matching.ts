/** Search as the server has it: text is found anywhere in any case; `/regex/` and `/regex/i` as written. */

export type Matcher = (text: string) => boolean;

/** Null for an empty search, and for a regex that is not valid here. */
export function matcher(search: string): Matcher | null {
  if (search === "") return null;
  const regex = /^\/(.+)\/(i?)$/s.exec(search);
  if (regex?.[1] === undefined) {
    const wanted = search.toLowerCase();
    return (text) => text.toLowerCase().includes(wanted);
  }
  try {
    const compiled = new RegExp(regex[1], regex[2]);
    return (text) => compiled.test(text);
  } catch {
    return null;
  }
}
