import { expect, test } from "vitest";
import {
  type Block,
  density,
  extentOf,
  findBlock,
  hitBlock,
  type Lane,
  layOut,
  nextBlock,
  packed,
  panned,
  showing,
  spanOf,
  visitBlocks,
  within,
  zoomed,
} from "../../src/lib/lanes";
import { absolute, offsetsOf, tickLabels } from "../../src/lib/stamps";

const block = (start: number, end: number, id = start, kind = 0): Block => ({ start, end, kind, id });
const lane = (key: string, blocks: readonly Block[], group = "AIC"): Lane => ({
  key,
  label: key,
  group,
  tracks: packed(blocks.map((one) => [one])),
});

test("blocks that overlap go on tracks of their own, a unit of blocks on one", () => {
  const tracks = packed([[block(0, 4), block(6, 9)], [block(4, 6)], [block(9, 12)]]);
  expect(tracks.map(({ start }) => start)).toEqual([[0, 6, 9], [4]]);
});

test("a block that starts where another ends does not overlap it", () => {
  expect(packed([[block(0, 5)], [block(5, 9)]])).toHaveLength(1);
});

test("only what is in view is visited", () => {
  const [track] = packed([[block(0, 10)], [block(10, 20)], [block(20, 30)], [block(30, 40)]]);
  const seen: number[] = [];
  if (track) visitBlocks(track, [12, 28], 0.1, ({ start }) => seen.push(start));
  expect(seen).toEqual([10, 20]);
});

test("100,000 blocks cost no more visits than there are pixels", () => {
  const at = Array.from({ length: 100_000 }, (_, k) => k * 3);
  const track = { start: at, end: at.map((x) => x + 2), kind: at.map(() => 0), id: at };
  let visits = 0;
  visitBlocks(track, [0, 300_000], 300, () => visits++);
  expect(visits).toBeLessThanOrEqual(1001);
  visits = 0;
  visitBlocks(track, [3000, 3030], 0.03, (_, merged) => {
    visits++;
    expect(merged).toBe(false);
  });
  expect(visits).toBe(11);
});

test("a narrow block does not take in a wide one beside it", () => {
  const [track] = packed([[block(0, 1)], [block(1, 2)], [block(2, 100)]]);
  const seen: [number, number][] = [];
  if (track) visitBlocks(track, [0, 100], 5, ({ start, end }) => seen.push([start, end]));
  expect(seen).toEqual([
    [0, 2],
    [2, 100],
  ]);
});

test("a narrow block is hit from a little beside it, and the gap between blocks is no block", () => {
  const [track] = packed([[block(10, 11)], [block(50, 90)]]);
  if (!track) throw new Error("no track");
  expect([hitBlock(track, 12, 2), hitBlock(track, 30, 2), hitBlock(track, 50, 0), hitBlock(track, 99, 2)]).toEqual([
    0, -1, 1, -1,
  ]);
});

test("zoom keeps the place under the pointer, and ends at one unit and at the whole", () => {
  expect(zoomed([0, 100], 0.5, 25, [0, 100])).toEqual([12.5, 62.5]);
  const near = zoomed([40, 42], 0.01, 41, [0, 100]);
  expect(near[1] - near[0]).toBe(1);
  expect(zoomed([40, 60], 100, 50, [0, 100])).toEqual([0, 100]);
});

test("a view stays within the whole", () => {
  expect(panned([80, 100], 1, [0, 100])).toEqual([80, 100]);
  expect(within([-30, 10], [0, 100])).toEqual([0, 40]);
  expect(showing([0, 10], [4, 6], [0, 100])).toEqual([0, 10]);
  expect(showing([0, 10], [49, 51], [0, 100])).toEqual([45, 55]);
});

test("pinned lanes stand apart, the others below the names of their groups", () => {
  const lanes = [lane("a", [block(0, 1)]), lane("b", [block(0, 1)]), lane("c", [block(0, 1)], "AIV")];
  const { pinned, rows, height } = layOut(lanes, ["b"], 10);
  expect(pinned.map((row) => row.lane?.key)).toEqual(["b"]);
  expect(rows.map((row) => row.lane?.key ?? row.group)).toEqual(["AIC", "a", "AIV", "c"]);
  expect(height).toBe(60);
});

test("arrow keys lead along the lane and to the nearest block of its neighbour", () => {
  const lanes = [lane("a", [block(0, 4, 1), block(6, 9, 2)]), lane("b", []), lane("c", [block(7, 8, 3)])];
  const next = (id: number, key: string) => {
    const found = nextBlock(lanes, id, key);
    return found === null ? null : found.track.id[found.at];
  };
  expect([next(-1, "ArrowRight"), next(1, "ArrowRight"), next(2, "ArrowLeft"), next(2, "ArrowDown")]).toEqual([
    1, 2, 1, 3,
  ]);
  expect([next(2, "ArrowRight"), next(1, "ArrowUp")]).toEqual([null, null]);
  expect(findBlock(lanes, 3)?.lane.key).toBe("c");
});

test("a unit of several blocks reaches from its first to its last", () => {
  const unit = { ...lane("a", []), tracks: packed([[block(0, 4, 1), block(8, 9, 1)], [block(20, 21, 2)]]) };
  const found = findBlock([unit], 1);
  expect(found === null ? null : extentOf(found)).toEqual([0, 9]);
});

test("the map shows how full each part is", () => {
  const lanes = [lane("a", [block(0, 10)]), lane("b", [block(0, 5)])];
  expect(spanOf(lanes)).toEqual([0, 10]);
  expect(density(lanes, [0, 10], 2)).toEqual([1, 0.5]);
});

test("stamps beyond 2^53 keep every digit", () => {
  const { base, offsets } = offsetsOf(["18446744073709551615", "18446744073709551000"]);
  expect(offsets).toEqual([615, 0]);
  expect(absolute(base, 615).replaceAll(/\D/g, "")).toBe("18446744073709551615");
});

test("tick labels have the digits that tell neighbours apart", () => {
  expect(tickLabels([1_000_000, 1_000_020], 1)).toEqual(["1.00000 ms", "1.00002 ms"]);
  expect(tickLabels([0, 500], 1)).toEqual(["0 ns", "500 ns"]);
  expect(tickLabels([0, 5], 0)).toEqual(["0", "5"]);
});
