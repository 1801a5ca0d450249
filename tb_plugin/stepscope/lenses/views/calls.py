"""How long single calls of an op took: shortest, median, 95th percentile, longest."""

from __future__ import annotations

import numpy as np

from stepscope.lenses.views.tree import stable_order
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import Executions
from stepscope.statistics import rank_place

_PERCENT = {"min_micros": 0, "p50_micros": 50, "p95_micros": 95, "max_micros": 100}


class CallTimes:
    """Durations of calls by row, in ticks, with what they called. Percentiles are by nearest rank: a real call.

    Args:
        calls: Single executions.
        row_of_call: The row that each belongs to, -1 for none.
        rows: The number of rows.
    """

    def __init__(self, calls: Executions, row_of_call: Ints, rows: int) -> None:
        used = row_of_call >= 0
        row = row_of_call[used]
        duration = calls.duration_ticks[used] // np.maximum(calls.count[used], 1)
        order = stable_order((row, duration))
        self._duration = duration[order]
        self._start = np.searchsorted(row[order], np.arange(rows + 1))

    @property
    def known(self) -> Array:
        """Which rows of the layout have calls that are recorded one by one."""
        known: Array = np.diff(self._start) > 0
        return known

    def column(self, name: str) -> Ints:
        """One of the call fields for each row of the layout; 0 where no single call is recorded."""
        start, count = self._start[:-1], np.diff(self._start)
        place = rank_place(count, _PERCENT[name])
        out = np.zeros(len(count), np.int64)
        has_calls = count > 0
        out[has_calls] = self._duration[(start + place)[has_calls]]
        return out
