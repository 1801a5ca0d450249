"""Gives the rules of the findings every lens's result of every selected record."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope.errors import StepscopeError
from stepscope.findings import RULES, Finding, LensResult, find, unreadable
from stepscope.lenses.lens import Scope
from stepscope.lenses.registry import LENSES, AnyLens
from stepscope.model.columns import Header
from stepscope.session.analysis import prepared
from stepscope.session.catalog import RecordRef
from stepscope.session.selection import allowed, newest_of_each, require_any

if TYPE_CHECKING:
    from stepscope.session.source import Source

AnyResult = LensResult[Any]


def findings(source: Source) -> list[Finding]:
    """What the rules find in the newest record of each lens, run and name, and which records are unreadable.

    Raises:
        NotFound: No record is selected.
    """
    require_any(source.catalog.refs(), source.selection)
    refs: list[tuple[AnyLens, RecordRef]] = []
    for lens in LENSES:
        refs += [(lens, ref) for ref in _newest(source, lens.record_kind)]
    key = ("findings", *((lens.name, ref.run, ref.name, ref.key) for lens, ref in refs))
    return source.caches.answers.get(key, lambda: _find(source, refs))


def _newest(source: Source, kind: str) -> list[RecordRef]:
    selection = dataclasses.replace(source.selection, record_step=None)
    return newest_of_each(ref for ref in source.catalog.refs() if ref.kind == kind and allowed(ref, selection))


def _find(source: Source, refs: Sequence[tuple[AnyLens, RecordRef]]) -> list[Finding]:
    results: list[AnyResult] = []
    headers: list[Header] = []
    lost: dict[RecordRef, Finding] = {}
    for lens, ref in refs:
        try:
            subject = _subject(source, lens, ref)
            header = source.read(ref).header
        except StepscopeError as error:
            # Two lenses may look at one record: it is reported once.
            lost.setdefault(ref, unreadable(LensResult(lens.name, ref.run, ref.name, None), error))
            continue
        results.append(LensResult(lens.name, ref.run, ref.name, subject))
        headers.append(header)
    return [*find(_with_jobs(results, headers), RULES), *lost.values()]


def _subject(source: Source, lens: AnyLens, ref: RecordRef) -> Any:
    """What the rules look at: computed from the one record, with the lens's default options."""
    if lens.scope(lens.options_type()) is Scope.RECORD:
        return lens.finding_subject(prepared(source, lens, ref))
    key = (lens.name, "finding", ref.run, ref.name, ref.key)
    return source.caches.answers.get(key, lambda: lens.finding_subject(lens.prepare([source.read(ref)])))


def _with_jobs(results: Sequence[AnyResult], headers: Sequence[Header]) -> list[AnyResult]:
    """The results with the job that their run is one of several ranks of.

    A job without a name consists of the runs beside each other that name the same number of ranks, where no
    rank appears twice.
    """
    jobs = [_job(result.run, header) for result, header in zip(results, headers, strict=True)]
    ranks: Counter[tuple[str, str, str, int]] = Counter()
    for job, result, header in zip(jobs, results, headers, strict=True):
        ranks[job, result.lens, result.name, header.rank] += 1
    ambiguous = {job for (job, *_), count in ranks.items() if count > 1}

    placed = []
    for job, result, header in zip(jobs, results, headers, strict=True):
        known = header.job or job not in ambiguous
        placed.append(dataclasses.replace(result, job=job if known else ""))
    return placed


def _job(run: str, header: Header) -> str:
    if header.world_size <= 1:
        return ""
    return header.job or f"{run.rpartition('/')[0]}, {header.world_size} ranks"
