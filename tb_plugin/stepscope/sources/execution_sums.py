"""Sums of single executions per node, for sources whose work all runs on an accelerator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.model.arrays import I64
from stepscope.model.incore_values import group
from stepscope.model.profile import NodeSteps


def accelerator_sums(node: NDArray[Any], nodes: int, start: I64, end: I64) -> NodeSteps:
    """One row per node outside every step: how often it ran, for how long in all, first start and last end.

    Args:
        node: The node of each execution.
        nodes: Number of nodes; each has at least one execution.
        start: Start of each execution in ticks.
        end: End of each execution in ticks.
    """
    busy, first, last = (
        np.zeros(nodes, np.int64),
        np.full(nodes, np.iinfo(np.int64).max),
        np.zeros(nodes, np.int64),
    )
    np.add.at(busy, node, end - start)
    np.minimum.at(first, node, start)
    np.maximum.at(last, node, end)
    return group(
        NodeSteps,
        node=np.arange(nodes),
        run_count=np.bincount(node, minlength=nodes),
        accelerator_ticks=busy,
        start_ticks=first,
        end_ticks=last,
    )
