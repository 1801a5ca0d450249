"""`stepscope findings`: what to do first, over all lenses."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.lens_commands import add_choice, opened
from stepscope.cli.output import print_problems, print_rows


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("findings", help="what to do first, over all lenses")
    add_choice(parser, several=True)
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Prints the findings of all sources, the costliest first."""
    rows: list[dict[str, Any]] = []
    for path in options.source:
        source = opened(options, path)
        print_problems(source.problems())
        rows += source.findings()
    rows.sort(key=lambda row: -(row["cost_share"] or 0))
    if options.format != "json":
        rows = [{key: row[key] for key in ("cost_share", "title", "advice", "certainty", "rule")} for row in rows]
    print_rows(rows, options.format)
    return 0
