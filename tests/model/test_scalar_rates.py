"""Rates that were only logged as scalars make a series: of both tags or one, in any unit, with steps or without."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from stepscope.errors import RecordError
from stepscope.model.scalar_rates import from_scalars, rate_tag
from stepscope.model.throughput import UNKNOWN_NS


@dataclass
class Points:
    tag: str
    step: Any
    wall_time_s: Any
    value: Any = field(default_factory=list)


def points(tag: str, step: list[int], value: list[float]) -> Points:
    return Points(tag, np.array(step), 1.7e9 + np.arange(len(step), dtype=float), np.array(value))


@pytest.mark.parametrize(
    ("tag", "want"),
    [
        ("avg_samples_per_sec", ("", "avg", "samples")),
        ("local_samples_per_sec", ("", "local", "samples")),
        ("a/b/local_tokens_per_sec", ("a/b", "local", "tokens")),
        ("avg_steps_per_sec", ("", "avg", "steps")),
        ("examples/sec", ("", "local", "examples")),
        ("average_examples/sec", ("", "avg", "examples")),
        ("train/average_examples/sec", ("train", "avg", "examples")),
        ("loss", None),
        ("per_sec", None),
        ("avg_samples_per_sec/x", None),
        ("my_examples/sec", None),
    ],
)
def test_tags_of_rates_are_told_from_others(tag: str, want: tuple[str, str, str] | None) -> None:
    assert rate_tag(tag) == want


def test_scalars_alone_become_reported_rates_without_an_invented_start() -> None:
    record = from_scalars(
        [
            points("eval/local_tokens_per_sec", [2, 3], [5.0, 6.0]),
            points("eval/avg_tokens_per_sec", [1, 2], [3.0, 4.0]),
        ]
    )
    record.validate()
    assert (record.name, record.unit, record.start_ns) == ("eval", "tokens", UNKNOWN_NS)
    assert record.samples.step.tolist() == [1, 2, 3]
    assert record.reported.local_samples_per_sec.tolist() == [-1.0, 5.0, 6.0]
    assert record.reported.avg_samples_per_sec.tolist() == [3.0, 4.0, -1.0]


@pytest.mark.parametrize(
    ("tag", "local", "average"), [("local", [4.0, 5.0], [-1, -1]), ("avg", [-1, -1], [4.0, 5.0])]
)
def test_one_of_the_two_scalars_is_enough(
    tag: str, local: list[float], average: list[float]
) -> None:
    record = from_scalars([points(f"{tag}_samples_per_sec", [10, 20], [4.0, 5.0])])
    record.validate()
    assert record.samples.step.tolist() == [10, 20]
    assert record.reported.local_samples_per_sec.tolist() == local
    assert record.reported.avg_samples_per_sec.tolist() == average


def test_each_step_has_the_time_of_a_scalar_that_was_logged_at_it() -> None:
    average = points("avg_samples_per_sec", [20, 30], [5.0, 6.0])
    local = points("local_samples_per_sec", [10, 20, 40], [1.0, 2.0, 3.0])
    average.wall_time_s, local.wall_time_s = (
        np.array([1002.0, 1003.0]),
        np.array([1001.0, 1002.5, 1004.0]),
    )
    record = from_scalars([average, local])
    assert record.header.wall_anchor_ns == 1001 * 10**9
    assert record.samples.time_ns.tolist() == [0, 10**9, 2 * 10**9, 3 * 10**9]


def test_steps_per_second_beside_samples_do_not_take_their_place() -> None:
    record = from_scalars(
        [
            points("avg_samples_per_sec", [10, 20], [64.0, 60.0]),
            points("avg_steps_per_sec", [10, 20], [2.0, 1.9]),
            points("local_samples_per_sec", [10, 20], [64.0, 58.0]),
        ]
    )
    assert record.unit == "samples"
    assert record.reported.avg_samples_per_sec.tolist() == [64.0, 60.0]


def test_scalars_without_a_step_keep_every_point_in_its_order() -> None:
    record = from_scalars(
        [
            points("examples/sec", [0] * 3, [5.0, 6.0, 7.0]),
            points("average_examples/sec", [0] * 3, [5.0] * 3),
        ]
    )
    record.validate()
    assert record.samples.step.tolist() == [-1, -1, -1]
    assert record.samples.time_ns.tolist() == [0, 10**9, 2 * 10**9]
    assert record.reported.local_samples_per_sec.tolist() == [5.0, 6.0, 7.0]
    assert (record.unit, record.sampling_rule) == ("examples", "log_step")


@pytest.mark.parametrize(("first_local", "rule"), [(4.0, "log_step"), (40.0, "batch")])
def test_a_first_rate_unlike_the_average_was_asked_for_before(
    first_local: float, rule: str
) -> None:
    local = points("local_samples_per_sec", [1, 2], [first_local, 5.0])
    assert (
        from_scalars([local, points("avg_samples_per_sec", [1, 2], [4.0, 4.5])]).sampling_rule
        == rule
    )


def test_other_scalars_are_refused() -> None:
    with pytest.raises(RecordError, match="loss"):
        from_scalars([points("loss", [1], [1.0])])


@pytest.mark.parametrize(
    "tag",
    [
        "avg",
        "avg_samples",
        "avg_samples_per_second",
        "max_samples_per_sec",
        "samples_per_sec",
        "train/loss",
        "avg_per",
    ],
)
def test_tags_that_are_no_rate_are_not_read_as_one(tag: str) -> None:
    assert rate_tag(tag) is None


@pytest.mark.parametrize(
    ("tag", "want"),
    [
        ("avg_tokens_per_sec", ("", "avg", "tokens")),
        ("eval/local_samples_per_sec", ("eval", "local", "samples")),
        ("a/b/avg_steps_per_sec", ("a/b", "avg", "steps")),
    ],
)
def test_tags_of_rates_say_series_rate_and_unit(tag: str, want: tuple[str, str, str]) -> None:
    assert rate_tag(tag) == want
