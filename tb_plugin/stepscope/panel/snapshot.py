"""What a report holds: the documents that the panel requests, each with the questions that it answers.

frontend/src/report/ answers the panel from them. Views are stored as trees, so that opening, sorting, searching and
zooming need no server. All other documents are stored as the routes answer them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from stepscope.errors import StepscopeError
from stepscope.lenses.registry import LENSES, AnyLens
from stepscope.lenses.views.options import VIEWS
from stepscope.panel import documents
from stepscope.panel.request import Query
from stepscope.panel.snapshot_entry import Extent, SnapshotEntry, entry
from stepscope.panel.snapshot_trace import trace_entries
from stepscope.panel.snapshot_views import view_entries
from stepscope.session.catalog import RecordRef
from stepscope.session.selection import newest
from stepscope.session.source import Source
from stepscope.session.union import selected_refs


def snapshot(source: Source, extent: Extent | None = None) -> list[SnapshotEntry]:
    """The answers to all that the panel can ask about the newest selected record of each kind, run and name."""
    extent = extent or Extent()
    refs = _newest_of_each(selected_refs(source))
    entries = [
        SnapshotEntry("index", ({},), _index(source, refs)),
        SnapshotEntry("options", ({},), documents.option_tables()),
    ]
    for lens in LENSES:
        of_lens = [ref for ref in refs if ref.kind == lens.record_kind]
        if of_lens:
            entries += _lens_entries(lens, source, of_lens, extent)
    return [*entries, *_findings(source, refs)]


def _newest_of_each(refs: Iterable[RecordRef]) -> list[RecordRef]:
    latest: dict[tuple[str, str, str], RecordRef] = {}
    for ref in refs:
        key = (ref.run, ref.kind, ref.name)
        latest[key] = newest([ref, latest.get(key, ref)])
    return list(latest.values())


def _index(source: Source, refs: Sequence[RecordRef]) -> dict[str, Any]:
    """The index of these records. Nothing grows in a report."""
    held = {(ref.run, ref.kind, ref.name, ref.tag) for ref in refs}
    document = documents.index(Query(source, {}))
    runs = []
    for run in document["runs"]:
        rows = []
        for row in run["records"]:
            if (run["name"], row["kind"], row["name"], row["tag"]) in held:
                rows.append(row | {"closed": True})
        if rows:
            runs.append({"name": run["name"], "records": rows})
    return document | {"runs": runs}


def _findings(source: Source, refs: Sequence[RecordRef]) -> Iterator[SnapshotEntry]:
    runs = sorted({ref.run for ref in refs})
    if len(runs) == 1:
        both: tuple[dict[str, str], ...] = ({}, {"run": runs[0]})
        yield SnapshotEntry("findings", both, source.findings())
        yield SnapshotEntry("summary", both, source.summary())
        return
    yield SnapshotEntry("findings", ({},), source.findings())
    yield SnapshotEntry("summary", ({},), source.summary())
    for run in runs:
        yield SnapshotEntry("findings", ({"run": run},), source.select(run=run).findings())
        yield SnapshotEntry("summary", ({"run": run},), source.select(run=run).summary())


def _lens_entries(
    lens: AnyLens, source: Source, refs: Sequence[RecordRef], extent: Extent
) -> Iterator[SnapshotEntry]:
    """The documents of a lens, and comparisons of its runs."""
    if lens.name == "views":
        yield from view_entries(source, refs, extent)
        for view in VIEWS:
            yield from _comparisons(lens, source, refs, extent, {"view": view})
        return
    if lens.name == "trace":
        yield from trace_entries(source, refs, extent)
        return
    if lens.shows == "record":
        yield from _record_entries(lens, source, refs, extent)
    elif lens.shows == "run":
        yield from _run_entries(lens, source, refs, extent)
    else:
        yield from _runs_entries(lens, source, refs, extent)
    yield from _comparisons(lens, source, refs, extent, {})


def _record_entries(
    lens: AnyLens, source: Source, refs: Sequence[RecordRef], extent: Extent
) -> Iterator[SnapshotEntry]:
    """One document for each record."""
    for ref in refs:
        question = {"run": ref.run, "name": ref.name}
        document = partial(_document, lens, source.select(ref.run, ref.name), extent)
        yield entry(lens.name, (question,), document)


def _run_entries(
    lens: AnyLens, source: Source, refs: Sequence[RecordRef], extent: Extent
) -> Iterator[SnapshotEntry]:
    """One document for all records of a run, for what they can be narrowed to, and for each record."""
    for run in sorted({ref.run for ref in refs}):
        of_run = source.select(run)
        names = [ref.name for ref in refs if ref.run == run]
        questions = [{"run": run}]
        if len(names) == 1:
            questions.append({"run": run, "name": names[0]})
        whole = entry(lens.name, questions, partial(_document, lens, of_run, extent))
        yield whole
        yield from _filtered(lens, of_run, run, whole.document)
        if len(names) > 1:
            for name in names:
                document = partial(_document, lens, source.select(run, name), extent)
                yield entry(lens.name, ({"run": run, "name": name},), document)


def _filtered(lens: AnyLens, source: Source, run: str, document: Any) -> Iterator[SnapshotEntry]:
    """The documents that the panel narrows a run's document to."""
    if document is None:
        return
    whole = lens.report_values(rows=0, points=0)
    for values in lens.report_filters(document):
        question = {"run": run}
        for name, value in values.items():
            if name not in whole:
                question[name] = ",".join(value)
        yield entry(lens.name, (question,), partial(_answer, lens, source, values))


def _runs_entries(
    lens: AnyLens, source: Source, refs: Sequence[RecordRef], extent: Extent
) -> Iterator[SnapshotEntry]:
    """One document for the records of all runs, and for those of each name."""
    runs = source if source.selection.runs else source.select(run="*")
    names = sorted({ref.name for ref in refs})
    questions: list[dict[str, str]] = [{}]
    if len(names) == 1:
        questions.append({"name": names[0]})
    yield entry(lens.name, questions, partial(_document, lens, runs, extent))
    if len(names) > 1:
        for name in names:
            document = partial(_document, lens, runs.select(name=name), extent)
            yield entry(lens.name, ({"name": name},), document)


def _document(lens: AnyLens, source: Source, extent: Extent) -> dict[str, Any]:
    values = lens.report_values(rows=extent.rows, points=extent.points)
    return _answer(lens, source, values)


def _answer(lens: AnyLens, source: Source, values: Mapping[str, Any]) -> dict[str, Any]:
    return source.ask(lens, values).to_json()


def _comparisons(
    lens: AnyLens,
    source: Source,
    refs: Sequence[RecordRef],
    extent: Extent,
    values: Mapping[str, str],
) -> Iterator[SnapshotEntry]:
    """Comparisons of runs with each other, as many pairs as the report's extent has."""
    for a, b in islice(_pairs(refs), extent.comparisons):
        baseline = source.select(b.run, b.name)
        try:
            document = source.select(a.run, a.name).compare(lens, values, baseline)
            answer = document.to_json(extent.rows)
        except StepscopeError:
            continue
        question = {"run": a.run, "compare": b.run, **values}
        yield SnapshotEntry(lens.name, (question | {"name": a.name}, question), answer)


def _pairs(refs: Sequence[RecordRef]) -> Iterator[tuple[RecordRef, RecordRef]]:
    """Records of two runs, those side by side first, so that each run is in some of the first pairs."""
    for gap in range(1, len(refs)):
        for place, ref in enumerate(refs):
            for other in (place - gap, place + gap):
                if 0 <= other < len(refs) and refs[other].run != ref.run:
                    yield ref, refs[other]
