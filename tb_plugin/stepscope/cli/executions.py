"""`stepscope views --shape`: where steps spend their time, launches, memory of ops, ranks side by side."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from stepscope.cli.output import print_json, print_rows
from stepscope.queries.asking import Source

Row = dict[str, Any]


def add_shape(parser: argparse.ArgumentParser) -> None:
    """Adds the flag."""
    help_text = "instead of a view: " + "; ".join(f"{name}: {text}" for name, (text, _, _) in _SHAPES.items())
    parser.add_argument("--shape", choices=tuple(_SHAPES), help=help_text)


def print_shape(source: Source, shape: str, form: str) -> None:
    """Prints what a profile's executions answer."""
    _, ask, rows = _SHAPES[shape]
    document = ask(source)
    if form == "json":
        print_json(document)
    else:
        print_rows(rows(document), form)


def _steps(document: Mapping[str, Any]) -> list[Row]:
    rows = []
    for step in document["steps"]:
        shown = {"step": step["name"] or step["id"], "complete": step["complete"], "ps": step["duration_ps"]}
        rows.append(shown | {f"{part}_ps": time for part, time in step["parts_ps"].items()})
    return rows


def _memory(document: Mapping[str, Any]) -> list[Row]:
    return [{"device": document["device"]} | row for row in document["ops"]]


_SHAPES: dict[str, tuple[str, Callable[[Source], dict[str, Any]], Callable[[Mapping[str, Any]], list[Row]]]] = {
    "breakdown": ("the time of each step by category", lambda source: source.breakdown().to_json(), _steps),
    "launches": (
        "launch delays by kernel",
        lambda source: source.launches().to_json(),
        lambda document: list(document["rows"]),
    ),
    "idle": (
        "why streams stand idle",
        lambda source: source.launches().to_json(),
        lambda document: list(document["streams"]),
    ),
    "timeline": (
        "the lanes of threads and streams (JSON has the blocks)",
        lambda source: source.executions().timeline(),
        lambda document: [
            {key: value for key, value in lane.items() if key != "blocks"} | {"blocks": len(lane["blocks"])}
            for lane in document["lanes"]
        ],
    ),
    "shapes": (
        "ops by their input shapes",
        lambda source: source.executions().shapes(),
        lambda document: list(document["rows"]),
    ),
    "kernels": (
        "kernels by op, grid, block, registers and shared memory",
        lambda source: source.executions().kernels(by_launch=True),
        lambda document: list(document["rows"]),
    ),
    "memory": ("memory that ops take and give back", lambda source: source.executions().memory(), _memory),
    "ranks": (
        "the ranks of the job side by side",
        lambda source: source.ranks().to_json(),
        lambda document: list(document["ranks"]),
    ),
}
