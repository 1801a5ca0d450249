import { expect, test } from "vitest";
import { verdictOf } from "../../src/dcn/diagnosis";
import type { CauseDocument, OccurrenceDocument } from "../../src/dcn/document";
import { KINDS, occurrenceLanes } from "../../src/dcn/occurrence_lanes";
import { blockAt } from "../../src/lib/lanes";

const occurrence = (more: Partial<OccurrenceDocument>): OccurrenceDocument => ({
  host: "host0",
  core: 0,
  program: "jit_step(1)",
  rendezvous: "psum.0_0",
  base_ns: "1795988254000000000",
  send_start_ps: "1000",
  send_ps: 10,
  send_done_after_ps: 40,
  send_done_ps: 10,
  recv_after_ps: 60,
  recv_ps: 5,
  recv_done_after_ps: 100,
  recv_done_ps: 20,
  slack_ps: 75,
  stall_ps: 45,
  observed_ps: 120,
  ...more,
});

function drawn(of: readonly OccurrenceDocument[], lane = 0): [string, number, number, number][] {
  const found = occurrenceLanes(of);
  return (found.lanes[lane]?.tracks ?? []).flatMap((track) =>
    track.start.map((_, at): [string, number, number, number] => {
      const { kind, start, end, id } = blockAt(track, at);
      return [KINDS[kind]?.name ?? "", start, end, id];
    }),
  );
}

test("ops stand where they ran, and the slack between the send and the recv-done", () => {
  expect(drawn([occurrence({})])).toEqual([
    ["send", 0, 10, 0],
    ["slack", 10, 40, 0],
    ["send-done", 40, 50, 0],
    ["slack", 50, 60, 0],
    ["recv", 60, 65, 0],
    ["slack", 65, 100, 0],
    ["recv-done", 100, 120, 0],
  ]);
});

test("the ops of other collectives on the core are no slack; those of another core do not matter", () => {
  const other = occurrence({ rendezvous: "psum.1_0", send_start_ps: "1020", recv_done_after_ps: 200, slack_ps: 0 });
  const { drawnSlack, lanes } = occurrenceLanes([occurrence({ slack_ps: 55 }), other, occurrence({ core: 1 })]);
  expect(drawnSlack[0]).toBe(55);
  expect(drawnSlack[2]).toBe(75);
  expect(lanes.map(({ label, tracks }) => [label, tracks.length])).toEqual([
    ["core 0", 2],
    ["core 1", 1],
  ]);
});

test("an op that the profile does not hold is not drawn", () => {
  const kinds = drawn([occurrence({ recv_after_ps: null, recv_ps: null })]).map(([kind]) => kind);
  expect(kinds).not.toContain("recv");
  expect(kinds).toContain("recv-done");
});

test("starts since the epoch, in ps, keep every digit", () => {
  const { base, starts } = occurrenceLanes([
    occurrence({ send_start_ps: "1003" }),
    occurrence({ host: "host1", send_start_ps: "1000" }),
  ]);
  expect(base).toBe(1795988254000000001000n);
  expect(starts).toEqual([3, 0]);
});

const CAUSE: CauseDocument = {
  program: "p",
  rendezvous: "r",
  stall_share: 0.5,
  time_share: 0.1,
  host_gbps: 126,
  capacity_share: 1.26,
  recv_done_per_slack: 0.8,
  verdict: "congestion",
};

test("a verdict is a sentence with its evidence", () => {
  expect(verdictOf(CAUSE, 100)).toContain("126.00 Gbit/s of each host, 126.0% of what the network carries");
  expect(verdictOf({ ...CAUSE, verdict: "bandwidth" }, null)).toContain("80.0% of the slack, which means bandwidth");
  expect(verdictOf({ ...CAUSE, verdict: "hardware", host_gbps: 2 }, 100)).toContain("only 2.000 Gbit/s of 100.00");
  expect(verdictOf({ ...CAUSE, verdict: null }, null)).toBe("It does not stall.");
});
