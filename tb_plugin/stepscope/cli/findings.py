"""`stepscope findings`: what to do first, over all lenses."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.lens_commands import add_selection, opened
from stepscope.cli.output import print_problems, print_rows, printable

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
    found.sort(key=lambda one: -1.0 if one["cost_share"] is None else one["cost_share"], reverse=True)
    if options.format == "table":
        print("\n".join(_lines(one) for one in found) or "(nothing)")
    else:
        print_rows(found if options.format == "json" else [_row(one) for one in found], options.format)
    return 0


def _row(finding: dict[str, Any]) -> dict[str, Any]:
    """A finding as cells, with where it was found."""
    places = {place["run"]: None for place in finding["evidence"]}
    columns = ("cost_share", "title", "advice", "certainty", "rule", "cost", "unit")
    return {"run": ", ".join(places)} | {name: finding[name] for name in columns}


def _lines(finding: dict[str, Any]) -> str:
    """A finding as two lines to be read: what and where, then what to do."""
    row = _row(finding)
    runs = list(dict.fromkeys(place["run"] for place in finding["evidence"]))
    more = f" and {len(runs) - _MOST_RUNS} more" if len(runs) > _MOST_RUNS else ""
    share = "—" if row["cost_share"] is None else f"{row['cost_share']:.1%}"
    head = f"{share:>6}  {row['title']}  [{', '.join(runs[:_MOST_RUNS])}{more}]"
    return f"{printable(head)}\n        {printable(row['advice']).rstrip('.')}. ({row['certainty']}: {row['rule']})"
