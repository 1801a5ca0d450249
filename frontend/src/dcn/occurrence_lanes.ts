/** Occurrences as lanes: the ops of each, and the slack between them as the definition draws it. */

import { groupBy } from "../lib/grouping";
import { type Block, type Lane, packed } from "../lib/lanes";
import { offsetsOf } from "../lib/stamps";
import type { Kind } from "../ui/lanes_scene";
import type { OccurrenceDocument } from "./document";

export const KINDS: readonly Kind[] = [
  { name: "send", hue: 250 },
  { name: "send-done", hue: 200 },
  { name: "recv", hue: 320 },
  { name: "recv-done", hue: 40 },
  { name: "slack", hue: 150, striped: true },
];
const SLACK = 4;

export interface OccurrenceLanes {
  readonly lanes: readonly Lane[];
  /** The moment that times count from, in ps. */
  readonly base: bigint;
  /** When each occurrence's send starts. */
  readonly starts: readonly number[];
  /** How much of each occurrence's slack is drawn. */
  readonly drawnSlack: readonly number[];
}

/** The ids of the blocks are the indices of the occurrences. */
export function occurrenceLanes(found: readonly OccurrenceDocument[]): OccurrenceLanes {
  const { base, offsets } = offsetsOf(
    found.map(({ base_ns, send_start_ps }) => String(BigInt(base_ns) * 1000n + BigInt(send_start_ps))),
  );
  const drawnSlack = found.map(() => 0);
  const cores = groupBy(found.keys(), (id) => `${found[id]?.host} core ${found[id]?.core}`);
  const several = new Set(found.map(({ host }) => host)).size > 1;
  const lanes = [...cores].map(([key, ids]) => {
    const ops = ids.map((id) => opsOf(found[id], offsets[id] ?? 0, id));
    const busy = ops.flat().sort((p, q) => p.start - q.start);
    const units = ops.map((own, at) => {
      const slack = slackBetween(own, busy);
      drawnSlack[ids[at] ?? 0] = slack.reduce((sum, { start, end }) => sum + end - start, 0);
      return [...own, ...slack];
    });
    const host = found[ids[0] ?? 0]?.host ?? "";
    return { key, label: `core ${found[ids[0] ?? 0]?.core}`, group: several ? host : "", tracks: packed(units) };
  });
  return { lanes, base, starts: offsets, drawnSlack };
}

function opsOf(one: OccurrenceDocument | undefined, start: number, id: number): Block[] {
  if (one === undefined) return [];
  const ops: [number | null, number | null][] = [
    [0, one.send_ps],
    [one.send_done_after_ps, one.send_done_ps],
    [one.recv_after_ps, one.recv_ps],
    [one.recv_done_after_ps, one.recv_done_ps],
  ];
  return ops.flatMap(([after, length], kind) =>
    after === null || length === null ? [] : [{ start: start + after, end: start + after + length, kind, id }],
  );
}

/** From the end of the send to the start of the recv-done, without the DCN ops of the core. `busy` is by start. */
export function slackBetween(own: readonly Block[], busy: readonly Block[]): Block[] {
  const [send, done] = [own.find(({ kind }) => kind === 0), own.find(({ kind }) => kind === 3)];
  if (send === undefined || done === undefined) return [];
  const pieces: Block[] = [];
  let from = send.end;
  const add = (to: number) => {
    if (to > from) pieces.push({ start: from, end: to, kind: SLACK, id: send.id });
  };
  for (const { start, end } of busy) {
    if (start >= done.start) break;
    if (end <= from) continue;
    add(start);
    from = Math.max(from, end);
  }
  add(done.start);
  return pieces;
}
