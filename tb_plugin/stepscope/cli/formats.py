"""`stepscope formats`: the supported file formats."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.sources import registry


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("formats", help="list the supported file formats")
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Lists the formats."""
    from stepscope.cli.output import print_rows

    rows = [{"format": found.name, "what it is": found.title} for found in registry.formats()]
    print_rows(rows, options.format)
    return 0
