"""How fast a run is, on average and right now, and what disturbed it."""

from stepscope.lenses.comparison import Comparison
from stepscope.lenses.throughput.analysis import analyze
from stepscope.lenses.throughput.comparison import compare
from stepscope.lenses.throughput.options import ThroughputOptions
from stepscope.lenses.throughput.result import ThroughputResult

__all__ = ["Comparison", "ThroughputOptions", "ThroughputResult", "analyze", "compare"]
