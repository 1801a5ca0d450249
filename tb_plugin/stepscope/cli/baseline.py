"""`stepscope baseline`: named runs to compare with."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.arguments import path
from stepscope.cli.output import print_json, print_problems, print_rows, printable
from stepscope.session.baselines import (
    Baseline,
    add_baseline,
    baseline_named,
    baselines_folder,
    list_baselines,
    remove_baseline,
)
from stepscope.session.opening import open as open_source

_COMMIT_DIGITS = 12


def add_parsers(commands: Any) -> None:
    """Adds the command and its actions."""
    parser = commands.add_parser("baseline", help="keep named runs to compare with")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = actions.add_parser("add", help="copy runs into a baseline")
    add.add_argument("name", metavar="NAME", help="name of the baseline")
    add.add_argument(
        "source", nargs="+", type=path, metavar="RUN", help="runs, log directories or files"
    )
    add.add_argument(
        "--run", action="append", metavar="NAME", help="run or pattern; may be repeated"
    )
    listing = actions.add_parser("list", help="list baselines")
    show = actions.add_parser("show", help="show a baseline's runs and environment")
    show.add_argument("name", metavar="NAME", help="name of the baseline")
    remove = actions.add_parser("remove", help="delete a baseline")
    remove.add_argument("name", metavar="NAME", help="name of the baseline")
    for action in (add, listing, show, remove):
        help_text = "folder of baselines (default: STEPSCOPE_BASELINES or .stepscope/baselines)"
        action.add_argument("--baselines", metavar="DIR", help=help_text)
        action.add_argument("--format", choices=("table", "json"), default="table")
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Carries out the action."""
    folder = baselines_folder(options.baselines)
    if options.action == "list":
        baselines = list_baselines(folder)
        print_rows([_row(baseline, options.format) for baseline in baselines], options.format)
        return 0
    if options.action == "remove":
        remove_baseline(folder, options.name)
        return 0
    if options.action == "show":
        baseline = baseline_named(folder, options.name)
    else:
        sources = [open_source(place, run=options.run) for place in options.source]
        baseline = add_baseline(folder, options.name, sources)
        for source in sources:
            print_problems(source.problems())
    _show(baseline, options.format)
    return 0


def _row(baseline: Baseline, form: str) -> dict[str, Any]:
    if form == "json":
        return baseline.to_json()
    return {
        "name": baseline.name,
        "runs": len(baseline.runs),
        "commit": baseline.commit[:_COMMIT_DIGITS],
    }


def _show(baseline: Baseline, form: str) -> None:
    if form == "json":
        print_json(baseline.to_json())
        return
    print(printable(f"{baseline.name}: {len(baseline.runs)} runs in {baseline.folder}"))
    if baseline.commit:
        print(f"commit: {baseline.commit}")
    for word, text in baseline.environment.items():
        print(printable(f"{word}: {text}"))
    for name in baseline.runs:
        print(printable(f"  {name}"))
