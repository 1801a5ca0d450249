"""`stepscope.compare`: any number of runs side by side, from paths or opened sources."""

from __future__ import annotations

import os
from collections.abc import Sequence

from stepscope.session.compare_runs import RunsComparison, compare_runs
from stepscope.session.opening import open as open_source
from stepscope.session.source import Source


def compare(
    runs: Sequence[str | os.PathLike[str] | Source],
    *,
    baseline: str | None = None,
    run_spread: float = 0.0,
) -> RunsComparison:
    """Compares runs with a baseline.

    Args:
        runs: Paths of runs, log directories or files, or opened sources. All runs in them are compared, 50 at most.
        baseline: Name of the baseline run; the fastest when None.
        run_spread: Scatter of repeated runs as a share, such as 0.02. At 0 only the noise of steps counts.

    Raises:
        SourceError: A path cannot be read.
        OptionError: More than 50 runs.
        NotFound: No run has a step time, or none is the baseline.
    """
    sources = [run if isinstance(run, Source) else open_source(run) for run in runs]
    return compare_runs(sources, baseline=baseline, run_spread=run_spread)
