"""Questions to the single executions of profiles: where steps spend their time, launches, a timeline, memory, ranks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stepscope.errors import NotFound, OptionError, StepscopeError
from stepscope.lenses.views.executions import tables, timeline
from stepscope.lenses.views.executions.allocations import Allocated
from stepscope.lenses.views.executions.breakdown import Breakdown, breakdown
from stepscope.lenses.views.executions.lanes import LaidOut, laid_out
from stepscope.lenses.views.executions.launches import Launches, launches
from stepscope.lenses.views.executions.order import merged, scopes_in_time
from stepscope.lenses.views.executions.ranks import Ranks, ranks
from stepscope.lenses.views.memory import MemorySeries, memory_over_time
from stepscope.model.columns import Header
from stepscope.model.profile import NodeKind, Profile
from stepscope.queries.catalog import RecordRef

if TYPE_CHECKING:
    from stepscope.queries.asking import Source
    from stepscope.queries.documents import Query

SHAPES = ("breakdown", "launches", "timeline", "event", "memory", "ranks", "shapes", "kernels", "order")
COMPARED_SHAPES = ("order",)
"""Those that a question to two runs can ask for."""
MAX_WIDTH_PX = 4000
DEFAULT_WIDTH_PX = 1000


class Executions:
    """The executions of one profile; what is worked out is kept."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    @cached_property
    def breakdown(self) -> Breakdown:
        """The time of each step by category."""
        return breakdown(self.profile)

    @cached_property
    def launches(self) -> Launches:
        """Launch statistics and idle streams."""
        return launches(self.profile)

    @cached_property
    def _layout(self) -> LaidOut:
        return laid_out(self.profile)

    @cached_property
    def _allocated(self) -> Allocated:
        return Allocated(self.profile)

    @cached_property
    def _curves(self) -> tuple[MemorySeries, ...]:
        return memory_over_time(self.profile)

    def shapes(self) -> dict[str, Any]:
        """Ops by their input shapes: calls, host and device time, self and total."""
        return tables.ops_by_shape(self.profile)

    def kernels(self, by_launch: bool = False) -> dict[str, Any]:
        """Kernels, copies and sets; `by_launch` tells them apart by op, grid, block, registers and shared memory."""
        return tables.kernels(self.profile, by_launch)

    def timeline(
        self, start_ps: int | None = None, end_ps: int | None = None, width_px: int = DEFAULT_WIDTH_PX
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
            raise OptionError(f"no memory of {device!r}", where="device", remedy=f"Choose from {', '.join(devices)}")
        place = devices.index(device) if device else max(range(len(devices)), key=self._peak)
        window = (self._ticks(start_ps), self._ticks(end_ps))
        ops, blocks = self._allocated.ops(place, *window), self._allocated.events(place, *window, least_bytes)
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
        "memory": len(profile.allocations) > 0,
        "ranks": timed and header.rank >= 0 and header.world_size > 1,
    }
    return [name for name, there in found.items() if there]


def _pixels(width_px: int) -> int:
    return max(1, min(width_px, MAX_WIDTH_PX))


def compare_ranks(source: Source) -> Ranks:
    """The ranks of the chosen runs; where one run is chosen, of the job that it is a rank of."""
    found = source.several("profile")
    if len({ref.run for ref in found}) == 1:
        found = _job(source, source.one("profile"))
    return ranks([profile for profile in source.readable(found) if isinstance(profile, Profile)])


def _job(source: Source, chosen: RecordRef) -> list[RecordRef]:
    """One profile for each rank of a job: runs beside the chosen one, of its world size, the nearest in time."""
    mine = source.read(chosen).header
    if mine.rank < 0:
        return [chosen]
    nearest: dict[int, tuple[int, RecordRef]] = {mine.rank: (-1, chosen)}
    for ref, header in _beside(source, chosen):
        apart = abs(header.wall_anchor_ns - mine.wall_anchor_ns)
        same = header.world_size == mine.world_size and header.job == mine.job and header.rank >= 0
        if same and apart < nearest.get(header.rank, (apart + 1, ref))[0]:
            nearest[header.rank] = (apart, ref)
    return [ref for _, ref in nearest.values()]


def _beside(source: Source, chosen: RecordRef) -> Iterable[tuple[RecordRef, Header]]:
    folder = chosen.run.rpartition("/")[0]
    for ref in source.catalog.refs():
        if ref.kind == "profile" and ref.name == chosen.name and ref.run.rpartition("/")[0] == folder:
            try:
                header = source.catalog.read(ref, ()).header
            except StepscopeError:
                continue
            yield ref, header


def answer(query: Query, shape: str) -> dict[str, Any]:
    """The document of a `shape` of the `views` route."""
    source = query.chosen()
    if shape == "ranks":
        return source.ranks().to_json()
    asked = source.executions()
    window = (_optional(query, "start_ps"), _optional(query, "end_ps"), query.integer("width_px", DEFAULT_WIDTH_PX))
    if shape == "timeline":
        return asked.timeline(*window)
    if shape == "shapes":
        return asked.shapes()
    if shape == "kernels":
        return asked.kernels(by_launch=query.text("by") == "launch")
    if shape == "order":
        return _order(query, asked)
    if shape == "event":
        return asked.event(query.integer("id", 0))
    if shape == "memory":
        return asked.memory(query.text("device") or None, *window, query.integer("least_bytes", 0))
    document: dict[str, Any] = getattr(asked, shape).to_json()
    return document


def _order(query: Query, asked: Executions) -> dict[str, Any]:
    path, baseline = query.text("path"), query.baseline()
    keys = asked.order(path)
    return {"path": path, "keys": merged(keys, baseline.executions().order(path)) if baseline else keys}


def _optional(query: Query, name: str) -> int | None:
    return query.integer(name, 0) if query.text(name) else None
