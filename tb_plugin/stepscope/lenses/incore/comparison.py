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
        delta = None
        if self.b is None:
            state = "added"
        elif self.a is None:
            state = "removed"
        else:
            state = "both"
            delta = {"cycles_x2": self.a["cycles_x2"] - self.b["cycles_x2"]}
        row: dict[str, Any] = {
            "key": self.key,
            "a": self.a,
            "b": self.b,
            "delta": delta,
            "state": state,
        }
        if self.run is not None:
            row[self.run.kind] = self.run.number
            row["phase"] = self.run.phase
        return row


@dataclass(frozen=True)
class Comparison:
    """Two results side by side.

    Attributes:
        a: Name of the first.
        b: Name of the second.
        same_clock: Whether cycles of both have one length. If not, their difference is not a time.
    """

    a: str
    b: str
    rows: tuple[ComparisonRow, ...]
    same_clock: bool

    def to_json(self, limit: int | None = None) -> dict[str, Any]:
        """The document of the comparison. The limit is for trees; these rows are few."""
        unmatched_share = 0.0
        if self.rows:
            unmatched = sum(row.a is None or row.b is None for row in self.rows)
            unmatched_share = unmatched / len(self.rows)
        return {
            "a": self.a,
            "b": self.b,
            "rows": [row.to_json() for row in self.rows],
            "unmatched_share": unmatched_share,
            "same_clock": self.same_clock,
        }


def compare(a: InCoreResult, b: InCoreResult, options: InCoreOptions | None = None) -> Comparison:
    """Aligns two results by phase name, and their runs by pair.

    A phase has twice the median over its usable invocations, a run twice its length: both are exact.
    """
    figures_of_a = _figures(a)
    figures_of_b = _figures(b)
    rows = []
    for key in dict.fromkeys([*figures_of_a, *figures_of_b]):
        rows.append(ComparisonRow(key, figures_of_a.get(key), figures_of_b.get(key)))
    rows += _runs(a, b)
    return Comparison(
        a=_name(a),
        b=_name(b),
        rows=tuple(rows),
        same_clock=a.record.clock_freq_hz == b.record.clock_freq_hz,
    )


def _runs(a: InCoreResult, b: InCoreResult) -> list[ComparisonRow]:
    runs_of_a = run_figures(a, b)
    runs_of_b = run_figures(b, a)
    keys = list(dict.fromkeys([*runs_of_a, *runs_of_b]))
    keys.sort(key=lambda key: (key.kind, key.number))
    rows = []
    for key in keys:
        row = ComparisonRow(
            key=str(key),
            a=_of_run(runs_of_a.get(key)),
            b=_of_run(runs_of_b.get(key)),
            run=key,
        )
        rows.append(row)
    return rows


def _of_run(figure: RunFigure | None) -> Figures | None:
    if figure is None:
        return None
    return {"cycles_x2": 2 * figure.cycles, "n": 1, **figure.setup}


def _name(result: InCoreResult) -> str:
    record = result.record
    return record.title or record.header.run or record.header.source or record.variant


def _figures(result: InCoreResult) -> dict[str, Figures]:
    if result.phases is None:
        return {}
    phases = result.phases
    columns = dict(zip(phases.names, phases.cycles.T, strict=True))
    columns["total"] = phases.total
    if phases.collective:
        for name in DURATIONS:
            columns[name] = getattr(phases.collective, name)

    usable = phases.verdict.usable
    count = int(usable.sum())
    figures = {}
    for name, column in columns.items():
        cycles_x2 = median_x2(column[usable])
        if cycles_x2 is not None:
            figures[name] = {"cycles_x2": cycles_x2, "n": count}
    return figures
