"""`stepscope findings`: what to do first, over all lenses."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.lens_commands import add_selection, opened
from stepscope.cli.output import print_problems, print_rows, printable
from stepscope.findings import document_rank

_MOST_RUNS = 3


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("findings", help="what to do first, over all lenses")
    add_selection(parser, several=True)
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Prints the findings of all sources, the costliest first."""
    found: list[dict[str, Any]] = []
    for path in options.source:
        source = opened(options, path)
        print_problems(source.problems())
        found += source.findings()
    found.sort(key=document_rank)
    if options.format == "table":
        print("\n".join(_lines(one) for one in found) or "(nothing)")
    else:
        print_rows(found if options.format == "json" else [_row(one) for one in found], options.format)
    return 0


def _row(finding: dict[str, Any]) -> dict[str, Any]:
    """A finding as cells, with where it was found."""
    places = {place["run"]: None for place in finding["evidence"]}
    columns = ("saving_share", "saving", "cost_share", "cost", "whole", "unit", "title", "advice", "certainty", "rule")
    return {"run": ", ".join(places)} | {name: finding[name] for name in columns}


def _lines(finding: dict[str, Any]) -> str:
    """A finding as lines to be read: what and where, why, then what to try."""
    row = _row(finding)
    runs = list(dict.fromkeys(place["run"] for place in finding["evidence"]))
    more = f" and {len(runs) - _MOST_RUNS} more" if len(runs) > _MOST_RUNS else ""
    known = [row[name] for name in ("saving_share", "cost_share") if row[name] is not None]
    share = f"{known[0]:.1%}" if known else "—"
    head = f"{share:>6}  {row['title']}  [{', '.join(runs[:_MOST_RUNS])}{more}]"
    lines = [head, f"        {row['advice'].rstrip('.')}. ({row['certainty']}: {row['rule']})"]
    lines += [f"        try: {change}" for change in finding["try"]]
    return "\n".join(printable(line) for line in lines)
