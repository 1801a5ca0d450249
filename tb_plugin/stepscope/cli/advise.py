"""`stepscope advise`: tfprof's four checkers."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.lens_commands import add_selection, opened
from stepscope.cli.output import print_json, print_rows


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("advise", help="tfprof's four checkers")
    add_selection(parser, several=False)
    parser.add_argument("--compat", choices=("tfprof",), help="tfprof's own words and figures")
    parser.add_argument("--checkers", help="names with commas (default: all)")
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Prints what each checker reports."""
    checkers = options.checkers.split(",") if options.checkers else None
    advice = opened(options, options.source[0]).advise(compat=options.compat, checkers=checkers)
    if options.format == "json":
        print_json(advice)
        return 0
    if options.format == "csv":
        rows = [{"checker": checker, "report": report} for checker, found in advice.items() for report in found]
        print_rows(rows, "csv")
        return 0
    for checker, found in advice.items():
        if found:
            print(f"{checker}:", *found, sep="\n")
    return 0
