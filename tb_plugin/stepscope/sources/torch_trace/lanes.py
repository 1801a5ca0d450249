"""Where executions run: threads of the host, streams of devices, and the devices themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepscope.model.columns import Array, StringBuilder
from stepscope.model.profile import Devices, LaneKind, Lanes
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.header import DeviceProperties
from stepscope.sources.torch_trace.labels import HOST, device_kind, device_label, stream_label
from stepscope.sources.torch_trace.numbers import integers, small


class LaneTable:
    """The lanes of a profile, numbered in order of first use.

    Args:
        columns: The trace's events.
        strings: The profile's strings.
    """

    def __init__(self, columns: EventColumns, strings: StringBuilder) -> None:
        self._places = columns.places.values()
        self._kind = device_kind(columns)
        self._strings = strings
        self._rows: dict[tuple[int, int, int], int] = {}

    def _lane(self, device: int, name: str, kind: LaneKind) -> int:
        row = device, self._strings(name), int(kind)
        return self._rows.setdefault(row, len(self._rows))

    def of_threads(self, used: Array, names: Sequence[str]) -> Array:
        """The lane of each thread of the host, -1 for unused ones."""
        host = self._strings(HOST)
        lanes = np.full(len(names), -1, np.int64)
        for thread in np.unique(used).astype(np.int64).tolist():
            lanes[thread] = len(self._rows)
            # Threads of one name are lanes of their own.
            row = host, self._strings(names[thread]), -1 - thread
            self._rows[row] = len(self._rows)
        return lanes

    def of_places(self, place: Array) -> tuple[Array, Array]:
        """The device, in strings, and the lane of each piece of device work."""
        devices = np.full(len(self._places) + 1, -1, np.int64)
        lanes = np.full(len(self._places) + 1, -1, np.int64)
        for number in np.unique(place).tolist():
            category, device, stream = self._places[number]
            devices[number] = self._strings(device_label(category, device, self._kind))
            name = stream_label(stream)
            lanes[number] = self._lane(int(devices[number]), name, LaneKind.ACCELERATOR)
        return devices[place], lanes[place]

    def described(self, devices: Sequence[DeviceProperties]) -> Devices:
        """The accelerators as the trace describes them."""

        def numbers(field: str) -> Array:
            return np.array([small(getattr(device, field), 0) for device in devices], np.int64)

        names = [self._strings(device_label("", device.id, self._kind)) for device in devices]
        models = [self._strings(device.name or "") for device in devices]
        memory = integers([device.memory_bytes for device in devices], 0)
        return Devices(
            name=np.array(names, np.int64),
            model=np.array(models, np.int64),
            memory_bytes=np.maximum(memory, 0),
            compute_major=numbers("compute_major"),
            compute_minor=numbers("compute_minor"),
            multiprocessors=numbers("multiprocessors"),
            multiprocessor_threads=numbers("threads_per_multiprocessor"),
        )

    def build(self) -> Lanes:
        """The group of the record."""
        rows: Array = np.array(list(self._rows), np.int64).reshape(-1, 3)
        kind = np.where(rows[:, 2] < 0, LaneKind.HOST, rows[:, 2])
        return Lanes(device=rows[:, 0], name=rows[:, 1], kind=kind)
