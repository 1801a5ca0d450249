"""The lanes of a host's planes on one clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stepscope.model.arrays import Bools
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import LaneKind
from stepscope.sources.xplane.lanes import Lane, PlaneLanes

_MAX_SPREAD_NS = 1 << 52
_YEAR_2001_NS = 10**18
_LISTED_NAMES = 3


class Timing:
    """Puts lanes on one clock, in picoseconds since the earliest time stamp.

    Attributes:
        lanes: The lanes with events, each with its plane.
        base_ns: The earliest time stamp, of those on the clock of most events.
        losses: Device work without a time, which no lane holds.
    """

    def __init__(self, planes: Sequence[PlaneLanes]) -> None:
        self.lanes: list[tuple[PlaneLanes, Lane]] = []
        self.losses: list[Diagnostic] = []
        untimed = Counter[str]()
        is_absolute = any(_has_absolute_clock(plane) for plane in planes)
        for plane in planes:
            for lane in plane.lanes:
                timed = lane
                if is_absolute and _may_be_untimed(lane):
                    is_untimed = _untimed(plane, lane)
                    untimed.update(lane.infos[i].name for i in lane.info[is_untimed].tolist())
                    timed = lane.take(~is_untimed)
                if len(timed.start):
                    self.lanes.append((plane, timed))
        if untimed:
            self.losses.append(_untimed_loss(untimed))
        self.base_ns = _base_ns([lane for _, lane in self.lanes])

    def shift_ps(self, timestamp_ns: int) -> int:
        """How far a time stamp lies after the base; 0 for a stamp of another clock."""
        difference_ns = timestamp_ns - self.base_ns
        if abs(difference_ns) >= _MAX_SPREAD_NS:
            return 0
        return difference_ns * 1000


def _base_ns(lanes: Sequence[Lane]) -> int:
    if not lanes:
        return 0
    anchor_ns = max(lanes, key=lambda lane: len(lane.start)).timestamp_ns
    stamps_ns = [lane.timestamp_ns for lane in lanes]
    return min(stamp for stamp in stamps_ns if abs(stamp - anchor_ns) < _MAX_SPREAD_NS)


def _has_absolute_clock(plane: PlaneLanes) -> bool:
    return any(lane.timestamp_ns >= _YEAR_2001_NS for lane in plane.lanes)


def _may_be_untimed(lane: Lane) -> bool:
    return lane.kind == LaneKind.ACCELERATOR and not lane.timestamp_ns


def _untimed(plane: PlaneLanes, lane: Lane) -> Bools:
    """Which events of a device lane, whose stamp is 0 beside an absolute clock, have no start time.

    CUPTI gives 0 for the start and end of work that it could not time. Such work would stretch the
    profile back to its beginning, or to 1970.
    """
    starts_at_zero: Bools = lane.start == 0
    if _has_absolute_clock(plane):
        return starts_at_zero
    # The whole plane may count from its own zero: only work without a duration is untimed.
    is_untimed: Bools = starts_at_zero & (lane.duration == 0)
    return is_untimed


def _untimed_loss(untimed: Counter[str]) -> Diagnostic:
    count = untimed.total()
    noun = "kernel or copy has" if count == 1 else "kernels or copies have"
    names = ", ".join(name for name, _ in untimed.most_common(_LISTED_NAMES))
    if len(untimed) > _LISTED_NAMES:
        names += ", …"
    return Diagnostic(
        where="device streams",
        what=f"{count} {noun} no time and no part in the profile: {names}",
        count=count,
        remedy="Profile again; CUPTI could not time this work",
    )
