"""`stepscope history`: a metric over many runs, and where it changed."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.arguments import path
from stepscope.cli.check import figures, share
from stepscope.cli.output import print_json, print_rows, printable
from stepscope.exporting.quantities import quantity, share_words
from stepscope.session.history import history

_LEAST_RUNS = 6


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    text = "show a metric over many runs and where it changed"
    codes = "Exit codes: 0 no loss, 1 the last change is a loss of more than --max-regression, 2 too few runs."
    parser = commands.add_parser("history", help=text, description=f"{text.capitalize()}. {codes}")
    parser.add_argument(
        "source", nargs="+", type=path, metavar="DIR", help="log directories, files, or baselines"
    )
    parser.add_argument(
        "--metric", default="step_time", metavar="NAME", help="as of stepscope check"
    )
    parser.add_argument(
        "--order", choices=("time", "name"), default="time", help="order of the runs (default time)"
    )
    parser.add_argument(
        "--run", action="append", metavar="NAME", help="run or pattern; may be repeated"
    )
    parser.add_argument(
        "--max-regression",
        type=share,
        default=0.03,
        metavar="SHARE",
        help="allowed loss (default 3%%)",
    )
    parser.add_argument("--baselines", metavar="DIR", help="folder of named baselines")
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Prints the runs and the changes."""
    runs = figures(options.source, options.run, options.baselines)
    answer = history(runs, metric=options.metric, order=options.order)
    document = answer.to_json()
    if options.format == "json":
        print_json(document)
    else:
        print_rows(_rows(document, words=options.format == "table"), options.format)
    if options.format == "table":
        for change in document["changes"]:
            print(printable(_sentence(change)))
        if not document["changes"]:
            print("No change of level.")
    if len(answer.points) < _LEAST_RUNS:
        return 2
    return int(answer.newest_is_worse(options.max_regression))


def _rows(document: dict[str, Any], *, words: bool) -> list[dict[str, Any]]:
    changed = {change["run"]: change for change in document["changes"]}
    rows = []
    for point in document["points"]:
        change = changed.get(point["run"])
        row: dict[str, Any] = {"run": point["run"]}
        if words:
            row[document["metric"]] = quantity(point["value"], document["unit"])
            row["change"] = f"{change['difference']:+.1%}" if change else ""
        else:
            row |= {"value": point["value"], "low": point["low"], "high": point["high"]}
            row["change"] = change["difference"] if change else None
        rows.append(row)
    return rows


def _sentence(change: dict[str, Any]) -> str:
    word = "worse" if change["worse"] else "better"
    size = share_words(change["difference"], change["difference_low"], change["difference_high"])
    place = f"{change['run']}: {size} against {change['before']} and before, {word}."
    if change["first_possible"] == change["last_possible"]:
        return place
    return (
        f"{place} The change lies between {change['first_possible']} and {change['last_possible']}."
    )
