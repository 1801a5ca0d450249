"""The single executions of a profile, with what is worked out of them once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from stepscope.errors import NotFound, OptionError
from stepscope.lenses.trace import tables, timeline
from stepscope.lenses.trace.allocations import Allocated
from stepscope.lenses.trace.breakdown import Breakdown, breakdown
from stepscope.lenses.trace.critical_path import NO_PATH, critical_path
from stepscope.lenses.trace.lanes import LaidOut, laid_out
from stepscope.lenses.trace.launches import Launches, launches
from stepscope.lenses.trace.memory import MemorySeries, memory_over_time
from stepscope.lenses.trace.options import DEFAULT_WIDTH_PX, TraceOptions
from stepscope.lenses.trace.order import scopes_in_time
from stepscope.lenses.trace.ranks import Ranks, ranks
from stepscope.lenses.trace.result import TraceResult
from stepscope.model.profile import NodeKind, Profile

MAX_WIDTH_PX = 4000


class Executions:
    """The executions of one profile. What is worked out of them is kept.

    Args:
        profile: The profile.
        others: The profiles of the other ranks of its job, for `ranks`.
    """

    def __init__(self, profile: Profile, *others: Profile) -> None:
        self.profile = profile
        self._job = (profile, *others)

    def analyze(self, options: TraceOptions) -> TraceResult:
        """The table, or the picture, that the options ask for."""
        value = self._value(options.show)
        document = self._document(options) if value is None else value.to_json()
        return TraceResult(
            show=options.show,
            document=document,
            value=value,
            steps=len(self.profile.steps),
            run=self.profile.header.run,
        )

    def _value(self, show: str) -> Breakdown | Launches | Ranks | None:
        if show == "steps":
            return self.breakdown
        if show in ("launches", "idle"):
            return self.launches
        if show == "ranks":
            return self.ranks
        return None

    def _document(self, options: TraceOptions) -> dict[str, Any]:
        if options.show == "timeline":
            return self.timeline(options.start_ps, options.end_ps, options.width_px)
        if options.show == "kernels":
            return self.kernels(by_launch=options.by == "launch")
        if options.show == "shapes":
            return self.shapes()
        if options.show == "order":
            return {"path": options.path, "keys": self.order(options.path)}
        if options.show == "event":
            return self.event(options.execution)
        if options.show == "critical-path":
            return self.critical_path
        return self.memory(
            device=options.device,
            start_ps=options.start_ps,
            end_ps=options.end_ps,
            width_px=options.width_px,
            least_bytes=options.least_bytes,
        )

    @cached_property
    def breakdown(self) -> Breakdown:
        """The time of each step by category."""
        return breakdown(self.profile)

    @cached_property
    def launches(self) -> Launches:
        """Launch statistics and idle streams."""
        return launches(self.profile)

    @cached_property
    def ranks(self) -> Ranks:
        """The ranks of the job side by side."""
        return ranks(self._job)

    @cached_property
    def _layout(self) -> LaidOut:
        return laid_out(self.profile)

    @cached_property
    def _allocated(self) -> Allocated:
        return Allocated(self.profile)

    @cached_property
    def _curves(self) -> tuple[MemorySeries, ...]:
        return memory_over_time(self.profile)

    @cached_property
    def critical_path(self) -> dict[str, Any]:
        """The critical path of the complete steps; without segments where executions are on no lanes."""
        path = critical_path(self.profile)
        return NO_PATH if path is None else path.to_json()

    def shapes(self) -> dict[str, Any]:
        """Ops by their input shapes: calls, host and device time, self and total."""
        return tables.ops_by_shape(self.profile)

    def kernels(self, by_launch: bool = False) -> dict[str, Any]:
        """Kernels, copies and sets; `by_launch` tells them apart by op, grid, block, registers and shared memory."""
        return tables.kernels(self.profile, by_launch)

    def timeline(
        self,
        start_ps: int | None = None,
        end_ps: int | None = None,
        width_px: int = DEFAULT_WIDTH_PX,
    ) -> dict[str, Any]:
        """A window of the timeline for a picture of some pixels. Times are relative to the profile's anchor."""
        window = (self._ticks(start_ps), self._ticks(end_ps))
        return timeline.timeline(self._layout, *window, _pixels(width_px), self._curves)

    def order(self, path: str = "") -> list[str]:
        """What is directly in a scope, in order of its first start, by the keys of the scope view."""
        return scopes_in_time(self.profile, path)

    def event(self, run: int) -> dict[str, Any]:
        """Everything about one execution of the timeline.

        Raises:
            NotFound: There is no such execution.
        """
        if not 0 <= run < len(self.profile.executions):
            raise NotFound(f"no execution {run}", where="query", remedy="Load the timeline again")
        return timeline.event(self._layout, run)

    def memory(
        self,
        device: str | None = None,
        start_ps: int | None = None,
        end_ps: int | None = None,
        width_px: int = DEFAULT_WIDTH_PX,
        least_bytes: int = 0,
    ) -> dict[str, Any]:
        """Memory over time of every device; and of one device what ops took and gave back, in a window.

        Raises:
            OptionError: There is no such device.
        """
        pixels, devices = _pixels(width_px), self._allocated.devices
        answer: dict[str, Any] = {
            "series": [one.thinned(pixels).to_json() for one in self._curves],
            "devices": list(devices),
        }
        if not devices:
            return answer | {"device": None, "ops": [], "blocks": {"count": 0, "events": []}}
        if device and device not in devices:
            raise OptionError(
                f"no memory of {device!r}",
                where="device",
                remedy=f"Choose from {', '.join(devices)}",
            )
        place = devices.index(device) if device else max(range(len(devices)), key=self._peak)
        window = (self._ticks(start_ps), self._ticks(end_ps))
        ops, blocks = (
            self._allocated.ops(place, *window),
            self._allocated.events(place, *window, least_bytes),
        )
        return answer | {"device": devices[place], "ops": ops, "blocks": blocks}

    def _peak(self, place: int) -> int:
        name = self._allocated.devices[place]
        return max((one.peak[1] for one in self._curves if one.device == name), default=0)

    def _ticks(self, ps: int | None) -> int | None:
        return None if ps is None else ps // self.profile.tick_ps


def panes(profile: Profile) -> list[str]:
    """The questions of this module that a profile has something for."""
    runs, header = profile.executions, profile.header
    timed = len(runs) > 0 and len(profile.lanes) > 0
    found = {
        "steps": timed,
        "trace": timed,
        "shapes": profile.nested and bool((profile.nodes.input_shape >= 0).any()),
        "kernels": timed and bool((profile.nodes.kind == NodeKind.DEVICE).any()),
        "launches": bool((runs.launch >= 0).any()),
        "critical-path": timed and profile.nested,
        "memory": len(profile.allocations) > 0,
        "ranks": timed and header.rank >= 0 and header.world_size > 1,
    }
    return [name for name, there in found.items() if there]


def _pixels(width_px: int) -> int:
    return max(1, min(width_px, MAX_WIDTH_PX))
