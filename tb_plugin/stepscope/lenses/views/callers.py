"""A view read from the bottom up: what a name costs in all its places, by who calls it, and who calls them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.lenses.views.result import ViewResult
from stepscope.model.columns import Array, Ints

MOST_ROWS = 500
MOST_LEVELS = 200


@dataclass(frozen=True, eq=False)
class Callers:
    """The tree of callers in preorder, the costliest first. Row 0 is the name itself; what calls a row stands below it.

    Attributes:
        view: The view that was turned round.
        metric: The figure that is shared out.
        name: What each row is called.
        parent: The row that each row calls, -1 for row 0.
        depth: How far each row is from row 0.
        value: What row 0 costs where it is called this way, in the figure's unit.
        places: In how many places of the view it is called this way.
        example: One row of the view that stands for the row.
        left_out: How many costless or cheap callers are left out.
    """

    view: str
    metric: str
    name: list[str]
    parent: Ints
    depth: Ints
    value: Array
    places: Ints
    example: Ints
    left_out: int

    def __len__(self) -> int:
        return len(self.name)

    def to_json(self) -> dict[str, Any]:
        """The document of the callers."""
        columns = (self.example, self.parent, self.depth, self.value, self.places)
        rows = zip(self.name, *(column.tolist() for column in columns), strict=True)
        keys = ("name", "id", "parent", "depth", "value", "places")
        return {
            "view": self.view,
            "metric": self.metric,
            "rows": [dict(zip(keys, row, strict=True)) for row in rows],
            "left_out": self.left_out,
        }


@dataclass(frozen=True)
class _Level:
    """Callers that are equally far away: of each its label, the index of what it calls, and what it stands for."""

    label: Ints
    below: Ints
    value: Array
    places: Ints
    example: Ints


def places_of(result: ViewResult, row: int) -> Ints:
    """The rows of a view that are called like a row."""
    label = result.layout.label[result.rows]
    return np.flatnonzero(label == label[row])


def places_of_nodes(result: ViewResult, nodes: Ints) -> Ints:
    """The rows of a view that hold some of the nodes."""
    shown = np.full(len(result.layout), -1)
    shown[result.rows] = np.arange(len(result))
    held = result.layout.row_of_node[nodes]
    rows = shown[held[held >= 0]]
    return np.unique(rows[rows >= 0])


def callers(
    result: ViewResult, places: Ints, metric: str = "total_exec_micros", limit: int = MOST_ROWS
) -> Callers:
    """Who calls some rows, each counted once: a place inside another one is part of it.

    Args:
        result: A view whose rows hold what they call: graph, scope or code.
        places: The rows in question, as a rule all of one name.
        metric: The total that is shared out.
        limit: At most so many rows, the costliest.
    """
    outermost = places[~_inside(result, places)]
    levels = _levels(result, outermost, result.column(metric))
    size = np.array([len(level.label) for level in levels])
    start = np.cumsum(size) - size
    value = np.concatenate([level.value for level in levels])
    below = np.concatenate(
        [level.below + (start[at - 1] if at else 0) for at, level in enumerate(levels)]
    )
    depth = np.repeat(np.arange(len(levels)), size)
    # What calls a row costs no more than it and stands after it, so that no row is kept without the one that it calls.
    kept = np.sort(np.argsort(-value, kind="stable")[: max(limit, 1)])
    order = _preorder(below, value, kept)
    place = np.full(len(value) + 1, -1)
    place[order] = np.arange(len(order))
    example = np.concatenate([level.example for level in levels])[order]
    return Callers(
        result.view,
        metric,
        result.names(example) if len(example) else [],
        place[below[order]],
        depth[order],
        value[order],
        np.concatenate([level.places for level in levels])[order],
        example,
        len(value) - len(order),
    )


def _inside(result: ViewResult, places: Ints) -> Array:
    """Which of some rows are below another one of them."""
    furthest = np.maximum.accumulate(np.append(0, result.end[places]))[:-1]
    inside: Array = places < furthest
    return inside


def _levels(result: ViewResult, rows: Ints, figure: Array) -> list[_Level]:
    value, group = figure[rows], np.zeros(len(rows), np.int64)
    label, parent = result.layout.label[result.rows], result.parent
    caller = rows
    levels: list[_Level] = []
    below = np.full(len(rows), -1)
    while len(caller) and len(levels) < MOST_LEVELS:
        keys = np.stack((below, label[caller] if levels else np.zeros(len(caller), np.int64)))
        found, first, group, count = np.unique(
            keys, axis=1, return_index=True, return_inverse=True, return_counts=True
        )
        group = group.reshape(-1)
        summed = np.zeros(len(first), value.dtype)
        np.add.at(summed, group, value)
        levels.append(_Level(found[1], found[0], summed, count, caller[first]))
        going = parent[caller] > 0
        below, caller, value = group[going], parent[caller[going]], value[going]
    return levels or [_Level(*(np.empty(0, np.int64) for _ in range(5)))]


def _preorder(below: Ints, value: Array, kept: Ints) -> Ints:
    """The kept rows, each before its callers, siblings by value; as few as are shown."""
    children: dict[int, list[int]] = {}
    for row in kept[np.argsort(value[kept], kind="stable")].tolist():
        children.setdefault(int(below[row]), []).append(row)
    order: list[int] = []
    waiting = children.get(-1, [])
    while waiting:
        row = waiting.pop()
        order.append(row)
        waiting.extend(children.get(row, []))
    return np.array(order, np.int64)
