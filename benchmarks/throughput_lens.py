"""The rates of a long run, beside a RateTracker that is asked the same questions one by one, in the same process.

python benchmarks/throughput_lens.py [marks]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import stepscope
from stepscope.lenses.throughput import ThroughputOptions, analyze
from stepscope.lenses.throughput.rates import questions, rates
from stepscope.model.throughput import Marks, Samples, Throughput


def record_of(marks: int) -> Throughput:
    generator = np.random.default_rng(0)
    step = np.arange(1, marks + 1)
    time_ns = np.cumsum(generator.integers(1, 10**6, marks))
    return Throughput(
        start_ns=0,
        marks=Marks(step=step, time_ns=time_ns, count=np.full(marks, 32)),
        samples=Samples(step=step, time_ns=time_ns, mark_end=step),
    )


def tracked(record: Throughput) -> float:
    now = [0]
    tracker = stepscope.RateTracker(record.smoothing, lambda: now[0])
    last = 0.0
    for at, count in zip(record.marks.time_ns.tolist(), record.marks.count.tolist(), strict=True):
        now[0] = at
        tracker.add(count)
        last = tracker.rate()
        tracker.global_rate()
    return last


def main() -> None:
    record = record_of(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    options = ThroughputOptions(points=4000)
    work = {
        "RateTracker, one by one": lambda: tracked(record),
        "both rates of all questions": lambda: rates(
            record, questions(record, options), record.smoothing
        ),
        "the whole answer": lambda: analyze(record, options),
        "the whole answer as a document": lambda: analyze(record, options).to_json(),
    }
    best = {}
    for title, call in work.items():
        costs = []
        for _ in range(1 if title.startswith("Rate") else 7):
            before = time.process_time()
            call()
            costs.append(time.process_time() - before)
        best[title] = min(costs)
    peer = best["RateTracker, one by one"]
    print(f"{len(record.marks)} marks, each asked{'':12}{'CPU ms':>10}{'of tracker':>12}")
    for title, cost in best.items():
        print(f"{title:36}{cost * 1000:10.1f}{cost / peer:12.3f}")


if __name__ == "__main__":
    main()
