"""The ranks of a job: runs beside each other, found by what their profiles say of themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from stepscope.errors import StepscopeError
from stepscope.lenses.trace.ranks import Ranks, ranks
from stepscope.model.columns import Header
from stepscope.model.profile import Profile
from stepscope.session.catalog import RecordRef

if TYPE_CHECKING:
    from stepscope.session.source import Source


def compare_ranks(source: Source) -> Ranks:
    """The ranks of the chosen runs; where one run is chosen, of the job that it is a rank of."""
    found = source.select_records("profile")
    if len({ref.run for ref in found}) == 1:
        found = _job(source, source.select_record("profile"))
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
