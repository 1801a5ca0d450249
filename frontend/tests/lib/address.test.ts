import { describe, expect, test } from "vitest";
import { Address, readHash, writeHash } from "../../src/lib/address";

describe("hash", () => {
  test("holds the plugin's keys beside those of others", () => {
    const hash = writeHash("#stepscope&p.other.x=1&p.stepscope.old=2", new Map([["run", "a b&c"]]));
    expect(hash).toBe("#stepscope&p.other.x=1&p.stepscope.run=a%20b%26c");
    expect(readHash(hash)).toEqual(new Map([["run", "a b&c"]]));
  });

  test("names the plugin where the address names none", () => {
    expect(writeHash("", new Map())).toBe("#stepscope");
  });

  test("survives percent signs that encode nothing", () => {
    expect(readHash("#stepscope&p.stepscope.search=100%")).toEqual(new Map([["search", "100%"]]));
  });
});

test("an address is replaced, never pushed, and only when it changes", () => {
  const written: string[] = [];
  const location = { hash: "#stepscope" };
  const history = { state: 7, replaceState: (_: unknown, __: string, hash: string) => written.push(hash) };
  const address = new Address({ location, history } as unknown as Window);
  address.write(new Map());
  address.write(new Map([["view", "code"]]));
  expect(written).toEqual(["#stepscope&p.stepscope.view=code"]);
});
