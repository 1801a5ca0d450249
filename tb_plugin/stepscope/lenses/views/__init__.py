"""The views lens: which op, scope, line of code or graph node costs the time and memory."""

from stepscope.lenses.views.comparison import Comparison, compare
from stepscope.lenses.views.engine import ViewEngine, analyze
from stepscope.lenses.views.fields import FieldSpec
from stepscope.lenses.views.options import ViewsOptions
from stepscope.lenses.views.result import ViewResult

__all__ = [
    "Comparison",
    "FieldSpec",
    "ViewEngine",
    "ViewResult",
    "ViewsOptions",
    "analyze",
    "compare",
]
