"""In-core envelopes of 1,000 invocations x 75 cores: the lens beside the same reduction in plain numpy.

Run: python benchmarks/incore_envelope.py [INVOCATIONS]

The peer computes the five boundaries and four phases with as little numpy as they need, and checks nothing; no other
tool computes them. The lens also validates every row, diagnoses the collective, and makes the document.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from stepscope.lenses.incore import analyze
from stepscope.model.incore_timing import from_timing

COLUMNS = {
    "entry": 0,
    "producer_done": 1,
    "collective_arrival": 2,
    "collective_release": 3,
    "body_done": 4,
}
SLOTS, ROUNDS = 75, 15


def stamps(invocations: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(7)
    entry = (
        86_702_071_000_000
        + np.arange(invocations)[:, None] * 100_000
        + random.integers(0, 100, (invocations, SLOTS))
    )
    done = entry + random.integers(3_000, 5_000, entry.shape)
    arrival = done + random.integers(0, 300, entry.shape)
    release = arrival.max(axis=1, keepdims=True) + random.integers(60, 100, entry.shape)
    end = release + random.integers(2_000, 4_000, entry.shape)
    generation = np.broadcast_to(np.arange(invocations)[:, None] + 1000, entry.shape)
    empty = np.zeros_like(entry)
    return np.stack([entry, done, arrival, release, end, generation, empty, empty], axis=2)


def peer(timing: np.ndarray[Any, Any], producers: list[int]) -> np.ndarray[Any, Any]:
    first, last = timing.min(axis=1), timing.max(axis=1)
    produced = timing[:, producers, 1].max(axis=1)
    edges = np.stack([first[:, 0], produced, last[:, 2], first[:, 3], last[:, 4]], axis=1)
    return np.diff(edges, axis=1)


def median_ms(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def main() -> None:
    invocations = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    timing, producers = stamps(invocations), list(range(25, SLOTS))
    generation = {"column": 5, "expected": {"base": 1000, "per_invocation": 1}}
    record = from_timing(
        timing,
        columns=COLUMNS,
        producers=producers,
        generation=generation,
        clock_freq_hz=50_000_000,
    )
    found = analyze(record).to_json()
    assert [row[:4] for row in found["per_invocation"]] == peer(timing, producers).tolist()
    times = {
        "plain_numpy_ms": median_ms(lambda: peer(timing, producers)),
        "analyze_ms": median_ms(lambda: analyze(record)),
        "document_ms": median_ms(analyze(record).to_json),
    }
    whole = times["analyze_ms"] + times["document_ms"]
    rounded = {name: round(value, 2) for name, value in times.items()}
    print(
        json.dumps(
            {
                "invocations": invocations,
                "slots": SLOTS,
                **rounded,
                "ratio": round(whole / times["plain_numpy_ms"], 2),
            }
        )
    )


if __name__ == "__main__":
    main()
