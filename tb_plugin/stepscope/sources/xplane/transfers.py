"""Network transfers as a host's runtime recorded them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepscope.model.arrays import I64
from stepscope.model.columns import StringBuilder
from stepscope.sources.xplane.plane import Events, PlaneView

HOST_PLANE = "/host:CPU"
TRACE_PLANE = "/device:CUSTOM:Megascale Trace"
_LATENCY = "network_transport_latency_us"
_SIZE = "payload_size_bytes"
_LARGEST_ID = 2**31 - 1
_TIMES = {"duration_ps": "duration_us", "latency_ps": _LATENCY}
_IDS = {
    "source_slice": "dcn_source_slice_id",
    "source_device": "dcn_source_per_slice_device_id",
    "destination_slice": "dcn_destination_slice_id",
    "destination_device": "dcn_destination_per_slice_device_id",
}
_PS_PER_US = 1_000_000
_LONGEST_US = 2**43
_GRAPH_RENDEZVOUS = re.compile(r"_gid_(.*?)\$")


@dataclass(frozen=True)
class _Kind:
    """Events of a plane that are transfers: by the beginning of their name and a stat that they must have."""

    name: str
    stat: str
    label: str


_KINDS = {
    HOST_PLANE: _Kind("MegaScale:", _SIZE, "dcn_label"),
    TRACE_PLANE: _Kind("NetworkReceive", _LATENCY, "graph_key"),
}


@dataclass(frozen=True)
class TransferRows:
    """Transfers of one host, in the order of the file.

    Attributes:
        numbers: Columns of the record's transfers, -1 where the profile does not say.
    """

    base_ns: int = 0
    names: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    numbers: dict[str, I64] = field(default_factory=dict)

    def columns(self, host: int, strings: StringBuilder) -> dict[str, Any]:
        """The rows as columns of the record."""
        empty = {
            name: np.empty(0, np.int64) for name in ("start_ps", "payload_bytes", *_TIMES, *_IDS)
        }
        return {
            "host": np.full(len(self.names), host),
            "name": [strings(name) for name in self.names],
            "label": [strings(label) if label else -1 for label in self.labels],
            **(self.numbers or empty),
        }


def read_transfers(view: PlaneView) -> TransferRows:
    """Reads the transfers of a plane: a host's that say how many bytes moved, or a device trace's network latencies.

    Such an event stands where the transfer ended, and says how long it took.
    """
    kind = _KINDS[view.name]
    wanted = [
        key for key in view.plane.event_metadata if view.event_name(key).startswith(kind.name)
    ]
    if not wanted or not view.stat_ids(kind.stat):
        return TransferRows()
    found = [line.take(np.isin(line.metadata_id, wanted)) for line in view.lines()]
    found = [line for line in found if len(line)]
    base = min((line.timestamp_ns for line in found), default=0)
    return _joined(base, [_rows(view, kind, line, base) for line in found])


def together(a: TransferRows, b: TransferRows) -> TransferRows:
    """The transfers of two planes of a host. Where their clocks cannot be compared, each keeps its own zero."""
    if not a.names or not b.names:
        return a if a.names else b
    base = min(a.base_ns, b.base_ns)
    return _joined(base, [_shifted(a, base), _shifted(b, base)])


def _shifted(rows: TransferRows, base: int) -> TransferRows:
    shift = (rows.base_ns - base) * 1000
    numbers = rows.numbers | {
        "start_ps": rows.numbers["start_ps"] + (shift if shift < 2**62 else 0)
    }
    return TransferRows(base, rows.names, rows.labels, numbers)


def _joined(base: int, parts: Sequence[TransferRows]) -> TransferRows:
    if not parts:
        return TransferRows(base)
    numbers = {
        key: np.concatenate([part.numbers[key] for part in parts]) for key in parts[0].numbers
    }
    names = [name for part in parts for name in part.names]
    return TransferRows(base, names, [label for part in parts for label in part.labels], numbers)


def _rows(view: PlaneView, kind: _Kind, line: Events, base: int) -> TransferRows:
    stats = line.stats()

    def stat(name: str) -> I64:
        return stats.integers(view.stat_ids(name), -1)

    numbers = {
        column: np.where(stat(name) > _LARGEST_ID, -1, stat(name)) for column, name in _IDS.items()
    }
    for column, name in _TIMES.items():
        us = stat(name)
        numbers[column] = np.where((us < 0) | (us > _LONGEST_US), -1, us * _PS_PER_US)
    took = np.where(numbers["duration_ps"] < 0, numbers["latency_ps"], numbers["duration_ps"])
    numbers["start_ps"] = line.starts_ps(base) - np.maximum(took, 0)
    numbers["duration_ps"] = np.where(took < 0, line.duration_ps, took)
    numbers["payload_bytes"] = np.maximum(stat(_SIZE), -1)
    kept = np.flatnonzero(stat(kind.stat) >= 0)
    labels = stats.texts(view.stat_ids(kind.label), view.stat_names)
    return TransferRows(
        base,
        [view.event_name(int(line.metadata_id[i])) for i in kept.tolist()],
        [_rendezvous(labels[i]) for i in kept.tolist()],
        {key: column[kept] for key, column in numbers.items()},
    )


def _rendezvous(label: str) -> str:
    """The collective in a graph key such as `device_100000_gid_psum.7_0$..^i3`; other labels as they are."""
    match = _GRAPH_RENDEZVOUS.search(label)
    return match[1] if match else label
