import { expect, test } from "vitest";
import { dcnColumns } from "../../src/dcn/columns";
import { type DcnDocument, type DcnRow, heatOf, leftOut, places, rowKey } from "../../src/dcn/document";

const row = (more: Partial<DcnRow> = {}): DcnRow => ({
  program: "jit_step(1)",
  rendezvous: "psum.7_0",
  transfer_type: "ALL_REDUCE",
  send_op: "send",
  recv_op: "recv-done",
  occurrences: 3,
  bytes: 2_097_152,
  group_size: 2,
  slack_ms: 0.600334,
  observed_ms: 0.7,
  stall_ms: 0.085533,
  send_ms: 0.01,
  send_done_ms: 0.02,
  recv_ms: 0.005,
  recv_done_ms: 0.05,
  total_stall_ms: 0.256599,
  required_bandwidth_gbps: 27.9,
  ...more,
});
const host = (stall: number, cores: Record<string, object>) => ({
  cores: Object.fromEntries(Object.entries(cores).map(([id, counters]) => [id, { rows: [row()], ...counters }])),
  all_cores: [row({ total_stall_ms: stall })],
});
const DOCUMENT: DcnDocument = {
  hosts: { slow: host(9, { 0: { unmatched_sends: 2 }, 1: { unmatched_sends: 1 } }), fast: host(1, { 0: {} }) },
  all_hosts: { all_cores: [row()] },
};

test("rows can be looked at everywhere, on a host, and on a core where there are several", () => {
  expect(places(DOCUMENT).map(({ key }) => key)).toEqual(["", "slow", "slow/0", "slow/1", "fast"]);
});

test("what the tables leave out is counted over all cores", () => {
  expect(leftOut(DOCUMENT)).toEqual([{ count: 3, what: "sends without a recv-done inside the profile" }]);
});

test("a heat map has the places and collectives that stall most first", () => {
  const rare = row({ rendezvous: "rare", total_stall_ms: 99 });
  const hosts = places(DOCUMENT).filter(({ key }) => ["slow", "fast"].includes(key));
  const heat = heatOf([row(), rare], hosts.reverse(), 10);
  expect(heat.keys).toEqual([rowKey(rare), rowKey(row())]);
  expect(heat.places.map(({ place, stall }) => [place.key, stall.map((one) => one?.total_stall_ms ?? null)])).toEqual([
    ["slow", [null, 9]],
    ["fast", [null, 1]],
  ]);
  expect(heat.most).toBe(9);
});

const cell = (rows: DcnRow[], key: string) => {
  const [first] = rows;
  if (first === undefined) throw new Error("no row");
  return dcnColumns(rows)
    .find((column) => column.key === key)
    ?.cell(first).text;
};

test("without slack no bandwidth is enough; without a size none can be said", () => {
  expect(cell([row({ slack_ms: 0, required_bandwidth_gbps: null })], "required_bandwidth_gbps")).toBe("∞");
  expect(cell([row({ bytes: null, required_bandwidth_gbps: null })], "required_bandwidth_gbps")).toBe("—");
});

test("the times of an occurrence share one unit", () => {
  const units = dcnColumns([row()]).filter(({ key }) => ["slack_ms", "recv_ms", "send_ms"].includes(key));
  expect(new Set(units.map(({ unit }) => unit)).size).toBe(1);
});
