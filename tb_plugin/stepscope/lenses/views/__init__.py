"""The views lens: which op, scope, line of code or graph node costs the time and memory."""

from stepscope.lenses.views.engine import ViewEngine, analyze
from stepscope.lenses.views.options import ViewsOptions
from stepscope.lenses.views.result import ViewResult

__all__ = ["ViewEngine", "ViewResult", "ViewsOptions", "analyze"]
