"""The options of the trace lens."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.errors import OptionError
from stepscope.lenses.options import option

SHOWS = (
    "steps",
    "timeline",
    "kernels",
    "launches",
    "idle",
    "critical-path",
    "shapes",
    "memory",
    "ranks",
    "order",
    "event",
)
COMPARABLE = ("steps", "kernels", "launches", "shapes", "memory", "ranks", "order")
DEFAULT_WIDTH_PX = 1000


@dataclass(frozen=True)
class TraceOptions:
    """What to show of the single executions of a profile. Times are in ps, relative to the profile's anchor.

    Raises:
        OptionError: `show` or `by` is not one of its choices.
    """

    show: str = option(
        "steps",
        "Step time by category; threads and streams; kernels; launch delays; idle streams; the chain that decides the "
        "step time; ops by input shape; "
        "memory by op; ranks of the job; scopes in order of time; or one execution",
        choices=SHOWS,
    )
    start_ps: int | None = option(
        None, "timeline, memory: start of the window in ps, relative to the anchor"
    )
    end_ps: int | None = option(None, "timeline, memory: end of the window in ps")
    width_px: int = option(DEFAULT_WIDTH_PX, "timeline, memory: horizontal resolution, in pixels")
    device: str | None = option(
        None, "memory: device whose ops and blocks are listed (default: highest peak)"
    )
    least_bytes: int = option(0, "memory: leave out smaller blocks, in bytes")
    by: str = option(
        "name",
        "kernels: one row per name, or per op and launch parameters",
        choices=("name", "launch"),
    )
    path: str = option(
        "", "order: scope whose parts are listed by their first start (default: the top)"
    )
    execution: int = option(0, "event: index of the execution, from the timeline")

    def __post_init__(self) -> None:
        """Checks the words."""
        if self.show not in SHOWS:
            raise OptionError(
                f"unknown table {self.show!r}",
                where="show",
                remedy=f"Choose from: {', '.join(SHOWS)}",
            )
        if self.by not in ("name", "launch"):
            raise OptionError(
                f"unknown grouping {self.by!r}", where="by", remedy="Choose name or launch"
            )
