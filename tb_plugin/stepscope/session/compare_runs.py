"""Any number of runs side by side: their figures, how they differ from the baseline, and why in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.errors import NotFound, OptionError
from stepscope.exporting.notebook import HtmlTable, data_frame
from stepscope.exporting.quantities import quantity
from stepscope.lenses.lens import Row
from stepscope.lenses.trace.categories import DEVICE_CATEGORIES, Category
from stepscope.session.causes import causes
from stepscope.session.run_figures import RunFigures, figures_of, steps_mean
from stepscope.session.source import Source
from stepscope.statistics import Comparison, Mean, compare_means

MOST_RUNS = 50
MOST_ROWS = 200
ALPHA = 0.05
_NARROW_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
_MOST_OF_IT = 0.8
_LEAST_STEPS = 50
_WORDS = {"input wait": "waiting for input"}


@dataclass(frozen=True, eq=False)
class RunsComparison(HtmlTable):
    """What `stepscope.compare` answers.

    Attributes:
        runs: The runs, the baseline first, then from fast to slow.
        comparisons: Of each run's step time with the baseline's; None for the baseline and where unknown.
        spread: The scatter of repeated runs that was assumed, as a share.
    """

    runs: tuple[RunFigures, ...]
    comparisons: tuple[Comparison | None, ...]
    spread: float

    def rows(self) -> list[Row]:
        """One row for each run."""
        rows = [
            _row(run, comparison)
            for run, comparison in zip(self.runs, self.comparisons, strict=True)
        ]
        rows[0]["verdict"] = "baseline"
        return rows

    def sentences(self) -> list[str]:
        """One or more sentences for each run that differs from the baseline."""
        sentences = []
        for run, comparison in zip(self.runs[1:], self.comparisons[1:], strict=True):
            if comparison is not None:
                sentences.append(_sentence(run, self.runs[0], comparison))
        return sentences

    def scopes(self, limit: int = MOST_ROWS) -> list[Row]:
        """Time per step of phases and call paths, a column for each run, the largest spread first.

        Paths that a run does not have are null in its column.
        """
        return _aligned(self.runs)[:limit]

    def to_json(self) -> dict[str, Any]:
        """The document."""
        return {
            "baseline": self.runs[0].title,
            "runs": self.rows(),
            "sentences": self.sentences(),
            "scopes": self.scopes(),
            "assumed_run_spread": self.spread,
        }

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame. Needs pandas."""
        return data_frame(self.rows())


def compare_runs(
    sources: Sequence[Source], *, baseline: str | None = None, run_spread: float = 0.0
) -> RunsComparison:
    """Compares all runs of one or more sources with a baseline.

    Args:
        sources: Opened sources.
        baseline: Name of the baseline run; the one with the shortest step when None.
        run_spread: Scatter of repeated runs as a share. At 0 a difference is sure of these runs alone: repeating
            them may give another one.

    Raises:
        OptionError: More than 50 runs.
        NotFound: No run has a step time, or none is the baseline.
    """
    runs: list[RunFigures] = []
    for source in sources:
        runs.extend(figures_of(source))
    if len(runs) > MOST_RUNS:
        raise OptionError(
            f"at most {MOST_RUNS} runs can be compared: {len(runs)}",
            remedy="Select fewer with --run",
        )
    timed = [run for run in runs if "step_time" in run.metrics]
    if not timed:
        raise NotFound(
            "step time not found in any run", remedy="Log steps, or profile several of them"
        )
    # The best run is the fastest.
    timed.sort(key=lambda run: run.metrics["step_time"].value)
    base = timed[0] if baseline is None else _named(timed, baseline)
    others = [run for run in timed if run is not base]
    untimed = [run for run in runs if "step_time" not in run.metrics]
    comparisons: list[Comparison | None] = [None]
    for run in others:
        mine = [run.metrics["step_time"]]
        theirs = [base.metrics["step_time"]]
        comparisons.append(compare_means(mine, theirs, alpha=ALPHA, assumed_spread=run_spread))
    comparisons.extend(None for _ in untimed)
    return RunsComparison(
        runs=(base, *others, *untimed), comparisons=tuple(comparisons), spread=run_spread
    )


def _named(runs: Sequence[RunFigures], name: str) -> RunFigures:
    for run in runs:
        if name in (run.run, run.title):
            return run
    raise NotFound(
        f"baseline run not found: {name}",
        remedy=f"Choose from {', '.join(run.title for run in runs[:8])}",
    )


def _row(run: RunFigures, comparison: Comparison | None) -> Row:
    step = run.metrics.get("step_time")
    low, high = step.interval() if step is not None else (math.nan, math.nan)
    rate = run.metrics.get("rate_with_waits")
    memory = run.metrics.get("peak_memory")
    known = comparison is not None and comparison.known
    row: Row = {
        "run": run.title,
        "rate_per_sec": rate.value if rate is not None else None,
        "unit": run.environment.get("unit"),
        "step_ns": step.value if step is not None else None,
        "step_low_ns": _number(low),
        "step_high_ns": _number(high),
    }
    row |= _parts(run)
    row |= {
        "peak_memory_bytes": memory.value if memory is not None else None,
        "difference": comparison.difference if comparison is not None else None,
        "difference_low": comparison.low if comparison is not None and known else None,
        "difference_high": comparison.high if comparison is not None and known else None,
        "verdict": _verdict(comparison),
    }
    return row


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _verdict(comparison: Comparison | None) -> str:
    if comparison is None:
        return "no step time"
    words = {
        "higher": "slower",
        "lower": "faster",
        "indistinguishable": "no difference",
        "unknown": "too short",
    }
    return words[comparison.verdict]


def _parts(run: RunFigures) -> Row:
    """Time per step by what it is spent on, ns; None where no profile and no span says it.

    Device is time in which kernels or copies run; host-bound idle is host work while none does.
    """
    wait = run.phases.get("data")
    if not run.parts:
        parts = dict.fromkeys(
            ("device_ns", "host_ns", "input_wait_ns", "communication_ns", "other_ns")
        )
        return parts | {"input_wait_ns": wait.value if wait is not None else None}
    parts_ns = {name: mean.value for name, mean in run.parts.items()}
    communication = Category.COMMUNICATION
    device = [part.label for part in DEVICE_CATEGORIES if part is not communication]
    host = [part.label for part in (Category.RUNTIME, Category.CPU)]
    return {
        "device_ns": sum(parts_ns[name] for name in device),
        "host_ns": sum(parts_ns[name] for name in host),
        "input_wait_ns": parts_ns[Category.DATA_LOADER.label],
        "communication_ns": parts_ns[communication.label],
        "other_ns": parts_ns[Category.OTHER.label],
    }


def _sentence(run: RunFigures, base: RunFigures, comparison: Comparison) -> str:
    """`d-stalls: 42 % slower than a-good. 93 % of it lies in 10 % of the steps, waiting for input.`"""
    amount = abs(comparison.difference)
    if comparison.verdict == "unknown":
        return f"{run.title}: too few steps to compare with {base.title}."
    if not comparison.differs:
        return f"{run.title}: no difference from {base.title} beyond the noise of its steps."
    word = "slower" if comparison.difference > 0 else "faster"
    first = f"{run.title}: {100 * amount:.3g} % {word} than {base.title}."
    if comparison.difference < 0:
        return first
    where = _concentration(run, base)
    reasons = [cause for cause in causes([run], [base], alpha=ALPHA) if cause.share >= 0.3]
    reason = ""
    if reasons:
        cause = reasons[0]
        reason = _WORDS.get(cause.name, f"in {cause.name}")
    if where is None:
        if not reasons:
            return first
        return f"{first} {100 * min(reasons[0].share, 1.0):.0f} % of it is {reason}."
    share, steps = where
    tail = f", {reason}" if reason else ""
    return f"{first} {100 * share:.0f} % of it lies in {100 * steps:.0f} % of the steps{tail}."


def _concentration(run: RunFigures, base: RunFigures) -> tuple[float, float] | None:
    """The share of the difference that lies in the slowest few steps, and which share of the steps those are."""
    if min(len(run.steps_ns), len(base.steps_ns)) < _LEAST_STEPS:
        return None
    usual = float(base.steps_ns.mean())
    excess = np.sort(run.steps_ns - usual)[::-1]
    whole = float(excess.sum())
    if whole <= 0.0:
        return None
    for share in _NARROW_SHARES:
        count = max(round(share * len(excess)), 1)
        held = float(excess[:count].sum()) / whole
        if held >= _MOST_OF_IT:
            return min(held, 1.0), share
    return None


def _aligned(runs: Sequence[RunFigures]) -> list[Row]:
    """Rows by phase and call path, with the time per step of each run."""
    tables = [_times(run) for run in runs]
    keys: dict[tuple[str, str], None] = {}
    for table in tables:
        keys.update(dict.fromkeys(table))
    rows: list[tuple[float, Row]] = []
    for kind, name in keys:
        values = [table[kind, name].value if (kind, name) in table else None for table in tables]
        present = [value or 0.0 for value in values]
        spread = max(present) - min(present)
        some = "some runs" if None in values else "all runs"
        row: Row = {"kind": kind, "name": name, "spread_ns": spread, "in": some}
        row["values_ns"] = values
        rows.append((spread, row))
    rows.sort(key=lambda item: -item[0])
    return [row for _, row in rows]


def _times(run: RunFigures) -> dict[tuple[str, str], Mean]:
    times = {("phase", name): mean for name, mean in run.phases.items()}
    for kind, paths in (("host", run.host), ("device", run.device)):
        for path, cost in paths.items():
            times[kind, "/".join(path)] = steps_mean(cost)
    return times


def summary_rows(comparison: RunsComparison) -> list[Row]:
    """The rows in words, for people."""
    rows = []
    for row in comparison.rows():
        unit = row["unit"] or "samples"
        shown: Row = {"run": row["run"], "rate": quantity(row["rate_per_sec"], "per_sec", unit)}
        shown["step time"] = _interval_words(row)
        for part in ("device", "host", "input_wait", "communication", "other"):
            shown[part.replace("_", " ")] = (
                quantity(row[f"{part}_ns"], "ns") if row[f"{part}_ns"] is not None else ""
            )
        memory = row["peak_memory_bytes"]
        shown["peak memory"] = quantity(memory, "bytes") if memory is not None else ""
        shown["difference"] = _difference_words(row)
        shown["verdict"] = row["verdict"]
        rows.append(shown)
    return rows


def _interval_words(row: Row) -> str:
    text = quantity(row["step_ns"], "ns")
    if row["step_low_ns"] is None or not row["step_ns"]:
        return text
    half = (row["step_high_ns"] - row["step_low_ns"]) / 2 / row["step_ns"]
    return f"{text} ±{100 * half:.1f} %"


def _difference_words(row: Row) -> str:
    if row["difference"] is None:
        return ""
    text = f"{100 * row['difference']:+.1f} %"
    if row["difference_low"] is None:
        return text
    return f"{text} ({100 * row['difference_low']:+.1f} to {100 * row['difference_high']:+.1f})"
