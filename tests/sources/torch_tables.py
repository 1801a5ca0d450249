"""Tables of a nested profile, straight from its columns: independent of the views engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from stepscope.model.profile import NodeKind, Profile

Figures = tuple[int, int, int, int, int]
"""Calls, host total, host self, device self, device total."""


@dataclass
class Tables:
    ops: dict[tuple[str, str], Figures]
    ops_by_shape: dict[tuple[str, str, str], Figures]
    device: dict[str, tuple[int, int]]
    kernel_by_op: dict[str, dict[str, int]]
    unattributed: dict[str, tuple[int, int]]
    scopes: dict[str, tuple[int, int]]


def tables(profile: Profile) -> Tables:
    """Adds up a profile's node_steps; device totals follow the caller tree."""
    nodes, texts = profile.nodes, list(profile.strings)
    calls, host, total, accelerator = (
        _by_node(profile, name)
        for name in ("run_count", "host_ticks", "host_total_ticks", "accelerator_ticks")
    )
    on_device = nodes.kind == NodeKind.DEVICE
    device_self = np.zeros(len(nodes) + 1, np.int64)
    np.add.at(device_self, nodes.caller[on_device], accelerator[on_device])
    device_self = device_self[:-1]
    device_total = device_self.copy()
    for node in np.flatnonzero(~on_device)[::-1].tolist():
        if nodes.caller[node] >= 0:
            device_total[nodes.caller[node]] += device_total[node]
    columns = np.stack([calls, total, host, device_self, device_total], axis=1)
    ops, by_shape = (
        defaultdict(lambda: np.zeros(5, np.int64)),
        defaultdict(lambda: np.zeros(5, np.int64)),
    )
    for node in np.flatnonzero(
        (nodes.kind == NodeKind.OP) | (nodes.kind == NodeKind.SCOPE)
    ).tolist():
        kind = "user_annotation" if nodes.kind[node] == NodeKind.SCOPE else "cpu_op"
        name = texts[nodes.name[node]]
        shape = texts[nodes.input_shape[node]] if nodes.input_shape[node] >= 0 else "[]"
        ops[kind, name] += columns[node]
        by_shape[kind, name, shape] += columns[node]
    return Tables(
        {key: tuple(row.tolist()) for key, row in ops.items()},
        {key: tuple(row.tolist()) for key, row in by_shape.items()},
        *_device_tables(profile, texts, calls, accelerator, on_device),
        _scope_table(profile, texts, calls, total),
    )


def _by_node(profile: Profile, name: str) -> np.ndarray:
    out = np.zeros(len(profile.nodes), np.int64)
    np.add.at(out, profile.node_steps.node, getattr(profile.node_steps, name))
    return out


def _device_tables(profile, texts, calls, accelerator, on_device):
    nodes, said = profile.nodes, attributes(profile)
    device: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    by_op: dict[str, Counter[str]] = defaultdict(Counter)
    unattributed: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for node in np.flatnonzero(on_device).tolist():
        name, spent = texts[nodes.name[node]], (int(calls[node]), int(accelerator[node]))
        device[name] = [a + b for a, b in zip(device[name], spent, strict=True)]
        if nodes.caller[node] >= 0:
            by_op[name][texts[nodes.name[nodes.caller[node]]]] += spent[1]
        else:
            why = said[node, "launch"]
            unattributed[why] = [a + b for a, b in zip(unattributed[why], spent, strict=True)]
    return (
        {name: tuple(row) for name, row in device.items()},
        {name: dict(row) for name, row in by_op.items()},
        {why: tuple(row) for why, row in unattributed.items()},
    )


def _scope_table(profile, texts, calls, total):
    paths = scope_paths(profile)
    own = np.flatnonzero(profile.nodes.kind == NodeKind.SCOPE).tolist()
    return {paths[profile.nodes.scope[node]]: (int(calls[node]), int(total[node])) for node in own}


def attributes(profile: Profile) -> dict[tuple[int, str], str]:
    """What the record says of nodes beside its columns, by node and key."""
    texts, rows = list(profile.strings), profile.attributes
    return {
        (int(node), texts[key]): texts[value]
        for node, key, value in zip(rows.node, rows.key, rows.value, strict=True)
    }


def scope_paths(profile: Profile) -> list[str]:
    """The path of each scope."""
    texts, paths = list(profile.strings), []
    for parent, name in zip(
        profile.scopes.parent.tolist(), profile.scopes.name.tolist(), strict=True
    ):
        paths.append(f"{paths[parent]}/{texts[name]}" if parent >= 0 else texts[name])
    return paths


def scopes_of(profile: Profile, name: str) -> set[str]:
    """The scope paths of the nodes with a name."""
    texts, paths = list(profile.strings), scope_paths(profile)
    return {
        paths[scope]
        for scope, node in zip(
            profile.nodes.scope.tolist(), profile.nodes.name.tolist(), strict=True
        )
        if texts[node] == name
    }


def stacks_of(profile: Profile, name: str) -> set[tuple[str, ...]]:
    """The call stacks of the nodes with a name, outermost frame first, as `file:line:function`."""
    texts, frames, traces = list(profile.strings), profile.frames, profile.traces
    shown = [
        f"{texts[file]}:{line}:{texts[function]}"
        for file, line, function in zip(frames.file, frames.line, frames.function, strict=True)
    ]
    stacks: list[tuple[str, ...]] = []
    for parent, frame in zip(traces.parent.tolist(), traces.frame.tolist(), strict=True):
        stacks.append((*(stacks[parent] if parent >= 0 else ()), shown[frame]))
    nodes = zip(profile.nodes.trace.tolist(), profile.nodes.name.tolist(), strict=True)
    return {stacks[trace] if trace >= 0 else () for trace, node in nodes if texts[node] == name}
