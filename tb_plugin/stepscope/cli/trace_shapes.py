"""`stepscope views --shape`: tables of the trace lens, by the flag that `stepscope trace --show` follows."""

from __future__ import annotations

import argparse
from typing import Any

SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "breakdown": ("step time by category", {"show": "steps"}),
    "timeline": ("threads and streams (JSON has the blocks)", {"show": "timeline"}),
    "shapes": ("ops by input shape", {"show": "shapes"}),
    "kernels": ("kernels by op and launch parameters", {"show": "kernels", "by": "launch"}),
    "launches": ("launch delays by kernel", {"show": "launches"}),
    "idle": ("idle streams by cause", {"show": "idle"}),
    "memory": ("memory that ops allocate and release", {"show": "memory"}),
    "ranks": ("the ranks of the job side by side", {"show": "ranks"}),
}
"""For each word of the flag its help, and the options of the trace lens."""


def add_shape(parser: argparse.ArgumentParser) -> None:
    """Adds the flag."""
    words = "; ".join(f"{name}: {text}" for name, (text, _) in SHAPES.items())
    parser.add_argument(
        "--shape", choices=tuple(SHAPES), help=f"print a table of the trace instead: {words}"
    )
