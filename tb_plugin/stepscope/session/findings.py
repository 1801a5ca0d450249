"""What the rules of the findings look at: every lens's result of every record that is chosen."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from stepscope.errors import StepscopeError
from stepscope.findings import RULES, Finding, LensResult, find, unreadable
from stepscope.model.columns import Header
from stepscope.session.catalog import RecordRef
from stepscope.session.lenses import LENS_KINDS, LENSES
from stepscope.session.selection import allowed, newest_of_each, require_any

if TYPE_CHECKING:
    from stepscope.session.source import Source


def findings(source: Source) -> list[Finding]:
    """What the rules find in the newest record of each lens, run and name, and which records cannot be judged.

    Raises:
        NotFound: The selection allows no record at all.
    """
    require_any(source.catalog.refs(), source.selection)
    refs = tuple((lens, ref) for lens, kind in LENS_KINDS.items() for ref in _latest(source, kind))
    key = ("findings", *((lens, ref.run, ref.name, ref.key) for lens, ref in refs))
    return source.caches.answers.get(key, lambda: _find(source, refs))


def _find(source: Source, refs: Iterable[tuple[str, RecordRef]]) -> list[Finding]:
    found: list[tuple[LensResult[Any], Header]] = []
    lost: list[Finding] = []
    for lens, ref in refs:
        try:
            subject: LensResult[Any] = LensResult(lens, ref.run, ref.name, _result(source, lens, ref))
            found.append((subject, source.read(ref).header))
        except StepscopeError as error:
            lost.append(unreadable(LensResult(lens, ref.run, ref.name, None), error))
    return [*find(_with_jobs(found), RULES), *lost]


def _latest(source: Source, kind: str) -> list[RecordRef]:
    selection = dataclasses.replace(source.selection, record_step=None)
    return newest_of_each(ref for ref in source.catalog.refs() if ref.kind == kind and allowed(ref, selection))


def _with_jobs(found: Sequence[tuple[LensResult[Any], Header]]) -> list[LensResult[Any]]:
    """The subjects with the job that their run is one of several ranks of.

    A job without a name is of the runs beside each other that say to be of as many ranks, where no rank is there twice.
    """
    jobs = [_job(subject.run, header) for subject, header in found]
    there = Counter((job, one.lens, one.name, header.rank) for job, (one, header) in zip(jobs, found, strict=True))
    several = {job for (job, *_), count in there.items() if count > 1}
    return [
        dataclasses.replace(subject, job="" if job in several and not header.job else job)
        for job, (subject, header) in zip(jobs, found, strict=True)
    ]


def _job(run: str, header: Header) -> str:
    if header.world_size <= 1:
        return ""
    return header.job or f"{run.rpartition('/')[0]}, {header.world_size} ranks"


def _result(source: Source, lens: str, ref: RecordRef) -> Any:
    if lens == "views":
        return source.engine(ref)
    key = (lens, "finding", ref.run, ref.name, ref.key)
    return source.caches.answers.get(key, lambda: LENSES[lens].analyze([source.read(ref)]))
