import { describe, expect, test } from "vitest";
import { formatState, INITIAL_STATE, type PanelState, parseState } from "../../src/lib/state";

const CHANGED: PanelState = {
  ...INITIAL_STATE,
  lens: "views",
  run: "a & b=c/%20'\"\n",
  view: "scope",
  toggled: [3, 17],
  search: "/conv.*/i",
  selected: 12,
  muted: ["run, with comma", "ü"],
  zoom: [10.5, 20],
  options: { min_micros: "100", show_name_regexes: ".*conv.*" },
};

describe("state", () => {
  test("comes back as it was written", () => {
    expect(parseState(formatState(CHANGED))).toEqual({ state: CHANGED, notices: [] });
  });

  test("writes nothing where all is at its default", () => {
    expect(formatState(INITIAL_STATE).size).toBe(0);
  });

  test("falls back with a notice where a value is none of its field", () => {
    const { state, notices } = parseState(
      new Map([
        ["view", "tree"],
        ["depth", "-1"],
        ["run", "a"],
      ]),
    );
    expect(state.view).toBe("op");
    expect(state.depth).toBe(0);
    expect(state.run).toBe("a");
    expect(notices).toHaveLength(2);
    expect(notices[0]).toContain("view=tree");
  });

  test("ignores unknown keys", () => {
    expect(parseState(new Map([["later", "1"]]))).toEqual({ state: INITIAL_STATE, notices: [] });
  });

  test("says when the address is of a newer version", () => {
    expect(parseState(new Map([["v", "99"]])).notices).toHaveLength(1);
  });

  test.each(["5..1", "a..b", "1", "1..2..3"])("refuses the range %s", (zoom) => {
    const { state, notices } = parseState(new Map([["zoom", zoom]]));
    expect(state.zoom).toBeNull();
    expect(notices).toHaveLength(1);
  });
});

test("a pane of the views that is a table of the trace now opens there", () => {
  const { state } = parseState(new Map(Object.entries({ lens: "views", pane: "steps" })));
  expect([state.lens, state.pane]).toEqual(["trace", "steps"]);
  const { state: other } = parseState(new Map(Object.entries({ lens: "dcn", pane: "trace" })));
  expect(other.lens).toBe("dcn");
});
