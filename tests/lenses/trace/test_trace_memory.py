"""Memory over time follows the allocator events."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.lenses.trace.memory import MemorySeries, memory_over_time
from stepscope.model.columns import Strings
from stepscope.model.profile import Allocations, Profile
from stepscope.sources import tfprof


def profile(*events: tuple[int, int, int], device: int = 0) -> Profile:
    """A profile of events: time, change, and total or -1."""
    time, delta, total = (np.array(column, np.int64) for column in zip(*events, strict=True))
    on = np.full(len(time), device, np.int32)
    return Profile(
        strings=Strings.of(["gpu", "bfc"]),
        allocations=Allocations(device=on, time_ticks=time, delta_bytes=delta, total_bytes=total),
    )


def test_changes_add_up_in_order_of_time() -> None:
    (series,) = memory_over_time(profile((30, -5, -1), (10, 8, -1), (20, 4, -1)))
    assert (series.device, series.time_ticks.tolist()) == ("gpu", [10, 20, 30])
    assert series.allocated_bytes.tolist() == [8, 12, 7]
    assert series.peak == (20, 12)


def test_a_known_total_is_believed_and_changes_go_on_from_it() -> None:
    (series,) = memory_over_time(
        profile((1, 8, -1), (2, 4, 100), (3, -10, -1), (4, 0, 50), (5, 1, -1))
    )
    assert series.allocated_bytes.tolist() == [8, 100, 90, 50, 51]


def test_events_that_say_nothing_are_left_out() -> None:
    assert len(memory_over_time(profile((1, 0, -1), (2, 3, -1)))[0]) == 1


def test_a_profile_without_events_has_no_series() -> None:
    assert memory_over_time(Profile()) == ()


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=400), st.integers(1, 20))
def test_thinning_keeps_the_peak_the_lowest_and_the_end(values: list[int], columns: int) -> None:
    series = MemorySeries(
        "",
        "",
        1,
        np.arange(len(values)),
        np.array(values, np.int64),
        np.full(len(values), -1, np.int64),
    )
    thin = series.thinned(columns)
    assert len(thin) <= max(3 * columns, 3)
    assert max(thin.allocated_bytes) == max(values)
    assert min(thin.allocated_bytes) == min(values)
    assert thin.allocated_bytes[-1] == values[-1]
    assert (np.diff(thin.time_ticks) > 0).all()


def test_a_recorded_profile_has_a_series_for_each_gpu(data: Path) -> None:
    found = memory_over_time(tfprof.read(data / "tfprof/synth_gpu.pb.gz").records[0].record)
    assert [series.device.rpartition(":")[2] for series in found] == ["0", "1"]
    document = found[0].to_json()
    assert len(document["time_ps"]) == len(document["allocated_bytes"]) == len(found[0])
    assert document["peak_bytes"] == max(document["allocated_bytes"])


@pytest.mark.parametrize("reserved", [-1, 7])
def test_unknown_reserved_memory_is_null(reserved: int) -> None:
    one = np.array([1])
    series = MemorySeries("d", "a", 1000, one, one, np.array([reserved]))
    assert series.to_json()["reserved_bytes"] == [None if reserved < 0 else reserved]
