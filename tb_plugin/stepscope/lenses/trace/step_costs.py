"""What each call path costs in each profiled step: the rows that explain why steps of two runs differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.lenses.node_kinds import module_nodes, step_nodes
from stepscope.lenses.trace.breakdown import breakdown
from stepscope.lenses.trace.categories import Category
from stepscope.model.arrays import F64, I64, Bools
from stepscope.model.profile import Profile

Path = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class StepCosts:
    """Times in ns, one for each complete profiled step.

    Attributes:
        step_ns: How long the steps took. Shape (steps,).
        parts_ns: Of each category of the breakdown, shape (steps,): they add up to the step.
        host_ns: Host self time of each call path, shape (steps,).
        device_ns: Device time of each call path, shape (steps,).
    """

    step_ns: F64
    parts_ns: dict[str, F64]
    host_ns: dict[Path, F64]
    device_ns: dict[Path, F64]

    def __len__(self) -> int:
        return len(self.step_ns)


def step_costs(profile: Profile) -> StepCosts:
    """The costs of a profile's complete steps; none where it has no steps.

    A path is the names of the ranges, ops and kernels from the outermost in. Profiler steps are no part of it, and
    neither are module calls: ops hold the same time.
    """
    steps = breakdown(profile)
    chosen = np.flatnonzero(steps.steps.complete) if len(profile.steps) else np.empty(0, np.int64)
    to_ns = profile.tick_ps / 1000.0
    duration = (steps.steps.end - steps.steps.start)[chosen].astype(np.float64) * to_ns
    parts: dict[str, F64] = {}
    for category in Category:
        parts[category.label] = steps.parts[chosen, category] * to_ns
    paths, path_of_node = _paths(profile)
    # Modules share their time with the ops in them.
    counted = ~module_nodes(profile)
    costs = profile.node_steps
    return StepCosts(
        step_ns=duration,
        parts_ns=parts,
        host_ns=_by_path(
            profile,
            costs.host_ticks.astype(np.float64) * to_ns,
            paths,
            path_of_node,
            chosen,
            counted,
        ),
        device_ns=_by_path(
            profile,
            costs.accelerator_ticks.astype(np.float64) * to_ns,
            paths,
            path_of_node,
            chosen,
            counted,
        ),
    )


def _paths(profile: Profile) -> tuple[list[Path], I64]:
    """All call paths, and the place of each node's among them."""
    names = [profile.strings[name] if name >= 0 else "" for name in profile.nodes.name.tolist()]
    skipped = step_nodes(profile).tolist()
    callers = profile.nodes.caller.tolist()
    places: dict[tuple[int, str], int] = {}
    paths: list[Path] = [()]
    node_place = [-1] * len(names)

    def place_of(node: int) -> int:
        # Callers may nest deeper than Python's stack.
        chain = []
        while node >= 0 and node_place[node] < 0:
            chain.append(node)
            node = callers[node]
        place = node_place[node] if node >= 0 else 0
        for inner in reversed(chain):
            if not skipped[inner]:
                key = (place, names[inner])
                if key not in places:
                    places[key] = len(paths)
                    paths.append((*paths[place], names[inner]))
                place = places[key]
            node_place[inner] = place
        return place

    for node in range(len(names)):
        place_of(node)
    return paths, np.array(node_place, np.int64)


def _by_path(
    profile: Profile, cost: F64, paths: list[Path], path_of_node: I64, chosen: I64, counted: Bools
) -> dict[Path, F64]:
    costs = profile.node_steps
    column = np.full(len(profile.steps) + 1, -1)
    column[chosen] = np.arange(len(chosen))
    usable = (cost > 0) & counted[costs.node] & (column[costs.step] >= 0)
    rows = path_of_node[costs.node[usable]]
    flat = rows * max(len(chosen), 1) + column[costs.step[usable]]
    table = np.bincount(flat, weights=cost[usable], minlength=len(paths) * max(len(chosen), 1))
    table = table.reshape(len(paths), -1)
    by_path: dict[Path, F64] = {}
    for row in np.unique(rows).tolist():
        by_path[paths[row]] = table[row]
    return by_path
