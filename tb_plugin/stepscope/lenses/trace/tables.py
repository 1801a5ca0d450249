"""Flat tables of a nested profile: ops by their input shapes, kernels by how they were launched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stepscope.lenses.launchers import fold_device_time, launchers
from stepscope.lenses.trace.categories import Category, attribute, node_categories
from stepscope.lenses.trace.devices import BLOCKS_PER_SM, OCCUPANCY, numbers
from stepscope.lenses.trace.tensor_cores import (
    SAYS_NOTHING,
    YES,
    tensor_core_words,
    uses_tensor_cores,
)
from stepscope.model.arrays import Floats
from stepscope.model.columns import Ints
from stepscope.model.profile import NodeKind, Profile

MAX_ROWS = 2000
LAUNCH_PROPERTIES = ("grid", "block", "registers per thread", "shared memory")


def ops_by_shape(profile: Profile) -> dict[str, Any]:
    """One row for each op and its input shapes, most time first: calls, host and device time, self and total.

    Returns:
        `count` of all rows and at most `MAX_ROWS` of them; times in ps. `device_total_ps` and `host_total_ps` are with
        what the calls called, so that rows of nested ops do not add up. `tensor_core_ps` and `tensor_core_total_ps` are
        the parts of the device times of kernels whose names say that they use Tensor Cores; None where no name of the
        op's kernels says anything.
    """
    nodes = profile.nodes
    op = np.flatnonzero((nodes.kind == NodeKind.OP) & (node_categories(profile) >= 0))
    accelerator, word = _by_node(profile, "accelerator_ticks"), tensor_core_words(profile)
    own, total = _device_times(profile, accelerator)
    cores, cores_total = _device_times(profile, np.where(word == YES, accelerator, 0))
    said, said_total = _device_times(profile, (word != SAYS_NOTHING).astype(np.int64))
    columns = {
        "calls": _by_node(profile, "run_count")[op],
        "host_ps": _by_node(profile, "host_ticks")[op] * profile.tick_ps,
        "host_total_ps": _by_node(profile, "host_total_ticks")[op] * profile.tick_ps,
        "device_ps": own[op] * profile.tick_ps,
        "device_total_ps": total[op] * profile.tick_ps,
        "tensor_core_ps": cores[op] * profile.tick_ps,
        "tensor_core_total_ps": cores_total[op] * profile.tick_ps,
        "said": said[op],
        "said_total": said_total[op],
    }
    keys = (nodes.name[op].astype(np.int64), nodes.input_shape[op].astype(np.int64))
    order = columns["host_ps"] + columns["device_ps"]
    found = _table(profile, ("name", "input_shape"), keys, columns, order, {})
    for row in found["rows"]:
        for field, said in (
            ("tensor_core_ps", row.pop("said")),
            ("tensor_core_total_ps", row.pop("said_total")),
        ):
            row[field] = row[field] if said else None
    return found


def kernels(profile: Profile, by_launch: bool = False) -> dict[str, Any]:
    """One row for each kernel, copy and set, most time first.

    Args:
        by_launch: Tells kernels of one name apart by the op that launched them, grid, block, registers and shared
            memory.

    Returns:
        `count` of all rows and at most `MAX_ROWS` of them; times in ps. `blocks_per_sm` and `occupancy` are means over
        the kernels' time, None where the source says nothing; `tensor_core` is `uses_tensor_cores` of a kernel's name.
    """
    runs, nodes = profile.executions, profile.nodes
    work = np.flatnonzero(nodes.kind[runs.node] == NodeKind.DEVICE)
    node, duration = runs.node[work].astype(np.int64), runs.duration_ticks[work] * profile.tick_ps
    launcher = launchers(profile)[node]
    named = np.where(launcher >= 0, nodes.name[launcher], -1)
    fields: tuple[str, ...] = ("name", "category")
    keys: tuple[Ints, ...] = (nodes.name[node].astype(np.int64), node_categories(profile)[node])
    if by_launch:
        fields += ("op", *(name.replace(" ", "_") for name in LAUNCH_PROPERTIES))
        keys += (named, *(attribute(profile, name)[node] for name in LAUNCH_PROPERTIES))
    means = {
        "blocks_per_sm": numbers(profile, BLOCKS_PER_SM)[node],
        "occupancy": numbers(profile, OCCUPANCY)[node],
    }
    columns = {"calls": np.ones(len(work), np.int64), "total_ps": duration}
    found = _table(profile, fields, keys, columns, duration, means)
    for row in found["rows"]:
        is_kernel = row["category"] == Category.KERNEL
        row["category"] = Category(row["category"]).label
        row["tensor_core"] = uses_tensor_cores(row["name"]) if is_kernel else None
    return found


def _table(
    profile: Profile,
    fields: Sequence[str],
    keys: Sequence[Ints],
    columns: dict[str, Ints],
    order: Ints,
    means: dict[str, Floats],
) -> dict[str, Any]:
    """Adds up columns by keys. Keys are in strings but `category`; times have a shortest and a longest too."""
    rows = (
        np.stack([np.asarray(key, np.int64) for key in keys], axis=1)
        if len(order)
        else np.empty((0, len(keys)))
    )
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    which = which.reshape(-1)
    count = len(distinct)
    sums = {name: _sum(which, count, values) for name, values in columns.items()}
    if "total_ps" in columns:
        sums |= _extremes(which, count, columns["total_ps"])
    mean = {name: _means(which, count, values, order) for name, values in means.items()}
    largest = np.argsort(-_sum(which, count, order), kind="stable")[:MAX_ROWS]
    texts = profile.strings
    found = []
    for i in largest.tolist():
        named: dict[str, Any] = {
            field: int(key) if field == "category" else (texts[int(key)] if key >= 0 else "")
            for field, key in zip(fields, distinct[i].tolist(), strict=True)
        }
        named |= {name: int(values[i]) for name, values in sums.items()}
        found.append(
            named | {name: None if np.isnan(v[i]) else float(v[i]) for name, v in mean.items()}
        )
    return {"count": count, "rows": found}


def _sum(which: Ints, count: int, values: Ints) -> Ints:
    total = np.zeros(count, np.int64)
    np.add.at(total, which, values)
    return total


def _extremes(which: Ints, count: int, values: Ints) -> dict[str, Ints]:
    least, most = np.full(count, np.iinfo(np.int64).max), np.zeros(count, np.int64)
    np.minimum.at(least, which, values)
    np.maximum.at(most, which, values)
    return {"min_ps": least, "max_ps": most}


def _means(which: Ints, count: int, values: Floats, weight: Ints) -> Floats:
    known = ~np.isnan(values)
    sums, weights = np.zeros(count), np.zeros(count)
    np.add.at(sums, which[known], values[known] * weight[known])
    np.add.at(weights, which[known], weight[known])
    means: Floats = np.where(weights > 0, sums / np.where(weights > 0, weights, 1), np.nan)
    return means


def _by_node(profile: Profile, column: str) -> Ints:
    return _sum(
        profile.node_steps.node.astype(np.int64),
        len(profile.nodes),
        getattr(profile.node_steps, column),
    )


def _device_times(profile: Profile, accelerator: Ints) -> tuple[Ints, Ints]:
    """What kernels took that each node launched itself, and with what it called; by node.

    Args:
        accelerator: What each node took on an accelerator itself.
    """
    nodes = profile.nodes
    own = fold_device_time(profile, accelerator)
    host = nodes.kind != NodeKind.DEVICE
    total, caller = np.where(host, own, 0), nodes.caller.astype(np.int64)
    for rows in reversed(_levels(caller)):
        inner = rows[(caller[rows] >= 0) & host[rows] & (nodes.kind[rows] != NodeKind.RUNTIME)]
        np.add.at(total, caller[inner], total[inner])
    return own, total


def _levels(caller: Ints) -> list[Ints]:
    """The nodes of each depth of the caller tree, in which callers stand before what they call."""
    depth = (caller >= 0).astype(np.int64)
    above = caller.copy()
    while len(active := np.flatnonzero(above >= 0)):
        up = above[active]
        depth[active] += depth[up]
        above[active] = above[up]
    order = np.argsort(depth, kind="stable")
    return np.split(
        order, np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 1))
    )
