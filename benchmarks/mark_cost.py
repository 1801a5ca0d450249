"""What one throughput mark costs, beside one scalar of torch's and tensorboardX's writers, in the same process.

    python benchmarks/mark_cost.py [marks]

Prints the median and the 99th percentile of single calls in nanoseconds, without the cost of reading the clock, and the
ratio to torch's add_scalar.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median, quantiles

import stepscope


def call_costs(call: Callable[[int], object], calls: int) -> list[int]:
    clock = time.perf_counter_ns
    costs = []
    for step in range(calls):
        before = clock()
        call(step)
        costs.append(clock() - before)
    return costs


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    empty = median(call_costs(lambda step: None, calls))
    rows: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        with stepscope.Writer(f"{folder}/stepscope") as writer:
            rate = writer.throughput("train", log_every=10)
            rows["stepscope add, sampled every 10 steps"] = call_costs(
                lambda step: rate.add(32, step), calls
            )
            plain = writer.throughput("plain")
            rows["stepscope add"] = call_costs(lambda step: plain.add(32, step), calls)
        for name, module in (
            ("torch", "torch.utils.tensorboard"),
            ("tensorboardX", "tensorboardX"),
        ):
            try:
                peer = __import__(module, fromlist=["SummaryWriter"]).SummaryWriter(
                    f"{folder}/{name}"
                )
            except ImportError:
                print(f"{name}: not installed")
                continue
            with peer as summary:
                costs = call_costs(
                    lambda step, summary=summary: summary.add_scalar("rate", 1.0, step), calls // 10
                )
                rows[f"{name} add_scalar"] = costs
    base = median(rows.get("torch add_scalar", [1])) - empty
    print(f"{'':40}{'median ns':>12}{'p99 ns':>12}{'of torch':>10}")
    for title, costs in rows.items():
        middle, tail = median(costs) - empty, quantiles(costs, n=100)[98] - empty
        print(f"{title:40}{middle:12.0f}{tail:12.0f}{middle / base:10.3f}")


if __name__ == "__main__":
    main()
