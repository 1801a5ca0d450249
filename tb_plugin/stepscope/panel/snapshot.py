"""What a report holds: the documents that the panel would ask for, each with the question that it answers.

frontend/src/report/ answers the panel from them. Views are kept as trees, so that opening, sorting, searching and
zooming need no server; everything else is kept as it is answered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from stepscope.errors import StepscopeError
from stepscope.lenses.trace.executions import panes
from stepscope.lenses.views import ViewResult
from stepscope.model.columns import Ints
from stepscope.panel import documents
from stepscope.panel.request import Query
from stepscope.panel.snapshot_entry import Extent, SnapshotEntry, entry
from stepscope.panel.snapshot_trace import newest_profiles, pane_documents
from stepscope.session.catalog import RecordRef
from stepscope.session.lenses import LENS_KINDS
from stepscope.session.selection import newest
from stepscope.session.source import Source
from stepscope.session.union import chosen_refs

VIEWS = ("op", "scope", "graph", "code")
MOST_CALLERS = 100
"""Rows of the callers of one row."""
MOST_FILTERS = 8
"""Types, and programs, of collectives that a run's tables can be asked for."""
_OWN_FIELDS = ("id", "name", "path", "depth", "parent")


def snapshot(source: Source, extent: Extent | None = None) -> list[SnapshotEntry]:
    """All that the panel can ask about the chosen records: the newest of each kind, run and name."""
    extent = extent or Extent()
    refs = _latest(chosen_refs(source))
    found = [
        SnapshotEntry("index", ({},), _index(source, refs)),
        SnapshotEntry("options", ({},), documents.option_tables()),
    ]
    for lens, kind in LENS_KINDS.items():
        mine = [ref for ref in refs if ref.kind == kind]
        if mine:
            found += _LENSES[lens](source, mine, extent)
    return [*found, *_findings(source, refs)]


def _latest(refs: Iterable[RecordRef]) -> list[RecordRef]:
    latest: dict[tuple[str, str, str], RecordRef] = {}
    for ref in refs:
        key = (ref.run, ref.kind, ref.name)
        latest[key] = newest([ref, latest.get(key, ref)])
    return list(latest.values())


def _index(source: Source, refs: Sequence[RecordRef]) -> dict[str, Any]:
    """The index of these records. Nothing grows in a report."""
    document = documents.index(Query(source, {}))
    held = {(ref.run, ref.kind, ref.name, ref.tag) for ref in refs}
    for run in document["runs"]:
        rows = [row for row in run["records"] if (run["name"], row["kind"], row["name"], row["tag"]) in held]
        run["records"] = [row | {"closed": True} for row in rows]
    document["runs"] = [run for run in document["runs"] if run["records"]]
    return document


def _findings(source: Source, refs: Sequence[RecordRef]) -> Iterator[SnapshotEntry]:
    runs = sorted({ref.run for ref in refs})
    yield SnapshotEntry("findings", ({}, *([{"run": runs[0]}] if len(runs) == 1 else [])), source.findings())
    if len(runs) > 1:
        for run in runs:
            yield SnapshotEntry("findings", ({"run": run},), source.select(run=run).findings())


def _throughput(source: Source, refs: Sequence[RecordRef], extent: Extent) -> Iterator[SnapshotEntry]:
    names = sorted({ref.name for ref in refs})
    every = dataclasses.replace(
        source, selection=dataclasses.replace(source.selection, runs=source.selection.runs or ("*",))
    )

    def rates(name: str | None = None) -> Any:
        return every.select(name=name).throughput(points=extent.points).to_json()

    alone = [{"name": names[0]}] if len(names) == 1 else []
    yield entry("throughput", ({}, *alone), rates)
    if len(names) > 1:
        for name in names:
            yield entry("throughput", ({"name": name},), partial(rates, name))
    yield from _comparisons("throughput", source, refs, extent)


def _incore(source: Source, refs: Sequence[RecordRef], extent: Extent) -> Iterator[SnapshotEntry]:
    for ref in refs:
        yield entry("incore", ({"run": ref.run, "name": ref.name},), partial(_phases, source.select(ref.run, ref.name)))
    yield from _comparisons("incore", source, refs, extent)


def _phases(source: Source) -> Any:
    return source.incore(detail="tasks").to_json()


def _dcn(source: Source, refs: Sequence[RecordRef], extent: Extent) -> Iterator[SnapshotEntry]:
    for run in sorted({ref.run for ref in refs}):
        names = [ref.name for ref in refs if ref.run == run]
        alone = [{"run": run, "name": names[0]}] if len(names) == 1 else []
        whole = entry("dcn", ({"run": run}, *alone), partial(_tables, source.select(run), extent))
        yield whole
        yield from _filtered(source.select(run), run, whole.document)
        if len(names) > 1:
            for name in names:
                yield entry("dcn", ({"run": run, "name": name},), partial(_tables, source.select(run, name), extent))
    yield from _comparisons("dcn", source, refs, extent)


def _tables(source: Source, extent: Extent) -> Any:
    return source.dcn(detail="occurrences", limit=extent.rows).to_json()


def _filtered(source: Source, run: str, document: Any) -> Iterator[SnapshotEntry]:
    """The tables of one type or program, where there are several."""
    rows = document["all_hosts"]["all_cores"] if document else []
    for name in ("transfer_type", "program"):
        words = sorted({row[name] for row in rows if row[name]})
        for word in words[:MOST_FILTERS] if len(words) > 1 else []:
            asked = partial(_one_kind, source, name, word)
            yield entry("dcn", ({"run": run, name: word},), asked)


def _one_kind(source: Source, name: str, word: str) -> Any:
    values: dict[str, Any] = {"detail": "full", name: (word,)}
    return source.dcn(**values).to_json()


def _views(source: Source, refs: Sequence[RecordRef], extent: Extent) -> Iterator[SnapshotEntry]:
    with_panes = newest_profiles(refs, extent)
    for ref in refs:
        question = {"run": ref.run, "name": ref.name}
        for view in VIEWS:
            whole = partial(_view_of, source.select(ref.run, ref.name), view, extent, ref in with_panes)
            yield entry("views", (question | {"view": view},), whole)
        if ref in with_panes:
            yield from pane_documents(source, ref, extent)
    for view in VIEWS:
        yield from _comparisons("views", source, refs, extent, view=view)


def _view_of(source: Source, view: str, extent: Extent, with_panes: bool) -> dict[str, Any]:
    """A kept view with what its toolbar leads to: other panes, and callers of its rows."""
    result = source.views(view=view).result
    document = kept_view(result, extent)
    document["callers"] = _callers(source, result, extent)
    document["panes"] = panes(result.profile) if with_panes else []
    if not with_panes and panes(result.profile):
        what = "the single executions of this profile are left out of the report: steps, trace, tables and memory"
        remedy = "Write it with more --profiles"
        document["problems"].append({"where": "report", "what": what, "count": 1, "remedy": remedy})
    return document


def _callers(source: Source, result: ViewResult, extent: Extent) -> dict[str, Any]:
    """Who calls the costliest rows, by their place in the kept view."""
    kept_rows = _costliest(result, extent)
    place = {row: at for at, row in enumerate(kept_rows.tolist())}
    rows = [row for row in _by_cost(result, kept_rows).tolist() if row > 0][: extent.callers]
    values = {"view": result.view}
    return {str(place[row]): documents.callers_of(source, values, row, limit=MOST_CALLERS) for row in rows}


_LENSES = {"views": _views, "throughput": _throughput, "incore": _incore, "dcn": _dcn}


def _comparisons(
    lens: str, source: Source, refs: Sequence[RecordRef], extent: Extent, **values: str
) -> Iterator[SnapshotEntry]:
    """Comparisons of runs with each other, up to a number of pairs: those side by side first, so that each has some."""
    near = ((a, b) for gap in range(1, len(refs)) for a in range(len(refs)) for b in (a - gap, a + gap))
    inside = ((refs[a], refs[b]) for a, b in near if 0 <= b < len(refs))
    pairs = ((a, b) for a, b in inside if a.run != b.run)
    for a, b in islice(pairs, extent.comparisons):
        try:
            baseline = source.select(b.run, b.name)
            document = getattr(source.select(a.run, a.name), lens)(compare=baseline, **values).to_json(extent.rows)
        except StepscopeError:
            continue
        question = {"run": a.run, "compare": b.run} | values
        yield SnapshotEntry(lens, (question | {"name": a.name}, question), document)


def kept_view(result: ViewResult, extent: Extent) -> dict[str, Any]:
    """A view as a tree of its costliest rows, for `SnapshotView` of frontend/src/report/snapshot_tree.ts."""
    rows = _costliest(result, extent)
    place = {row: at for at, row in enumerate(rows.tolist())}
    left_out = len(result) - len(rows)
    problems = [problem.to_json() for problem in result.problems]
    if left_out:
        what = f"rows of the {result.view} view are left out of the report; the costliest are in it"
        problems.append({"where": "report", "what": what, "count": left_out, "remedy": "Write it with more --rows"})
    return {
        "view": result.view,
        "nested": result.profile.nested,
        "columns": [dataclasses.asdict(spec) for spec in result.fields],
        "steps": [{"id": number, "name": name} for number, name in result.steps],
        "problems": problems,
        "names": result.names(rows),
        "paths": result.paths(rows),
        "kinds": result.op_types(rows),
        "launched": [at for at, launched in enumerate(result.launched(rows)) if launched],
        "parents": [place.get(parent, -1) for parent in result.parent[rows].tolist()],
        "figures": result.figures(rows),
        "details": {str(place[row]): _detail(result, row) for row in _by_cost(result, rows)[: extent.details].tolist()},
    }


def _by_cost(result: ViewResult, rows: Ints) -> Ints:
    """Rows, the costliest first: by time, else by how many nodes they hold."""
    keys = [result.column(name)[rows] for name in ("total_definition_count", "total_exec_micros") if _has(result, name)]
    ordered: Ints = rows[np.lexsort((rows, *(-key for key in keys)))] if keys else rows
    return ordered


def _has(result: ViewResult, name: str) -> bool:
    return any(spec.name == name for spec in result.fields)


def _costliest(result: ViewResult, extent: Extent) -> Ints:
    """The rows that are kept, in order: the costliest of those that are not too deep, and all above them."""
    shallow = np.flatnonzero(result.depth <= extent.depth)
    chosen: set[int] = set()
    parents = result.parent
    for row in _by_cost(result, shallow)[: extent.rows].tolist():
        while row >= 0 and row not in chosen:
            chosen.add(row)
            row = int(parents[row])
    return np.array(sorted(chosen), np.int64)


def _detail(result: ViewResult, row: int) -> dict[str, Any]:
    figures = {spec.name for spec in result.fields}
    detail = result.row_detail(row)
    return {name: value for name, value in detail.items() if name not in figures and name not in _OWN_FIELDS}
