"""`stepscope findings`: what to do first, over all lenses."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from stepscope.cli.lens_commands import add_selection, opened
from stepscope.cli.output import print_problems, print_rows, printable
from stepscope.findings import document_rank

_MOST_RUNS = 3


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("findings", help="what to do first, over all lenses")
    add_selection(parser, several=True)
    parser.add_argument(
        "--compare", metavar="SOURCE", help="baseline: tell what is new, gone, larger or smaller"
    )
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Prints the findings of all sources, run by run, the largest saving first."""
    found: list[dict[str, Any]] = []
    summaries: list[dict[str, Any]] = []
    baseline = opened(options, options.compare) if options.compare else None
    for path in options.source:
        source = opened(options, path)
        print_problems(source.problems())
        found += source.findings(compare=baseline)
        if options.format == "table":
            summaries += source.summary(compare=baseline)
    found.sort(key=document_rank)
    summaries.sort(key=_most_to_save)
    if options.format == "table":
        print("\n".join(_by_run(summaries, found)) or "No issues found.")
    else:
        print_rows(
            found if options.format == "json" else [_row(one) for one in found], options.format
        )
    return 0


def _most_to_save(summary: dict[str, Any]) -> float:
    return -(summary["saving_share"] or 0.0)


def _by_run(summaries: list[dict[str, Any]], found: list[dict[str, Any]]) -> Iterator[str]:
    """The lines of each run: where its step goes, then its findings and its largest costs; the worst run first."""
    left = list(found)
    for summary in summaries:
        of_run = [finding for finding in left if _first_run(finding) == summary["run"]]
        left = [finding for finding in left if _first_run(finding) != summary["run"]]
        if not of_run and not summary["sentence"]:
            continue
        sentences = [summary["sentence"], summary["difference"]]
        words = " ".join(sentence for sentence in sentences if sentence)
        yield printable(f"{summary['run']}: {words}")
        yield from (_lines(finding) for finding in of_run)
        yield from (
            f"        largest cost: {printable(cost['title'])}, {cost['kind']}"
            for cost in summary["costs"]
        )
    yield from (_lines(finding) for finding in left)


def _first_run(finding: dict[str, Any]) -> str:
    return str(finding["evidence"][0]["run"]) if finding["evidence"] else ""


def _row(finding: dict[str, Any]) -> dict[str, Any]:
    """A finding as cells, with where it was found."""
    places = {place["run"]: None for place in finding["evidence"]}
    columns = (
        "saving_share",
        "saving",
        "cost_share",
        "cost",
        "whole",
        "unit",
        "title",
        "advice",
        "certainty",
        "rule",
    )
    return {"run": ", ".join(places)} | {name: finding[name] for name in columns}


def _lines(finding: dict[str, Any]) -> str:
    """A finding as lines to be read: what and where, why, then what to try."""
    row = _row(finding)
    runs = list(dict.fromkeys(place["run"] for place in finding["evidence"]))
    more = f" and {len(runs) - _MOST_RUNS} more" if len(runs) > _MOST_RUNS else ""
    saving_share = row["saving_share"]
    share = "—" if saving_share is None else f"{saving_share:.1%}"
    state = f"({finding['state']}) " if "state" in finding else ""
    head = f"{share:>6}  {state}{row['title']}  [{', '.join(runs[:_MOST_RUNS])}{more}]"
    lines = [head, f"        {row['advice'].rstrip('.')}. ({row['certainty']}: {row['rule']})"]
    lines += [f"        try: {change}" for change in finding["try"]]
    return "\n".join(printable(line) for line in lines)
