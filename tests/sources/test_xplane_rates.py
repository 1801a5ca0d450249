"""Steps per second from the steps of a profile."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import stepscope
from stepscope.model.profile import Profile, Steps
from stepscope.sources.xplane.rates import rates_of

MS_PS = 1_000_000_000


def profile_of(*steps: tuple[int, int, int]) -> Profile:
    numbers, starts, durations = (np.array(column, np.int64) for column in zip(*steps, strict=True))
    return Profile(
        tick_ps=1,
        steps=Steps(id=numbers, start_ticks=starts * MS_PS, duration_ticks=durations * MS_PS),
    )


def test_each_step_is_a_mark_at_its_end() -> None:
    record = rates_of(profile_of((7, 100, 50), (8, 150, 50), (9, 200, 100)))
    assert record is not None
    record.validate()
    assert record.marks.step.tolist() == [7, 8, 9]
    assert record.marks.time_ns.tolist() == [150_000_000, 200_000_000, 300_000_000]
    assert (record.unit, record.start_ns) == ("steps", 100_000_000)


def test_one_step_or_steps_without_a_length_give_no_rate() -> None:
    assert rates_of(profile_of((1, 0, 10))) is None
    assert rates_of(profile_of((1, 0, 0), (2, 10, 0))) is None


def test_a_real_profile_gives_its_steps_per_second(shared: Path) -> None:
    series = stepscope.open(shared / "data/xplane/jax_cpu_train").throughput().to_json()["series"]
    assert [(one["unit"], one["total"][-1]) for one in series] == [("steps", 20)]
    assert series[0]["avg_samples_per_sec"][-1] > 0
