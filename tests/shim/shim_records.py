"""A clock for the shim, and what it wrote, read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stepscope.model.throughput import Throughput
from stepscope.model.throughput_merge import merge
from stepscope.store.local import LocalStore


class Clock:
    """Moves on by itself at every reading, and by hand."""

    def __init__(self, tick_ns: int = 0) -> None:
        self.now = 1_000
        self.tick_ns = tick_ns

    def __call__(self) -> int:
        self.now += self.tick_ns
        return self.now


def stored(logdir: Path, name: str = "train") -> Throughput:
    store = LocalStore(logdir=str(logdir))
    store.refresh()
    assert store.problems() == []
    return merge([store.read(entry) for entry in store.entries() if entry.name == name])  # type: ignore[misc]


def scalars(logdir: Path) -> dict[str, Any]:
    store = LocalStore(logdir=str(logdir))
    store.refresh()
    return {series.tag: series for series in store.scalar_series()}
