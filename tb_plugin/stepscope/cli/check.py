"""`stepscope check`: the gate for continuous integration."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from stepscope.cli.arguments import path
from stepscope.cli.output import print_json, print_problems, printable, say
from stepscope.errors import OptionError, StepscopeError
from stepscope.exporting.check_text import check_junit, check_markdown, check_text
from stepscope.session.baselines import baselines_folder, open_baseline
from stepscope.session.check import CANNOT_TELL, EXIT_CODES, Check, check
from stepscope.session.opening import open as open_source
from stepscope.session.run_figures import RunFigures, figures_of
from stepscope.session.source import Source
from stepscope.statistics import ASSUMED_SPREAD

GIT_BISECT_SKIP = 125
"""What `git bisect run` takes as: this commit cannot be tested."""


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    text = "fail when runs are worse than their baseline"
    codes = "Exit codes: 0 pass, 1 regression, 2 cannot tell, an unreadable source or wrong usage."
    parser = commands.add_parser("check", help=text, description=f"{text.capitalize()}. {codes}")
    parser.add_argument(
        "new",
        nargs="+",
        type=path,
        metavar="NEW",
        help="run, log directory or file; may be several",
    )
    parser.add_argument(
        "--against",
        nargs="+",
        required=True,
        type=path,
        metavar="BASE",
        help="runs, log directories, files, or names of baselines",
    )
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="step_time (default), rate, peak_memory, exposed_communication, goodput, phase:NAME, op:PATH",
    )
    parser.add_argument(
        "--max-regression",
        type=share,
        default=0.03,
        metavar="SHARE",
        help="allowed loss (default 3%%)",
    )
    parser.add_argument(
        "--alpha", type=share, default=0.01, help="probability of a false alarm (default 0.01)"
    )
    spread = (
        f"scatter of repeated runs where too few measure it (default {ASSUMED_SPREAD:.0%})".replace(
            "%", "%%"
        )
    )
    parser.add_argument(
        "--run-spread", type=share, default=ASSUMED_SPREAD, metavar="SHARE", help=spread
    )
    parser.add_argument(
        "--run", action="append", metavar="NAME", help="run or pattern among the new ones"
    )
    parser.add_argument(
        "--against-run", action="append", metavar="NAME", help="run or pattern among the baseline"
    )
    parser.add_argument("--baselines", metavar="DIR", help="folder of named baselines")
    parser.add_argument(
        "--bisect", action="store_true", help="exit with 125 in place of 2: git bisect skips"
    )
    parser.add_argument("--report", metavar="URL", help="address that the Markdown links to")
    parser.add_argument("--format", choices=("text", "json", "markdown", "junit"), default="text")
    parser.set_defaults(run_command=run)


def share(text: str) -> float:
    """A share such as 3% or 0.03."""
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a share such as 3% or 0.03: {text!r}") from None
    if not 0.0 <= value < 1.0:
        raise argparse.ArgumentTypeError(f"must be at least 0 and below 1: {text!r}")
    return value


def run(options: argparse.Namespace) -> int:
    """Prints the verdict; its exit code is the verdict's."""
    try:
        code = _checked(options)
    except StepscopeError as error:
        # Exit code 1 would call it a regression.
        say(str(error))
        code = EXIT_CODES[CANNOT_TELL]
    return GIT_BISECT_SKIP if options.bisect and code == EXIT_CODES[CANNOT_TELL] else code


def _checked(options: argparse.Namespace) -> int:
    if not options.alpha:
        raise OptionError("alpha must be above 0: 0", remedy="Give a probability such as 0.01")
    candidates = figures(options.new, options.run, options.baselines)
    baselines = figures(options.against, options.against_run, options.baselines)
    verdict = check(
        candidates,
        baselines,
        metrics=options.metric or ["step_time"],
        max_regression=options.max_regression,
        alpha=options.alpha,
        run_spread=options.run_spread,
    )
    _print(verdict, options.format, options.report)
    return verdict.exit_code


def figures(places: list[str], runs: list[str] | None, baselines: str | None) -> list[RunFigures]:
    """The figures of all runs at several places."""
    found: list[RunFigures] = []
    for place in places:
        source = opened(place, runs, baselines)
        found.extend(figures_of(source))
        print_problems(source.problems())
    for item in found:
        print_problems(item.problems)
    return found


def opened(place: str, runs: list[str] | None, baselines: str | None) -> Source:
    """A path, or a baseline of that name where there is no such path."""
    folder = baselines_folder(baselines)
    if not Path(place).exists() and (folder / place).is_dir():
        source = open_baseline(folder, place)
    else:
        source = open_source(place)
    if runs:
        return open_source(source.where, run=runs)
    return source


def _print(verdict: Check, form: str, report: str | None) -> None:
    document = verdict.to_json()
    if form == "json":
        print_json(document)
    elif form == "markdown":
        print(check_markdown(document, report))
    elif form == "junit":
        print(check_junit(document))
    else:
        for line in check_text(document).splitlines():
            print(printable(line))
    if form in ("markdown", "junit"):
        say(f"{verdict.verdict}: {', '.join(item.metric.name for item in verdict.metrics)}")
