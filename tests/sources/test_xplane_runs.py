"""Members of a run are found where a walk one by one finds them, or not at all."""

from __future__ import annotations

import random

import pytest
from xplane_builder import event, length_delimited

from stepscope.sources.xplane import runs as xplane_runs
from stepscope.sources.xplane.runs import find_run


def _events(count: int, seed: int) -> list[bytes]:
    """Events whose stats look like events themselves."""
    chance = random.Random(seed)
    stats = [length_delimited(4, b'"' * chance.randint(0, 200)) for _ in range(50)]
    return [
        event(
            chance.randint(0, 300),
            chance.randint(0, 2**45),
            5,
            b"".join(chance.choices(stats, k=chance.randint(0, 3))),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_a_run_is_cut_where_it_should_be(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(xplane_runs, "LEAST_BYTES", 0)
    monkeypatch.setattr(xplane_runs, "LANES", 17)
    bodies = _events(400, seed)
    head, tail = b"\x08\x03", b"\x48\x07\x5a\x02ab"
    found = find_run(
        head + b"".join(length_delimited(4, body) for body in bodies) + tail, len(head), 4
    )
    assert found is not None
    messages, after = found
    cut = [messages.data[a:b].tobytes() for a, b in zip(messages.start, messages.end, strict=True)]
    assert cut == bodies
    assert after == len(head) + sum(len(length_delimited(4, body)) for body in bodies)


def test_plain_events_are_found_in_one_go() -> None:
    bodies = [event(i % 90, i * 10**6, 12345) for i in range(40_000)]
    found = find_run(b"".join(length_delimited(4, body) for body in bodies), 0, 4)
    assert found is not None
    assert len(found[0]) == len(bodies)


def test_few_bytes_and_broken_runs_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    run = b"".join(length_delimited(4, event(1, 2, 3)) for _ in range(100))
    assert find_run(run, 0, 4) is None
    monkeypatch.setattr(xplane_runs, "LEAST_BYTES", 0)
    assert find_run(run[:-2], 0, 4) is None
    assert find_run(run + length_delimited(4, bytes(1 << 14)) + run, 0, 4) is None
