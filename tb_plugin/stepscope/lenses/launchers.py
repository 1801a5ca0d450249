"""Which op launched the kernels and runtime calls of a profile, and their time as part of its own."""

from __future__ import annotations

import numpy as np

from stepscope.model.columns import Ints
from stepscope.model.profile import NodeKind, Profile


def launchers(profile: Profile) -> Ints:
    """For each kernel and runtime call the op or scope that launched it, straight or through others of them.

    Their time is in that of the launcher. -1 for nodes without one, and for ops and scopes.
    """
    nodes = profile.nodes
    apart = (nodes.kind == NodeKind.DEVICE) | (nodes.kind == NodeKind.RUNTIME)
    if not apart.any():
        return np.full(len(nodes), -1)
    launcher = np.where(apart, nodes.caller, -1).astype(np.int64)
    while True:
        inner = np.flatnonzero(launcher >= 0)
        inner = inner[apart[launcher[inner]]]
        if not len(inner):
            return launcher
        launcher[inner] = launcher[launcher[inner]]


def fold_device_time(profile: Profile, ticks: Ints) -> Ints:
    """Accelerator time, with that of the kernels that each op launches added to the op."""
    launcher = launchers(profile)
    rows = np.flatnonzero(launcher >= 0)
    if not len(rows):
        return ticks
    folded: Ints = ticks.copy()
    np.add.at(folded, launcher[rows], ticks[rows])
    return folded
