"""The in-core lens: which phase inside one fused kernel is long, and which core sets it."""

from stepscope.lenses.incore.analysis import analyze
from stepscope.lenses.incore.comparison import Comparison, compare
from stepscope.lenses.incore.options import InCoreOptions
from stepscope.lenses.incore.phases import Phases
from stepscope.lenses.incore.result import InCoreResult

__all__ = ["Comparison", "InCoreOptions", "InCoreResult", "Phases", "analyze", "compare"]
