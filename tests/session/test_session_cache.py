"""What an opened source keeps, and what it lets go."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from stepscope.model.profile import Nodes, Profile
from stepscope.session.cache import Cache, record_bytes


def test_a_value_is_made_once() -> None:
    cache, made = Cache(10), []
    assert [cache.get("a", lambda: made.append(1) or len(made)) for _ in range(3)] == [1, 1, 1]


def test_what_was_asked_for_longest_ago_goes_first() -> None:
    cache, made = Cache(2), []
    for key in ("a", "b", "a", "c", "a", "b"):
        cache.get(key, lambda key=key: made.append(key))
    assert made == ["a", "b", "c", "b"]


def test_values_together_stay_within_the_budget_but_the_newest_is_kept() -> None:
    cache, made = Cache(100, len), []

    def make(size: int) -> bytes:
        made.append(size)
        return bytes(size)

    for size in (60, 50, 60, 500, 500):
        cache.get(size, lambda size=size: make(size))
    assert made == [60, 50, 60, 500]


def test_a_failure_is_not_kept() -> None:
    cache, answers = Cache(2), iter([ValueError(), 7])

    def make() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    try:
        cache.get("a", make)
    except ValueError:
        assert cache.get("a", make) == 7


def test_keys_of_failures_do_not_gather() -> None:
    cache = Cache(2)
    for key in range(10):
        with pytest.raises(ZeroDivisionError):
            cache.get(key, lambda: 1 // 0)
    assert not cache._cells


def test_a_slow_value_does_not_keep_another_from_being_read() -> None:
    cache, started, go_on = Cache(4), threading.Event(), threading.Event()

    def slow() -> str:
        started.set()
        assert go_on.wait(10)
        return "slow"

    thread = threading.Thread(target=lambda: cache.get("slow", slow))
    thread.start()
    assert started.wait(10)
    assert cache.get("quick", lambda: "quick") == "quick"
    go_on.set()
    thread.join(10)
    assert cache.get("slow", lambda: "made again") == "slow"


def test_a_record_costs_what_its_columns_take() -> None:
    small, large = (Profile(nodes=Nodes(name=np.arange(n, dtype=np.int32))) for n in (10, 1000))
    assert record_bytes(large) - record_bytes(small) >= 990 * 4
