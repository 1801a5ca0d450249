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

const VERDICTS = { different: "significant", indistinguishable: "not significant", too_short: "too short" } as const;

/** The verdict on the difference in GlobalRate, in a word or two. */
export function sure(found: SignificanceDocument | undefined): string | null {
  const verdict = found?.figures?.whole_time?.verdict;
  return verdict === undefined ? null : VERDICTS[verdict];
}

/** The difference of each displayed rate from the baseline, with its interval and verdict. */
export function significanceSentences(found: SignificanceDocument, run: string, baseline: string): string[] {
  const sentences = Object.values(found.figures ?? {}).map((figure) => figure?.sentence ?? "");
  return sentences.filter((sentence) => sentence !== "").map((sentence) => `${run} against ${baseline}. ${sentence}`);
}
