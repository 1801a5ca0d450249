"""What kind of work an execution is: the parts that a step's time is divided into."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from stepscope.lenses.launchers import launchers
from stepscope.lenses.node_kinds import MEMCPY, MEMSET, step_nodes
from stepscope.model.arrays import Array, Bools, Ints
from stepscope.model.profile import LaneKind, NodeKind, Profile


class Category(IntEnum):
    """Parts of a step, in the order in which they claim time: a moment is of the first that runs in it."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    COMMUNICATION = 3
    RUNTIME = 4
    DATA_LOADER = 5
    CPU = 6
    OTHER = 7

    @property
    def label(self) -> str:
        """The category's name in documents."""
        return self.name.lower()


DEVICE_CATEGORIES = (Category.KERNEL, Category.MEMCPY, Category.MEMSET, Category.COMMUNICATION)
"""What runs on an accelerator."""

NO_CATEGORY = -1
"""Of what only frames other work: profiler steps, and copies of device time on lanes of their own."""

COLLECTIVE = "Collective name"
"""The attribute of kernels and ops that communicate."""

_COLLECTIVE_KERNEL = re.compile(
    r"(?:nccl|rccl|hccl|oneccl|nvshmem)"  # at the start: NCCL and its kin
    r"|.*(?:multimem_|nvshmemi?_|cross_device_reduce|quickreduce|userbuffers"  # symmetric memory, vLLM, SGLang
    r"|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|(?:one|two)_?shot_?reduce)",  # FlashInfer, TensorRT-LLM
    re.IGNORECASE,
)
_COLLECTIVE_RANGE = re.compile("(?:nccl|gloo|mpi|ucc|xccl|hccl):")
_DATA_LOADER = re.compile(r"enumerate\(DataLoader\)#.*\.__next__|enumerate\(DataPipe\)#.*")


def execution_categories(profile: Profile) -> Ints:
    """The category of each execution, `NO_CATEGORY` for none."""
    runs, lanes = profile.executions, profile.lanes
    category = node_categories(profile)[runs.node]
    if not len(lanes):
        return category
    lane = np.where(runs.lane >= 0, lanes.kind[runs.lane], LaneKind.HOST)
    category = np.where(
        (lane == LaneKind.ACCELERATOR) & (category == Category.CPU), Category.KERNEL, category
    )
    return np.where(lane == LaneKind.OTHER, NO_CATEGORY, category)


def node_categories(profile: Profile) -> Ints:
    """The category of each node, `NO_CATEGORY` for profiler steps."""
    nodes = profile.nodes
    on_device = nodes.kind == NodeKind.DEVICE
    category = np.where(on_device, Category.KERNEL, Category.CPU).astype(np.int64)
    category[nodes.kind == NodeKind.RUNTIME] = Category.RUNTIME
    host = ~on_device & (nodes.kind != NodeKind.RUNTIME)
    named = _Names(profile)
    category[host & named.match(_DATA_LOADER)] = Category.DATA_LOADER
    communicates = on_device & _communicates(profile, named)
    category[communicates] = Category.COMMUNICATION
    # The host's range of a collective counts only where no work of a device is its own.
    category[host & named.match(_COLLECTIVE_RANGE) & ~_callers(profile, communicates)] = (
        Category.COMMUNICATION
    )
    category[on_device & named.match(MEMCPY)] = Category.MEMCPY
    category[on_device & named.match(MEMSET)] = Category.MEMSET
    category[step_nodes(profile)] = NO_CATEGORY
    return category


def attribute(profile: Profile, key: str) -> Ints:
    """The value of an attribute for each node, in strings; -1 where it has none."""
    rows = profile.attributes
    keys = np.flatnonzero(np.isin(rows.key, _places(profile, key)))
    value = np.full(len(profile.nodes), -1, np.int64)
    value[rows.node[keys]] = rows.value[keys]
    return value


def attribute_texts(profile: Profile, key: str) -> list[str]:
    """The value of an attribute for each node, '' where it has none."""
    return [profile.strings[i] if i >= 0 else "" for i in attribute(profile, key).tolist()]


def _places(profile: Profile, text: str) -> list[int]:
    return [i for i in np.unique(profile.attributes.key).tolist() if profile.strings[i] == text]


def _communicates(profile: Profile, named: _Names) -> Array:
    """Kernels of collectives: by their own attribute or name, or by the name of the op that launched them."""
    launcher = launchers(profile)
    by_op = (
        named.match(_COLLECTIVE_RANGE)[launcher] & (launcher >= 0)
        if len(launcher)
        else launcher >= 0
    )
    found: Array = (attribute(profile, COLLECTIVE) >= 0) | named.match(_COLLECTIVE_KERNEL) | by_op
    return found


def _callers(profile: Profile, nodes: Bools) -> Bools:
    """Which nodes call, or call what calls, some of the nodes."""
    caller = profile.nodes.caller
    above = np.zeros(len(nodes), bool)
    level = np.unique(caller[nodes])
    while len(level := level[level >= 0]):
        above[level] = True
        level = np.unique(caller[level])
    return above


class _Names:
    """The names of nodes, each distinct one looked at once."""

    def __init__(self, profile: Profile) -> None:
        used, self._place = np.unique(profile.nodes.name, return_inverse=True)
        self._texts: Sequence[str] = [profile.strings[i] if i >= 0 else "" for i in used.tolist()]

    def match(self, pattern: re.Pattern[str]) -> Array:
        """Which nodes have a name that starts as the pattern says."""
        hits = np.fromiter(
            (pattern.match(text) is not None for text in self._texts), bool, len(self._texts)
        )
        found: Array = hits[self._place]
        return found
