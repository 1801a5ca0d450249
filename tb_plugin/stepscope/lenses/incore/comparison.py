"""Two in-core results side by side: phase by phase, and pair by pair where they hold runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepscope.lenses.incore.collective import DURATIONS
from stepscope.lenses.incore.compared_runs import RunFigure, RunKey, run_figures
from stepscope.lenses.incore.exactness import median_x2
from stepscope.lenses.incore.options import InCoreOptions
from stepscope.lenses.incore.result import InCoreResult

Figures = dict[str, Any]


@dataclass(frozen=True)
class ComparisonRow:
    """A phase or figure in both results; None where one does not have it.

    Attributes:
        run: The pair or run of which it is a part; None for a phase of the record's invocations.
    """

    key: str
    a: Figures | None
    b: Figures | None
    run: RunKey | None = None

    def to_json(self) -> dict[str, Any]:
        """The row; delta is a - b."""
        both = self.a is not None and self.b is not None
        delta = {"cycles_x2": self.a["cycles_x2"] - self.b["cycles_x2"]} if self.a and self.b else None
        state = "both" if both else "added" if self.b is None else "removed"
        row = {"key": self.key, "a": self.a, "b": self.b, "delta": delta, "state": state}
        return row if self.run is None else row | {self.run.kind: self.run.number, "phase": self.run.phase}


@dataclass(frozen=True)
class Comparison:
    """Two results side by side.

    Attributes:
        a: What the first is called.
        b: What the second is called.
        same_clock: Whether cycles of both have one length. Where not, their difference means nothing in time.
    """

    a: str
    b: str
    rows: tuple[ComparisonRow, ...]
    same_clock: bool

    def to_json(self, limit: int | None = None) -> dict[str, Any]:
        """The document of the comparison. Its rows are few: the limit is for trees, and changes nothing."""
        unmatched = sum(row.a is None or row.b is None for row in self.rows)
        return {
            "a": self.a,
            "b": self.b,
            "rows": [row.to_json() for row in self.rows],
            "unmatched_share": unmatched / len(self.rows) if self.rows else 0.0,
            "same_clock": self.same_clock,
        }


def compare(a: InCoreResult, b: InCoreResult, options: InCoreOptions | None = None) -> Comparison:
    """Aligns two results by phase name, and their runs by pair.

    A phase's figure is twice the median over the usable invocations, a run's twice its length: both are exact.
    """
    mine, other = _figures(a), _figures(b)
    keys = [*mine, *(key for key in other if key not in mine)]
    rows = [ComparisonRow(key, mine.get(key), other.get(key)) for key in keys]
    return Comparison(_name(a), _name(b), (*rows, *_runs(a, b)), a.record.clock_freq_hz == b.record.clock_freq_hz)


def _runs(a: InCoreResult, b: InCoreResult) -> list[ComparisonRow]:
    mine, other = run_figures(a, b), run_figures(b, a)
    keys = sorted(dict.fromkeys([*mine, *other]), key=lambda key: (key.kind, key.number))
    return [ComparisonRow(str(key), _of_run(mine.get(key)), _of_run(other.get(key)), key) for key in keys]


def _of_run(figure: RunFigure | None) -> Figures | None:
    return None if figure is None else {"cycles_x2": 2 * figure.cycles, "n": 1, **figure.setup}


def _name(result: InCoreResult) -> str:
    record = result.record
    return record.title or record.header.run or record.header.source or record.variant


def _figures(result: InCoreResult) -> dict[str, Figures]:
    if result.phases is None:
        return {}
    phases, usable = result.phases, result.phases.verdict.usable
    columns = dict(zip([*phases.names, "total"], [*phases.cycles.T, phases.total], strict=True))
    if phases.collective:
        columns.update({name: getattr(phases.collective, name) for name in DURATIONS})
    found = {name: (median_x2(column[usable]), int(usable.sum())) for name, column in columns.items()}
    return {name: {"cycles_x2": twice, "n": count} for name, (twice, count) in found.items() if twice is not None}
