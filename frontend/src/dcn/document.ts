/** The document of the dcn lens: tables of collectives by host and core. */

import type { Figure, Problem } from "../lib/documents";

/** One rendezvous of one program. Times are totals over its occurrences, in ps. */
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

export interface DcnDocument {
  readonly hosts: Readonly<Record<string, HostDocument>>;
  readonly all_hosts: { readonly all_cores: readonly DcnRow[] };
  readonly problems?: readonly (Problem | string)[];
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

/** What the tables leave out, summed over cores. */
export function leftOut({ hosts }: DcnDocument): { readonly count: number; readonly what: string }[] {
  const cores = Object.values(hosts).flatMap((host) => Object.values(host.cores));
  return Object.entries(COUNTERS)
    .map(([name, what]) => ({ what, count: cores.reduce((sum, core) => sum + Number(core[name] ?? 0), 0) }))
    .filter(({ count }) => count > 0);
}

/** How each host stands in a rendezvous: its total stall, the largest first. */
export function byHost({ hosts }: DcnDocument, key: string): { readonly host: string; readonly row: DcnRow }[] {
  return Object.entries(hosts)
    .flatMap(([host, { all_cores }]) => all_cores.filter((row) => rowKey(row) === key).map((row) => ({ host, row })))
    .sort((p, q) => (q.row.total_stall_ms ?? 0) - (p.row.total_stall_ms ?? 0));
}

export function rowKey({ program, rendezvous }: DcnRow): string {
  return `${program}|${rendezvous}`;
}
