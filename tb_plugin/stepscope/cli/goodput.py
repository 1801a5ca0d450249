"""`stepscope goodput`: where the wall time of a job went, over all its restarts."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.arguments import path
from stepscope.cli.output import print_json, print_rows, say
from stepscope.lenses.throughput.goodput import goodput
from stepscope.model.throughput import Throughput
from stepscope.session.opening import open as open_source

_NS_PER_S = 1e9


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    text = "show where the wall time of a job went, over all its restarts"
    parser = commands.add_parser("goodput", help=text, description=f"{text.capitalize()}.")
    parser.add_argument(
        "source", nargs="+", type=path, metavar="SOURCE", help="log directories or files of the job"
    )
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Prints the parts of each job."""
    records: list[Throughput] = []
    for where in options.source:
        source = open_source(where)
        selected = source.readable(source.select_records(Throughput.KIND))
        records += [record for record in selected if isinstance(record, Throughput)]
        for problem in source.problems():
            say(str(problem))

    documents = goodput(records)
    if options.format == "json":
        print_json(documents)
        return 0
    rows: list[dict[str, Any]] = []
    for document in documents:
        rows += _rows(document)
        for name in document["unplaced"]:
            say(f"Series has no wall-clock times: {name}. Log it with stepscope.Writer")
    print_rows(rows, options.format)
    return 0


def _rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for part, time_ns in document["parts_ns"].items():
        if not time_ns:
            continue
        share = time_ns / document["wall_ns"]
        rows.append(
            {
                "job": document["job"],
                "part": part,
                "seconds": time_ns / _NS_PER_S,
                "share": f"{share:.1%}",
            }
        )
    return rows
