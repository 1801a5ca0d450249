"""The ranks of a job: runs beside each other, matched by what their profiles say of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.errors import StepscopeError
from stepscope.model.columns import Header
from stepscope.model.profile import Profile
from stepscope.session.catalog import RecordRef

if TYPE_CHECKING:
    from stepscope.session.source import Source


def job_refs(source: Source) -> list[RecordRef]:
    """One profile for each rank: of the chosen runs, or of the job that the one chosen run belongs to."""
    refs = source.select_records(Profile.KIND)
    runs = {ref.run for ref in refs}
    if len(runs) > 1:
        return refs
    return _ranks_beside(source, source.select_record(Profile.KIND))


def _ranks_beside(source: Source, chosen: RecordRef) -> list[RecordRef]:
    """The profiles in runs beside the chosen one that belong to its job, the nearest in time for each rank."""
    header = source.read(chosen).header
    if header.rank < 0:
        return [chosen]

    nearest = {header.rank: chosen}
    distance_ns = {header.rank: -1}
    for ref, candidate in _profiles_beside(source, chosen):
        if not _same_job(header, candidate):
            continue
        apart_ns = abs(candidate.wall_anchor_ns - header.wall_anchor_ns)
        if candidate.rank not in nearest or apart_ns < distance_ns[candidate.rank]:
            nearest[candidate.rank] = ref
            distance_ns[candidate.rank] = apart_ns
    return list(nearest.values())


def _same_job(header: Header, candidate: Header) -> bool:
    if candidate.rank < 0:
        return False
    return candidate.world_size == header.world_size and candidate.job == header.job


def _profiles_beside(source: Source, chosen: RecordRef) -> Iterator[tuple[RecordRef, Header]]:
    """The profiles of the chosen one's name in the same folder of runs. Unreadable ones are left out."""
    folder = _folder(chosen)
    for ref in source.catalog.refs():
        if ref.kind != Profile.KIND or ref.name != chosen.name or _folder(ref) != folder:
            continue
        try:
            header = source.catalog.read(ref, ()).header
        except StepscopeError:
            continue
        yield ref, header


def _folder(ref: RecordRef) -> str:
    return ref.run.rpartition("/")[0]
