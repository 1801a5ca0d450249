"""In-kernel traces of Proton are profiles by kernel and region, one lane for each warp."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import DamagedSource
from stepscope.model.profile import Profile
from stepscope.sources import registry


def region(
    name: str, start: float, duration: float, *, core: int = 0, block: int = 0, warp: int = 0
) -> dict[str, Any]:
    return {
        "cat": "k",
        "name": name,
        "ph": "X",
        "pid": f"k Core{core} CTA{block}",
        "tid": f"warp {warp} (line 0)",
        "ts": start,
        "dur": duration,
        "args": {"Frequency (MHz)": 1000.0},
    }


def read(path: Path) -> Profile:
    record = registry.read(path).records[0].record
    assert isinstance(record, Profile)
    return record


def write(folder: Path, events: list[Any]) -> Path:
    path = folder / "kernel.chrome_trace"
    path.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))
    return path


def sums(record: Profile) -> dict[str, tuple[int, int]]:
    rows = record.node_steps
    names = [str(record.strings[name]) for name in record.nodes.name[rows.node].tolist()]
    pairs = zip(rows.run_count.tolist(), rows.accelerator_ticks.tolist(), strict=True)
    return dict(zip(names, pairs, strict=True))


def test_a_proton_trace_is_no_pytorch_trace(shared: Path) -> None:
    path = shared / "cases/incore/intra.chrome_trace"
    assert registry.recognise(path).name == "proton"
    record = read(path)
    assert sums(record) == {"k/load": (1, 200_000), "k/mma": (1, 500_000)}
    lanes = [str(record.strings[name]) for name in record.lanes.name.tolist()]
    assert lanes == ["k Core0 CTA0 warp 0 (line 0)", "k Core1 CTA1 warp 1 (line 0)"]


def test_regions_of_many_warps_add_up_by_name(tmp_path: Path) -> None:
    events = [
        region("load", 0.1 * warp, 0.25, warp=warp, block=block)
        for warp in range(4)
        for block in range(3)
    ]
    record = read(write(tmp_path, events))
    assert sums(record) == {"k/load": (12, 12 * 250_000)}
    assert len(record.lanes) == 12


def test_events_without_time_or_warp_are_counted(tmp_path: Path) -> None:
    broken = [region("a", 0, 1) | {"dur": None}, region("a", 0, 1) | {"tid": 3}, region("a", 0, -1)]
    record = read(write(tmp_path, [region("a", 0, 1), *broken]))
    assert sums(record) == {"k/a": (1, 1_000_000)}
    assert record.header.losses[0].count == 3


def test_a_trace_without_a_region_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(DamagedSource, match="no region"):
        read(write(tmp_path, [region("a", 0, 1) | {"dur": "x"}]))
