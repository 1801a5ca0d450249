"""`stepscope views --shape`: where steps spend their time, launches, memory of ops, ranks side by side."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from stepscope.cli.output import print_json, print_rows
from stepscope.exporting.trace_tables import shape_rows
from stepscope.session.source import Source


def add_shape(parser: argparse.ArgumentParser) -> None:
    """Adds the flag."""
    help_text = "instead of a view: " + "; ".join(f"{name}: {text}" for name, (text, _) in _SHAPES.items())
    parser.add_argument("--shape", choices=tuple(_SHAPES), help=help_text)


def print_shape(source: Source, shape: str, form: str) -> None:
    """Prints what a profile's executions answer."""
    _, ask = _SHAPES[shape]
    document = ask(source)
    if form == "json":
        print_json(document)
    else:
        print_rows(shape_rows(shape, document), form)


_SHAPES: dict[str, tuple[str, Callable[[Source], dict[str, Any]]]] = {
    "breakdown": ("the time of each step by category", lambda source: source.breakdown().to_json()),
    "timeline": ("threads and streams (JSON has the blocks)", lambda source: source.executions().timeline()),
    "shapes": ("ops by their input shapes", lambda source: source.executions().shapes()),
    "kernels": (
        "kernels by op, grid, block, registers and shared memory",
        lambda source: source.executions().kernels(by_launch=True),
    ),
    "launches": ("launch delays by kernel", lambda source: source.launches().to_json()),
    "idle": ("why streams stand idle", lambda source: source.launches().to_json()),
    "memory": ("memory that ops take and give back", lambda source: source.executions().memory()),
    "ranks": ("the ranks of the job side by side", lambda source: source.ranks().to_json()),
}
