/** The document of the dcn lens: tables of collectives by host and core, diagnosis, and single occurrences. */

import type { Figure, Problem } from "../lib/documents";

/** One rendezvous of one program. `*_ms` are means over its occurrences but for `total_stall_ms`; `*_total_ps` are exact sums. */
export interface DcnRow {
  readonly program: string;
  readonly rendezvous: string;
  readonly transfer_type: string;
  readonly send_op: string;
  readonly recv_op: string;
  readonly occurrences: number;
  readonly bytes: Figure;
  readonly group_size: Figure;
  readonly slack_ms: Figure;
  readonly observed_ms: Figure;
  readonly stall_ms: Figure;
  readonly send_ms: Figure;
  readonly send_done_ms: Figure;
  readonly recv_ms: Figure;
  readonly recv_done_ms: Figure;
  readonly total_stall_ms: Figure;
  /** Null where the size is not known or there is no slack at all. */
  readonly required_bandwidth_gbps: Figure;
}

export interface CoreDocument {
  readonly rows: readonly DcnRow[];
  readonly [counter: string]: unknown;
}

export interface HostDocument {
  readonly cores: Readonly<Record<string, CoreDocument>>;
  readonly all_cores: readonly DcnRow[];
}

export type Verdict = "healthy" | "congestion" | "bandwidth" | "no_overlap" | "hardware";

export interface CauseDocument {
  readonly program: string;
  readonly rendezvous: string;
  readonly stall_share: number;
  readonly time_share: Figure;
  readonly host_gbps: Figure;
  readonly capacity_share: Figure;
  readonly recv_done_per_slack: Figure;
  readonly verdict: Verdict | null;
}

export interface DiagnosisDocument {
  readonly network_gbps: Figure;
  readonly cores_per_host: number;
  readonly causes: readonly CauseDocument[];
  readonly neighbourhoods: readonly NeighbourhoodDocument[];
  readonly tiny_collectives: {
    readonly collectives: number;
    readonly of_collectives: number;
    readonly bytes_share: number;
    readonly stall_share: number;
  };
  readonly stragglers: readonly {
    readonly rendezvous: string;
    readonly host: string;
    readonly core: Figure;
    readonly mean_ps: number;
    readonly median_ps: number;
  }[];
}

export interface NeighbourhoodDocument {
  readonly program: string;
  readonly rendezvous: string;
  readonly between_count: number;
  readonly overlapped_ps: number;
  readonly movable_count: number;
  readonly movable_ps: number;
}

/** One occurrence: its send's start counts from the core's base, the other ops from the send's start. */
export interface OccurrenceDocument {
  readonly host: string;
  readonly core: number;
  readonly program: string;
  readonly rendezvous: string;
  readonly base_ns: string;
  readonly send_start_ps: string;
  readonly send_ps: number;
  readonly send_done_after_ps: Figure;
  readonly send_done_ps: Figure;
  readonly recv_after_ps: Figure;
  readonly recv_ps: Figure;
  readonly recv_done_after_ps: Figure;
  readonly recv_done_ps: Figure;
  readonly slack_ps: number;
  readonly stall_ps: number;
  readonly observed_ps: number;
}

/** Of real occurrences or transfers, in ps. */
export interface PercentilesDocument {
  readonly min: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

export interface SpreadDocument {
  readonly program: string;
  readonly rendezvous: string;
  readonly occurrences: number;
  readonly [figure: string]: string | number | PercentilesDocument;
}

/** Transfers of one size, or between two devices. */
export interface TransfersDocument {
  readonly count: number;
  readonly bytes: number;
  readonly latency_ps: PercentilesDocument;
  readonly gbps: Figure;
}

export interface NetworkDocument {
  readonly count: number;
  readonly by_size: readonly (TransfersDocument & { readonly from_bytes: number; readonly below_bytes: number })[];
  readonly by_pair: readonly (TransfersDocument & {
    readonly source_slice: number;
    readonly source_device: number;
    readonly destination_slice: number;
    readonly destination_device: number;
    readonly slow: boolean;
  })[];
}

export interface DcnDocument {
  readonly hosts: Readonly<Record<string, HostDocument>>;
  readonly all_hosts: { readonly all_cores: readonly DcnRow[] };
  readonly problems?: readonly (Problem | string)[];
  readonly diagnosis?: DiagnosisDocument;
  readonly distributions?: readonly SpreadDocument[];
  readonly transfers?: NetworkDocument;
  readonly occurrences_total?: number;
  readonly occurrences?: readonly OccurrenceDocument[];
}

export interface Place {
  /** Empty for all hosts; `host` or `host/core` else. */
  readonly key: string;
  readonly title: string;
  readonly rows: readonly DcnRow[];
}

/** Where rows can be looked at: everywhere, on a host, on one core. */
export function places({ hosts, all_hosts }: DcnDocument): Place[] {
  const found: Place[] = [{ key: "", title: "all hosts", rows: all_hosts.all_cores }];
  for (const [host, { cores, all_cores }] of Object.entries(hosts)) {
    found.push({ key: host, title: host, rows: all_cores });
    if (Object.keys(cores).length < 2) continue;
    for (const [core, { rows }] of Object.entries(cores)) {
      found.push({ key: `${host}/${core}`, title: `${host} core ${core}`, rows });
    }
  }
  return found;
}

const COUNTERS: Readonly<Record<string, string>> = {
  unmatched_sends: "sends without a recv-done inside the profile",
  unmatched_recv_dones: "recv-dones without a send inside the profile",
  dcn_ops_without_hlo: "DCN ops without their HLO",
  dcn_ops_unidentified: "DCN ops whose rendezvous is not known",
};

/** A counter summed over all cores. */
export function counterSum({ hosts }: DcnDocument, counter: string): number {
  const cores = Object.values(hosts).flatMap((host) => Object.values(host.cores));
  return cores.reduce((sum, core) => sum + Number(core[counter] ?? 0), 0);
}

/** What the tables leave out. */
export function leftOut(document: DcnDocument): { readonly count: number; readonly what: string }[] {
  return Object.entries(COUNTERS)
    .map(([name, what]) => ({ what, count: counterSum(document, name) }))
    .filter(({ count }) => count > 0);
}

export interface Heat {
  /** Collectives that stall most, first. */
  readonly keys: readonly string[];
  readonly places: readonly { readonly place: Place; readonly stall: readonly (DcnRow | null)[] }[];
  readonly most: number;
}

/** The total stall of each collective in each place; the places that stall most first. */
export function heatOf(rows: readonly DcnRow[], of: readonly Place[], most: number): Heat {
  const keys = rows
    .toSorted((p, q) => (q.total_stall_ms ?? 0) - (p.total_stall_ms ?? 0))
    .slice(0, most)
    .map(rowKey);
  const found = of.map((place) => {
    const known = new Map(place.rows.map((row) => [rowKey(row), row]));
    return { place, stall: keys.map((key) => known.get(key) ?? null) };
  });
  const total = (stall: readonly (DcnRow | null)[]) => stall.reduce((sum, row) => sum + (row?.total_stall_ms ?? 0), 0);
  const largest = found.reduce(
    (top, { stall }) => stall.reduce((sum, row) => Math.max(sum, row?.total_stall_ms ?? 0), top),
    0,
  );
  return { keys, places: found.toSorted((p, q) => total(q.stall) - total(p.stall)).slice(0, most), most: largest };
}

export function rowKey({ program, rendezvous }: { readonly program: string; readonly rendezvous: string }): string {
  return `${program}|${rendezvous}`;
}
