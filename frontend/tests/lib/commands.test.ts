import { expect, test } from "vitest";
import { type Command, commandFor, grouped, keyName } from "../../src/lib/commands";

const press = (key: string, held: Partial<Record<"ctrlKey" | "metaKey" | "altKey" | "shiftKey", boolean>> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

test.each([
  [press("?", { shiftKey: true }), "?"],
  [press("Enter", { shiftKey: true }), "Shift+Enter"],
  [press("f", { metaKey: true }), "Mod+f"],
  [press("N"), "n"],
])("key presses have names", (given, name) => {
  expect(keyName(given)).toBe(name);
});

const command = (title: string, group: string, ...keys: string[]): Command => ({ title, group, keys, run: () => {} });

test("a later command takes a key over from an earlier one", () => {
  const commands = [command("shell", "a", "Escape"), command("lens", "b", "Escape", "u")];
  expect(commandFor(commands, press("Escape"))?.title).toBe("lens");
  expect(commandFor(commands, press("x"))).toBeUndefined();
});

test("the sheet has each group once", () => {
  const groups = grouped([command("1", "a"), command("2", "b"), command("3", "a")]);
  expect(groups.map(([group, list]) => [group, list.length])).toEqual([
    ["a", 2],
    ["b", 1],
  ]);
});
