/** One table of commands: it handles the keys and makes the sheet that explains them. */

export interface Command {
  /** As in `/`, `Shift+Enter`, `Mod+f`; Mod is Ctrl, or Command on Apple keyboards. */
  readonly keys: readonly string[];
  readonly title: string;
  readonly group: string;
  run(): void;
}

export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** The name of a key press. Shift counts only where it does not already change the key, as it does in `?`. */
export function keyName(press: KeyPress): string {
  const named = press.key.length > 1;
  const parts = [
    press.ctrlKey || press.metaKey ? "Mod" : "",
    press.altKey ? "Alt" : "",
    press.shiftKey && named ? "Shift" : "",
    named || press.ctrlKey || press.metaKey ? press.key : press.key.toLowerCase(),
  ];
  return parts.filter(Boolean).join("+");
}

/** The command of a key press. The last one declared wins, so that a lens may override the shell. */
export function commandFor(commands: readonly Command[], press: KeyPress): Command | undefined {
  const name = keyName(press);
  return commands.findLast((command) => command.keys.includes(name));
}

/** Commands under their groups, in order of first mention. */
export function grouped(commands: readonly Command[]): [string, Command[]][] {
  const groups = new Map<string, Command[]>();
  for (const command of commands) groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  return [...groups];
}
