"""`stepscope compare`: any number of runs side by side."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.arguments import path
from stepscope.cli.check import opened, share
from stepscope.cli.output import print_json, print_problems, print_rows, printable
from stepscope.session.compare_runs import RunsComparison, compare_runs, summary_rows


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("compare", help="compare any number of runs")
    parser.add_argument(
        "source",
        nargs="+",
        type=path,
        metavar="RUN",
        help="runs, log directories, files, or baselines",
    )
    parser.add_argument(
        "--run", action="append", metavar="NAME", help="run or pattern; may be repeated"
    )
    parser.add_argument(
        "--baseline", metavar="NAME", help="run to compare with (default: the fastest)"
    )
    parser.add_argument("--baselines", metavar="DIR", help="folder of named baselines")
    spread = (
        "scatter of repeated runs, such as 2%%; at 0 only the noise of steps counts (default 0)"
    )
    parser.add_argument("--run-spread", type=share, default=0.0, metavar="SHARE", help=spread)
    parser.add_argument("--format", choices=("table", "json", "csv", "markdown"), default="table")
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Prints the runs, and what differs in words."""
    sources = [opened(place, options.run, options.baselines) for place in options.source]
    answer = compare_runs(sources, baseline=options.baseline, run_spread=options.run_spread)
    for source in sources:
        print_problems(source.problems())
    if options.format == "json":
        print_json(answer.to_json())
    elif options.format == "csv":
        print_rows(answer.rows(), "csv")
    elif options.format == "markdown":
        print(_markdown(answer))
    else:
        print_rows(summary_rows(answer), "table")
        print()
        for sentence in answer.sentences():
            print(printable(sentence))
    return 0


def _markdown(answer: RunsComparison) -> str:
    rows = summary_rows(answer)
    columns = [name for name in rows[0] if any(row[name] for row in rows)]
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for row in rows:
        cells = [printable(str(row[name])).replace("|", "\\|") for name in columns]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("")
    lines.extend(f"- {printable(sentence)}" for sentence in answer.sentences())
    return "\n".join(lines)
