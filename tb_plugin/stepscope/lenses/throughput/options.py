"""What one can ask of the throughput lens."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.errors import OptionError
from stepscope.lenses.options import option


@dataclass(frozen=True)
class ThroughputOptions:
    """Options of the throughput lens.

    Raises:
        OptionError: A value is out of its range.
    """

    smoothing: float | None = option(
        None, "Weight of the previous Rate, 0 to 1; as recorded when not given"
    )
    sample_steps: int | None = option(
        None, "Ask for Rate every N steps, not at the recorded moments"
    )
    sample_seconds: float | None = option(
        None, "Ask for Rate every N seconds, not at the recorded moments"
    )
    figures: str = option(
        "auto",
        "Rates computed from the marks, or as the source states them",
        choices=("auto", "computed", "reported"),
    )
    warm_up: int = option(0, "First steps that the windowed and training-only averages leave out")
    window: int = option(100, "Steps of the windowed average")
    points: int | None = option(
        None, "At most about so many points per series, extremes kept; all when not given"
    )
    disturbances: bool = option(True, "Look for what disturbed the run")

    def __post_init__(self) -> None:
        """Checks the ranges."""
        _check("smoothing", self.smoothing, 0, 1)
        _check("sample_steps", self.sample_steps, 1, 2**53)
        _check("sample_seconds", self.sample_seconds, 1e-6, 2**53)
        _check("warm_up", self.warm_up, 0, 2**53)
        _check("window", self.window, 1, 2**53)
        _check("points", self.points, 4, 2**53)
        if self.figures not in ("auto", "computed", "reported"):
            raise OptionError(
                f"figures is {self.figures!r}", remedy="Choose auto, computed or reported"
            )
        if self.sample_steps is not None and self.sample_seconds is not None:
            raise OptionError("both sample_steps and sample_seconds", remedy="Choose one of them")


def _check(name: str, value: float | None, low: float, high: float) -> None:
    if value is not None and not low <= value <= high:
        raise OptionError(f"{name} is {value}", remedy=f"Give a number from {low} to {high}")
