"""Planted causes are named through noise of any kind, and noise alone is given no cause."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stepscope.lenses.throughput import analyze
from stepscope.model.columns import Strings
from stepscope.model.throughput import Marks, RateSamples, Spans, Throughput

F64 = np.ndarray[Any, np.dtype[np.float64]]
STEP_S = 0.1
STEPS = 1000
LOG = 20
WORDS = ["checkpoint", "evaluation", "data"]
Planted = tuple[F64, list[tuple[str, int, float]]]


def _alike(random: np.random.Generator, size: int, amount: float) -> F64:
    """Noise whose neighbours are alike, so that it does not average out."""
    noise, found = random.normal(0, amount * np.sqrt(1 - 0.8**2), size), np.zeros(size)
    for at in range(1, size):
        found[at] = 0.8 * found[at - 1] + noise[at]
    return 1 + found


NOISE: dict[str, Callable[[np.random.Generator, int, float], F64]] = {
    "normal": lambda random, size, amount: 1 + random.normal(0, amount, size),
    "skewed": lambda random, size, amount: np.exp(random.normal(0, amount, size)),
    "now and then twice": lambda random, size, amount: (
        (1 + random.normal(0, amount, size)) * np.where(random.random(size) < 0.01, 2.0, 1.0)
    ),
    "slowing down": lambda random, size, amount: (
        np.linspace(0.9, 1.2, size) * (1 + random.normal(0, amount, size))
    ),
    "alike": _alike,
}


def first_step(step: F64) -> Planted:
    step[0] += 8.0
    return np.zeros(len(step)), []


def pauses(kind: str, every: int, seconds: float) -> Callable[[F64], Planted]:
    """Pauses before every so manyth step, told as spans of a kind; untold where it is empty."""

    def plant(step: F64) -> Planted:
        before = np.zeros(len(step))
        before[every::every] = seconds
        return before, [
            (kind, at, seconds) for at in range(every, len(step), every)
        ] if kind else []

    return plant


def queued(kind: str) -> Callable[[F64], Planted]:
    """A pause during which results queue up, and their burst."""

    def plant(step: F64) -> Planted:
        before = np.zeros(len(step))
        before[500] = 120 * STEP_S
        step[500:620] *= 0.05
        return before, [(kind, 500, 120 * STEP_S)] if kind else []

    return plant


def data_wait(step: F64) -> Planted:
    return np.zeros(len(step)), [("data", at, 0.3 * float(step[at])) for at in range(len(step))]


def everything(step: F64) -> Planted:
    step[0] += 8.0
    before = np.zeros(len(step))
    before[[300, 500, 800]] = 12.0
    return before, [("checkpoint", 500, 12.0), ("evaluation", 800, 12.0)]


def nothing(step: F64) -> Planted:
    return np.zeros(len(step)), []


CAUSES: dict[str, tuple[Callable[[F64], Planted], set[str]]] = {
    "nothing": (nothing, set()),
    "a slow first step": (first_step, {"first_step"}),
    "two checkpoints": (pauses("checkpoint", 400, 5.0), {"checkpoint"}),
    "regular evaluations": (pauses("evaluation", 100, 5.0), {"evaluation"}),
    "one stall": (pauses("", 600, 12.0), {"stall"}),
    "regular stalls": (pauses("", 200, 12.0), {"stall"}),
    "long regular stalls": (pauses("", 200, 50.0), {"stall"}),
    "a checkpoint and its burst": (queued("checkpoint"), {"checkpoint", "burst"}),
    "an untold pause and its burst": (queued(""), {"burst"}),
    "a wait for data": (data_wait, {"data_wait"}),
    "all together": (everything, {"first_step", "stall", "checkpoint", "evaluation"}),
}


def series(step: F64, before: F64, told: list[tuple[str, int, float]], coarse: bool) -> Throughput:
    """Marks at each step, or only at log steps as in a console log."""
    time_ns = (np.cumsum(step + before) * 1e9).astype(np.int64)
    begins = np.concatenate([[0], time_ns[:-1]])
    rows = sorted(
        (WORDS.index(kind), int(begins[at]), int(begins[at] + seconds * 1e9))
        for kind, at, seconds in told
    )
    kind, start, end = np.array(sorted(rows, key=lambda row: row[1]), np.int64).reshape(-1, 3).T
    logged = np.arange(LOG - 1, len(step), LOG)
    marked = logged if coarse else np.arange(len(step))
    count = np.full(len(marked), 32 * (LOG if coarse else 1))
    return Throughput(
        start_ns=0,
        log_every=LOG,
        strings=Strings.of(WORDS),
        marks=Marks(step=marked + 1, time_ns=time_ns[marked], count=count),
        samples=RateSamples(
            step=logged + 1, time_ns=time_ns[logged], mark_end=np.searchsorted(marked, logged) + 1
        ),
        spans=Spans(kind=kind.astype(np.int32), start_ns=start, end_ns=end),
    )


def kinds(record: Throughput) -> set[str]:
    return {one.kind for one in analyze(record).series[0].annotations}


@pytest.mark.parametrize("coarse", [False, True], ids=["each step", "log steps"])
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("cause", CAUSES)
def test_a_planted_cause_is_named_and_no_other(cause: str, noise: str, coarse: bool) -> None:
    plant, want = CAUSES[cause]
    for amount in (0.01, 0.05, 0.1) if noise == "alike" else (0.01, 0.1, 0.2):
        random = np.random.default_rng(zlib.crc32(f"{cause} {noise} {amount}".encode()))
        step = STEP_S * np.maximum(NOISE[noise](random, STEPS, amount), 0.05)
        before, told = plant(step)
        drift = {"drift"} if noise == "slowing down" else set()
        assert kinds(series(step, before, told, coarse)) == want | drift, amount


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("size", [7, 10, 100])
@pytest.mark.parametrize("log", [5, 10, 20, 30, 100])
def test_blocks_are_found_with_their_size(size: int, log: int, noise: str) -> None:
    random = np.random.default_rng(zlib.crc32(f"{size} {log} {noise}".encode()))
    done = np.cumsum(STEP_S * np.maximum(NOISE[noise](random, 3000, 0.05), 0.05))
    at = np.arange(3000)
    arrived = done[np.minimum((at // size + 1) * size, 3000) - 1] + (at % size) * STEP_S / 1000
    logged = np.arange(log - 1, 3000, log)
    time_ns = (arrived * 1e9).astype(np.int64)
    (found, *others) = analyze(
        Throughput(
            start_ns=0,
            log_every=log,
            marks=Marks(step=at + 1, time_ns=time_ns, count=np.full(3000, 32)),
            samples=RateSamples(step=logged + 1, time_ns=time_ns[logged], mark_end=logged + 1),
        )
    ).series[0].annotations  # fmt: skip
    assert found.kind == ("aliasing" if log % size else "blocks")
    assert found.evidence["block_steps"] == size
    assert found.evidence["flat_steps"] == size
    assert [other.kind for other in others] == (["drift"] if noise == "slowing down" else [])


@pytest.mark.parametrize(("size", "log"), [(30, 20), (40, 20), (70, 20), (150, 100)])
def test_blocks_that_only_log_intervals_show_are_found_by_their_arrivals(
    size: int, log: int
) -> None:
    at = np.arange(6000)
    random = np.random.default_rng(size)
    done = np.cumsum(STEP_S * (1 + random.normal(0, 0.02, 6000)))
    arrived = done[np.minimum((at // size + 1) * size, 6000) - 1] + (at % size) * STEP_S / 1000
    logged = np.arange(log - 1, 6000, log)
    time_ns = (arrived[logged] * 1e9).astype(np.int64)
    marks = Marks(step=logged + 1, time_ns=time_ns, count=np.full(len(logged), 32 * log))
    samples = RateSamples(step=logged + 1, time_ns=time_ns, mark_end=np.arange(1, len(logged) + 1))
    (found,) = (
        analyze(Throughput(start_ns=0, log_every=log, marks=marks, samples=samples))
        .series[0]
        .annotations
    )
    assert (found.kind, found.evidence["flat_steps"]) == ("aliasing", size)
