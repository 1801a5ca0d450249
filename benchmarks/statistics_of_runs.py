"""Measures how the statistics of runs do on simulated runs, and writes the tables of docs/check.md.

Run from the project's root: python benchmarks/statistics_of_runs.py [--write]. It takes a few minutes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tb_plugin")]

from simulated_runs import Loop  # noqa: E402

from stepscope.statistics import Mean, change_points, compare_means, ratio_of_sums  # noqa: E402

COMPARISONS = 2000
SERIES = 200
RUNS = 500
ALPHA = 0.01
CHUNK = 250
"""Runs made at once: they stay in the processor's cache."""
SLOWDOWN = 0.03
SIDES = ((1, 1), (1, 5), (5, 5), (5, 20))
LOOPS = {
    "training loop": Loop(),
    "quiet accelerator": Loop(
        spread=0.003,
        correlation=0.0,
        noise=0.0006,
        tail_share=0.025,
        tail=0.06,
        stall_every=0,
        drift=0.0,
    ),
    "correlated, drifting": Loop(spread=0.008, correlation=0.9, noise=0.06, drift=0.01),
    "shared processor": Loop(spread=0.015, correlation=0.2, noise=0.2, tail_share=0.05, tail=0.5),
}
BEGIN = "<!-- made by benchmarks/statistics_of_runs.py -->"
END = "<!-- end -->"


def means(loop: Loop, rng: np.random.Generator, runs: int, slowdown: float = 0.0) -> list[Mean]:
    """The measured means of simulated runs."""
    measured: list[Mean] = []
    while len(measured) < runs:
        chunk = min(CHUNK, runs - len(measured))
        measured += [ratio_of_sums(run) for run in loop.runs(rng, chunk, slowdown)]
    return measured


def comparisons_table() -> list[str]:
    """False alarms, what is found, and coverage, for each kind of loop and number of runs."""
    lines = [
        "| loop | new against baseline | false alarms | 3 % slowdown found | 95 % interval covers |",
        "|---|---|---:|---:|---:|",
    ]
    for name, loop in LOOPS.items():
        for candidates, baselines in SIDES:
            rng = np.random.default_rng(1000 * candidates + baselines)
            new = means(loop, rng, COMPARISONS * candidates)
            slow = means(loop, rng, COMPARISONS * candidates, SLOWDOWN)
            base = means(loop, rng, COMPARISONS * baselines)
            alarms = found = covered = 0
            for number in range(COMPARISONS):
                mine = new[number * candidates : (number + 1) * candidates]
                slower = slow[number * candidates : (number + 1) * candidates]
                theirs = base[number * baselines : (number + 1) * baselines]
                alarms += compare_means(mine, theirs, alpha=ALPHA).differs
                found += compare_means(slower, theirs, alpha=ALPHA).verdict == "higher"
                interval = compare_means(slower, theirs, alpha=0.05)
                covered += interval.low <= SLOWDOWN <= interval.high
            cells = [f"{count / COMPARISONS:.1%}" for count in (alarms, found, covered)]
            # One run a side has an assumed scatter: its interval is as wide as that.
            cells[2] += " (assumed)" if candidates + baselines < 5 else ""
            lines.append(f"| {name} | {candidates} against {baselines} | {' | '.join(cells)} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return lines


def means_table() -> list[str]:
    """How often the 95 % interval of one run's step time holds the truth."""
    lines = ["| loop | 100 steps | 400 steps | 2,000 steps |", "|---|---:|---:|---:|"]
    for name, loop in LOOPS.items():
        cells = []
        for steps in (100, 400, 2000):
            still = Loop(**{**loop.__dict__, "spread": 0.0, "drift": 0.0, "steps": steps})
            rng = np.random.default_rng(steps)
            covered = 0
            for mean in means(still, rng, COMPARISONS):
                low, high = mean.interval(0.95)
                covered += low <= still.mean <= high
            cells.append(f"{covered / COMPARISONS:.1%}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def changes_table() -> list[str]:
    """Where changes are found among 500 runs, beside who knows both levels and the noise."""
    lines = [
        "| step / noise | within one run | best possible | interval holds it | false changes | seconds |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for size in (1.0, 2.0, 3.0, 4.0):
        rng = np.random.default_rng(int(size))
        near = best = covered = extra = 0
        began = time.perf_counter()
        for _ in range(SERIES):
            values = rng.standard_normal(RUNS)
            truth = int(rng.integers(25, RUNS - 25))
            values[truth:] += size
            changes = change_points(values)
            extra += max(len(changes) - 1, 0)
            if changes:
                nearest = min(changes, key=lambda change: abs(change.index - truth))
                near += abs(nearest.index - truth) <= 1
                covered += nearest.low <= truth <= nearest.high
            # Who knows the levels 0 and size places the change where the likelihood is highest.
            likelihood = np.concatenate([[0.0], np.cumsum(size / 2.0 - values)])
            best += abs(int(np.argmax(likelihood)) - truth) <= 1
        seconds = (time.perf_counter() - began) / SERIES
        cells = [f"{count / SERIES:.1%}" for count in (near, best, covered)]
        lines.append(f"| {size:g} | {' | '.join(cells)} | {extra / SERIES:.3f} | {seconds:.3f} |")
    return lines


def main() -> None:
    tables = [
        "Comparisons of runs of 400 steps, 2,000 of each kind, alpha 0.01:",
        "",
        *comparisons_table(),
        "",
    ]
    tables += ["Step time of one run, 2,000 runs of each kind:", "", *means_table(), ""]
    tables += [
        f"Changes of level among {RUNS} runs, {SERIES} series of each kind:",
        "",
        *changes_table(),
    ]
    text = "\n".join(tables)
    print(text)
    if "--write" in sys.argv:
        page = ROOT / "docs" / "check.md"
        head, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        tail = rest.partition(END)[2]
        page.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
