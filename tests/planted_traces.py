"""The simulator of training jobs in benchmarks/, for tests."""

from __future__ import annotations

import sys

from paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import planted
from planted import Case, Workload, cases, clean_workloads, judge, largest_saving, simulate

__all__ = [
    "Case",
    "Workload",
    "cases",
    "clean_workloads",
    "judge",
    "largest_saving",
    "planted",
    "simulate",
]
