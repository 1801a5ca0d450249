"""Gives the rules of the findings every lens's result of every selected record."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stepscope.errors import StepscopeError
from stepscope.findings import RULES, Finding, LensResult, find, unreadable
from stepscope.findings.baseline import compared, difference
from stepscope.findings.summary import RunSummary
from stepscope.findings.summary import summaries as summarise
from stepscope.lenses.lens import Scope
from stepscope.lenses.registry import LENSES, AnyLens
from stepscope.model.columns import Header
from stepscope.session.analysis import prepared
from stepscope.session.catalog import RecordRef
from stepscope.session.selection import allowed, newest_of_each, require_any

if TYPE_CHECKING:
    from stepscope.session.source import Source

AnyResult = LensResult[Any]


@dataclass(frozen=True)
class Judgement:
    """What the rules find in the selected records, and a summary of each run."""

    findings: tuple[Finding, ...]
    summaries: tuple[RunSummary, ...]


def judgement(source: Source) -> Judgement:
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
    return newest_of_each(
        ref for ref in source.catalog.refs() if ref.kind == kind and allowed(ref, selection)
    )


def findings(source: Source, baseline: Source | None) -> list[dict[str, Any]]:
    """The findings as documents; beside a baseline with what is new, gone, larger or smaller than there."""
    found = [finding.to_json() for finding in judgement(source).findings]
    if baseline is None:
        return found
    return compared(found, [finding.to_json() for finding in judgement(baseline).findings])


def summaries(source: Source, baseline: Source | None) -> list[dict[str, Any]]:
    """The summary of each run as a document, with its difference from the baseline's run."""
    answer = []
    other = None if baseline is None else next(iter(judgement(baseline).summaries), None)
    for summary in judgement(source).summaries:
        text = ""
        if other is not None and baseline is not None:
            own = source.select(run=summary.run) if len(judgement(source).summaries) > 1 else source
            text = difference(summary, other, findings(own, baseline))
        answer.append(summary.to_json() | {"difference": text})
    return answer


def _find(source: Source, refs: Sequence[tuple[AnyLens, RecordRef]]) -> Judgement:
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
    placed = _with_jobs(results, headers)
    found = (*find(placed, RULES), *lost.values())
    return Judgement(findings=found, summaries=tuple(summarise(placed, found)))


def _subject(source: Source, lens: AnyLens, ref: RecordRef) -> Any:
    """What the rules look at: computed from the one record, with the lens's default options."""
    if lens.scope(lens.options_type()) is Scope.RECORD:
        return lens.finding_subject(prepared(source, lens, ref))
    key = (lens.name, "finding", ref.run, ref.name, ref.key)
    return source.caches.answers.get(
        key, lambda: lens.finding_subject(lens.prepare([source.read(ref)]))
    )


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
