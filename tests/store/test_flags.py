"""What TensorBoard is asked to keep."""

from __future__ import annotations

from argparse import Namespace

import pytest

from stepscope.store.flags import set_sampling


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"stepscope": 1}),
        ({"scalars": 5}, {"scalars": 5, "stepscope": 1}),
        ({"stepscope": 0}, {"stepscope": 0}),
    ],
)
def test_the_last_value_of_each_tag_is_kept_unless_the_user_said_otherwise(
    given: dict[str, int], expected: dict[str, int]
) -> None:
    flags = Namespace(samples_per_plugin=given)
    set_sampling(flags)
    assert flags.samples_per_plugin == expected


def test_flags_of_another_version_of_tensorboard_are_left_alone() -> None:
    set_sampling(Namespace())
    set_sampling(Namespace(samples_per_plugin="scalars=5"))
