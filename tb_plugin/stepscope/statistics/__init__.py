"""Statistics of runs: means of correlated steps, comparisons of runs, corrections, and change points.

Pure numpy on plain arrays: nothing here knows records or lenses. docs/check.md shows how each function does on
simulated runs whose truth is known.
"""

from stepscope.statistics.changes import Change, change_points
from stepscope.statistics.comparison import ASSUMED_SPREAD, Comparison, compare_means, runs_needed
from stepscope.statistics.correction import corrected_alpha, holm
from stepscope.statistics.means import LEAST_INTERVALS, Mean, mean_of_figure, ratio_of_sums
from stepscope.statistics.percentiles import nearest_rank, rank_place
from stepscope.statistics.student import student_quantile, two_sided_p_value

__all__ = [
    "ASSUMED_SPREAD",
    "LEAST_INTERVALS",
    "Change",
    "Comparison",
    "Mean",
    "change_points",
    "compare_means",
    "corrected_alpha",
    "holm",
    "mean_of_figure",
    "nearest_rank",
    "rank_place",
    "ratio_of_sums",
    "runs_needed",
    "student_quantile",
    "two_sided_p_value",
]
