"""How often planted causes of slowness are found, and how often a run without one is said to have one.

    python benchmarks/throughput_causes.py [--series 10000] [--logs FOLDER]

Noise is that of real runs where FOLDER has console logs (`log_*.txt` with stamps), else autoregressive noise of the
same size. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from datetime import datetime
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from planted_series import FALSE, KINDS, autoregressive, found_share, plant, resampled

from stepscope.lenses.throughput import analyze

STEADY = ("log_00", "log_03", "log_04", "log_05", "log_06", "log_14", "log_17", "log_19")
"""Logs of one speed: without blocks, and with their checkpoints cut out below."""
FARTHEST = 1.5


def real_ratios(folder: Path) -> list[np.ndarray]:
    """Log intervals of real runs over their medians."""
    ratios = []
    for name in STEADY:
        text = (folder / f"{name}.txt").read_text(encoding="utf-8")
        stamps = re.findall(
            r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) .*\| Train .*Rate=", text, re.MULTILINE
        )
        times = [datetime.fromisoformat(whole).timestamp() + int(ms) / 1000 for whole, ms in stamps]
        passed = np.diff(times)[1:]
        if len(passed) < 8:
            continue
        ratio = passed / np.median(passed)
        ratios.append(ratio[(ratio > 1 / FARTHEST) & (ratio < FARTHEST)])
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--series", type=int, default=10_000)
    parser.add_argument("--logs", type=Path, help="a folder with log_*.txt")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="say which series were misjudged")
    arguments = parser.parse_args()
    ratios = real_ratios(arguments.logs) if arguments.logs else []
    random = np.random.default_rng(arguments.seed)
    noises = [
        autoregressive(amount, alike, 0.004)
        for amount in (0.01, 0.03, 0.06)
        for alike in (0.0, 0.7)
    ]
    if ratios:
        noises += [resampled(ratios)] * 6
    rows = {cause: [0, 0, 0, 0, []] for cause in KINDS}
    begin = time.perf_counter()
    for number in range(arguments.series):
        # A third of the runs has no cause.
        causes = list(KINDS)
        cause = "nothing" if number % 3 == 0 else causes[1 + number // 3 % (len(causes) - 1)]
        noise = noises[int(random.integers(len(noises)))]
        cost = float(random.uniform(0.1, 0.4))
        planted = plant(cause, random, noise, cost)
        (series,) = analyze(planted.record).series
        kinds = {note.kind for note in series.annotations}
        training = series.statistics["training_only"]
        whole_ns = training["duration_ns"] + sum(training["left_out_ns"].values())
        row = rows[cause]
        row[0] += 1
        row[1] += bool(kinds & set(planted.kinds))
        row[2] += bool(kinds & set(FALSE) - set(planted.kinds))
        if planted.share and kinds & set(planted.kinds):
            share = found_share(planted, series.annotations, training["left_out_ns"], whole_ns)
            row[4].append(abs(share - planted.share))
            row[3] += abs(share - planted.share) <= 0.05
        if arguments.verbose and (
            kinds & set(FALSE) - set(planted.kinds) or not kinds & set(planted.kinds or kinds)
        ):
            print(cause, f"{cost:.2f}", sorted(kinds), len(planted.record.marks), file=sys.stderr)
    seconds = time.perf_counter() - begin
    print("| planted | series | found | share within 5 points | another cause named |")
    print("|---|---|---|---|---|")
    for cause, (count, found, false, near, errors) in rows.items():
        if not count:
            continue
        seen = f"{found / count:.1%}" if KINDS[cause] else "-"
        close = f"{near / len(errors):.1%}" if errors else "-"
        print(f"| {cause} | {count:,} | {seen} | {close} | {false / count:.1%} |")
    print(
        f"\n{arguments.series:,} series in {seconds:.0f} s, {seconds / arguments.series * 1000:.1f} ms each"
    )


if __name__ == "__main__":
    main()
