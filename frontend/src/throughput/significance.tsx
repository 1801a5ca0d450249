import { useEffect, useMemo } from "preact/hooks";
import { address } from "../lib/api";
import { Resource } from "../ui/resource";
import type { Session } from "../ui/session";
import type { ComparedDocument, SignificanceDocument, ThroughputDocument } from "./document";
import type { Shown } from "./shown";

/** How sure the difference of a series from the baseline is; undefined while it is not known. */
export type Found = (shown: Shown) => SignificanceDocument | undefined;

/** More runs than these are not compared unasked. */
const MOST_RUNS = 12;

/** Asks how sure the difference of each run from the baseline is; again with each new document. */
export function useSignificance(session: Session, document: ThroughputDocument, shown: readonly Shown[]): Found {
  const { compare, name, options } = session.state.value;
  const present = shown.some(({ series, note }) => note !== "sum" && series.run === compare);
  const others = shown.filter(({ series, note }) => note !== "sum" && series.run !== compare);
  const runs = present ? [...new Set(others.map(({ series }) => series.run))].slice(0, MOST_RUNS).join("\n") : "";
  const resources = useMemo(
    () =>
      new Map(runs === "" ? [] : runs.split("\n").map((run) => [run, new Resource<ComparedDocument>(session.fetcher)])),
    [session, runs],
  );
  // A new document is why to ask again.
  useEffect(() => {
    for (const [run, resource] of resources) {
      void resource.load(address("throughput", { run, compare, name, ...options }), true);
    }
  }, [resources, document, compare, name, options]);
  useEffect(
    () => () => {
      for (const resource of resources.values()) resource.clear();
    },
    [resources],
  );
  return ({ series }) => resources.get(series.run)?.data.value?.significance?.find((one) => one.series === series.name);
}

const SURE = { different: "real", indistinguishable: "within noise", too_short: "too short" } as const;

/** The verdict in a word or two. */
export function sure(found: SignificanceDocument | undefined): string | null {
  return found === undefined ? null : SURE[found.verdict];
}

/** Whether a run differs from the baseline, in a sentence with what it rests on. */
export function significanceSentence(found: SignificanceDocument, run: string, baseline: string, unit: string): string {
  const { difference, standard_error: error } = found;
  if (found.verdict === "too_short" || difference === undefined || error === undefined) {
    return `${run} against ${baseline}: too short to say whether the difference is more than chance.`;
  }
  const rate = (value: number) => Math.abs(value).toLocaleString(undefined, { maximumSignificantDigits: 3 });
  const which = difference < 0 ? "slower" : "faster";
  const [a, b] = [found.a_effective_blocks ?? 0, found.b_effective_blocks ?? 0].map(Math.round);
  const apart = error > 0 ? `${rate(difference / error)} standard errors` : "no spread at all";
  const basis = `${apart}, worth ${a} and ${b} independent stretches of the runs`;
  const what = found.verdict === "different" ? "more than chance" : "no more than rates vary anyway";
  return `${run} trains ${rate(difference)} ± ${rate(error)} ${unit}/s ${which} than ${baseline}: ${what} (${basis}).`;
}
