"""`stepscope report`: one self-contained page with the panel over a snapshot of sources."""

from __future__ import annotations

import argparse
import importlib.resources
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from stepscope.cli.arguments import keep_sources, path
from stepscope.cli.output import print_problems
from stepscope.errors import NotFound
from stepscope.panel.report import report_page
from stepscope.panel.snapshot import snapshot
from stepscope.panel.snapshot_entry import Extent
from stepscope.session.opening import open as open_source
from stepscope.session.union import join

_HELP = {
    "depth": "levels of each view",
    "rows": "rows of each view and comparison",
    "details": "rows of each view with all details",
    "points": "points of each throughput series",
    "comparisons": "pairs of runs that are compared",
    "profiles": "profiles with their trace: steps, timeline, kernels, launches, memory",
    "windows": "windows of a timeline in detail",
    "callers": "rows of each view with their callers",
}


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    text = "write a single-file HTML report"
    parser = commands.add_parser("report", help=text, description=f"report: {text}.")
    parser.add_argument(
        "source", nargs="+", type=path, metavar="SOURCE", help="log directory, run, or file"
    )
    parser.add_argument(
        "-o", "--output", required=True, type=path, metavar="FILE", help="file to write"
    )
    parser.add_argument(
        "--run", action="append", metavar="NAME", help="run or pattern; may be given several times"
    )
    parser.add_argument("--name", help="the records' name")
    parser.add_argument("--record-step", type=int, help="the records' training step")
    parser.add_argument("--title", help="title of the page")
    for field in fields(Extent):
        help_text = f"{_HELP[field.name]} (default {field.default})"
        parser.add_argument(
            f"--{field.name}", type=int, default=field.default, metavar="N", help=help_text
        )
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Writes the page."""
    chosen = {"run": options.run, "name": options.name, "record_step": options.record_step}
    keep_sources(Path(options.output), options.source)
    source = join([open_source(place, **chosen) for place in options.source])
    print_problems(source.problems())
    extent = Extent(
        **{field.name: max(getattr(options, field.name), 0) for field in fields(Extent)}
    )
    kept = snapshot(source, extent)
    if not kept[0].document["runs"]:
        raise NotFound(
            "no record to report on",
            where=", ".join(options.source),
            remedy="See: stepscope formats",
        )
    title = options.title or f"StepScope: {', '.join(Path(place).name for place in options.source)}"
    page = report_page(title, [one.to_json() for one in kept], panel())
    Path(options.output).write_bytes(page)
    size = f"{len(page) / 1e6:,.1f} MB"
    print(
        f"wrote {options.output}, {size}: views to {extent.depth} levels and {extent.rows:,} rows",
        file=sys.stderr,
    )
    return 0


def panel() -> bytes:
    """The panel with what answers it, as one module."""
    return (
        importlib.resources.files("stepscope")
        .joinpath("plugin")
        .joinpath("static/report.js")
        .read_bytes()
    )
