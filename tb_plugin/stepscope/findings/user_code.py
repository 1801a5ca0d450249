"""Lines of code that a user can change, told from those of installed libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stepscope.lenses.views import ViewResult

_LIBRARY = re.compile(
    r"<|:|.*[/\\](site|dist)-packages[/\\]|(.*/)?lib/python3[^/]*/"
    r"|(torch|tensorflow|jax|stepscope|multiprocessing)/|(_tensor|threading|contextlib)\.py:"
)
"""Lines of installed packages and of Python itself, also as PyTorch names them: from below the package's folder on."""


def is_users(line: str) -> bool:
    """Whether a line, as path:line:function, may be of the user's own code."""
    return not _LIBRARY.match(line)


def of_users(result: ViewResult, rows: Iterable[int]) -> list[int]:
    """The nearest line of the user's at or above each row of the code view, each once.

    A row is left out where that line holds all that its branch does: it says nothing of the row.
    """
    found = dict.fromkeys(_nearest(result, row) for row in rows)
    return [row for row in found if row > 0]


def _nearest(result: ViewResult, row: int) -> int:
    """The row of that line; 0 where there is none."""
    asked = row
    while row > 0 and not is_users(_line(result, row)):
        row = int(result.parent[row])
    return 0 if row != asked and _holds_everything(result, row) else row


def _line(result: ViewResult, row: int) -> str:
    layout = result.layout
    lines = layout.labels if layout.keys is None else layout.keys
    line: str = lines[int(layout.label[result.rows[row]])]
    return line


def _holds_everything(result: ViewResult, row: int) -> bool:
    """Whether nothing but the row is below each row above it."""
    while row > 0:
        above = int(result.parent[row])
        if above and (row != above + 1 or result.end[row] != result.end[above]):
            return False
        row = above
    return True
