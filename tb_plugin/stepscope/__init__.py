"""StepScope for TensorBoard: where a training step goes.

The public names are loaded when they are first used, so that a training loop pays for what it uses.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stepscope.version import __version__

if TYPE_CHECKING:
    from stepscope.session.comparing import compare
    from stepscope.session.opening import open
    from stepscope.shim.rate_tracker import RateTracker
    from stepscope.shim.writer import Writer

__all__ = ["RateTracker", "Writer", "__version__", "compare", "open"]

_PLACES = {
    "RateTracker": "stepscope.shim.rate_tracker",
    "Writer": "stepscope.shim.writer",
    "compare": "stepscope.session.comparing",
    "open": "stepscope.session.opening",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
