from __future__ import annotations

import pytest

from stepscope.findings.format_time import time_words


@pytest.mark.parametrize(
    ("micros", "words"),
    [
        (0, "0 µs"),
        (0.25, "0.25 µs"),
        (12, "12 µs"),
        (999.4, "999 µs"),
        (999.5, "1 ms"),
        (2_990, "2.99 ms"),
        (999_600, "1 s"),
        (3e6, "3 s"),
        (1.5e9, "1,500 s"),
    ],
)
def test_a_time_is_said_to_three_digits_in_the_unit_that_fits(micros: float, words: str) -> None:
    assert time_words(micros) == words
