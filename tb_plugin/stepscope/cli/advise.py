"""`stepscope advise`: tfprof's four checkers."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.lens_commands import add_selection, opened
from stepscope.cli.output import print_json, print_rows


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("advise", help="run tfprof's four checkers")
    add_selection(parser, several=False)
    parser.add_argument("--compat", choices=("tfprof",), help="reproduce tfprof's own output")
    parser.add_argument("--checkers", help="comma-separated checker names (default: all)")
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Prints what each checker reports."""
    checkers = options.checkers.split(",") if options.checkers else None
    advice = opened(options, options.source[0]).advise(compat=options.compat, checkers=checkers)
    if options.format == "json":
        print_json(advice)
        return 0
    if options.format == "csv":
        rows = []
        for checker, reports in advice.items():
            rows += [{"checker": checker, "report": report} for report in reports]
        print_rows(rows, "csv")
        return 0
    for checker, reports in advice.items():
        if reports:
            print(f"{checker}:", *reports, sep="\n")
    return 0
