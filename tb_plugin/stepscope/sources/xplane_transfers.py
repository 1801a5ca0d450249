"""Network transfers as a host's runtime recorded them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepscope.model.columns import StringBuilder
from stepscope.sources.xplane_plane import Events, PlaneView
from stepscope.sources.xplane_wire import I64

HOST_PLANE = "/host:CPU"
_PREFIX = "MegaScale:"
_SIZE = "payload_size_bytes"
_STATS = {
    "payload_bytes": (_SIZE, 1),
    "duration_ps": ("duration_us", 1_000_000),
    "latency_ps": ("network_transport_latency_us", 1_000_000),
    "source_slice": ("dcn_source_slice_id", 1),
    "source_device": ("dcn_source_per_slice_device_id", 1),
    "destination_slice": ("dcn_destination_slice_id", 1),
    "destination_device": ("dcn_destination_per_slice_device_id", 1),
}
_LABEL = "dcn_label"


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
        empty = {name: np.empty(0, np.int64) for name in ("start_ps", *_STATS)}
        return {
            "host": np.full(len(self.names), host),
            "name": [strings(name) for name in self.names],
            "label": [strings(label) if label else -1 for label in self.labels],
            **(self.numbers or empty),
        }


def read_transfers(view: PlaneView) -> TransferRows:
    """Reads the transfers of a host plane: the runtime's events that say how many bytes moved.

    Such an event stands where the transfer ended, and says how long it took.
    """
    wanted = [key for key in view.plane.event_metadata if view.event_name(key).startswith(_PREFIX)]
    if not wanted or not view.stat_ids(_SIZE):
        return TransferRows()
    found = [line.take(np.isin(line.metadata_id, wanted)) for line in view.lines()]
    found = [line for line in found if len(line)]
    base = min((line.timestamp_ns for line in found), default=0)
    rows = [_rows(view, line, base) for line in found]
    return TransferRows(
        base,
        [name for names, _, _ in rows for name in names],
        [label for _, labels, _ in rows for label in labels],
        {key: np.concatenate([numbers[key] for _, _, numbers in rows]) for key in rows[0][2]} if rows else {},
    )


def _rows(view: PlaneView, line: Events, base: int) -> tuple[list[str], list[str], dict[str, I64]]:
    stats = line.stats()
    numbers = {}
    for column, (stat, scale) in _STATS.items():
        value = stats.integers(view.stat_ids(stat), -1)
        numbers[column] = np.where(value < 0, -1, value * scale)
    took = numbers["duration_ps"]
    numbers["start_ps"] = line.starts_ps(base) - np.maximum(took, 0)
    numbers["duration_ps"] = np.where(took < 0, line.duration_ps, took)
    sized = np.flatnonzero(numbers["payload_bytes"] >= 0)
    labels = stats.texts(view.stat_ids(_LABEL), view.stat_names)
    names = [view.event_name(int(line.metadata_id[i])) for i in sized.tolist()]
    return names, [labels[i] for i in sized.tolist()], {key: column[sized] for key, column in numbers.items()}
