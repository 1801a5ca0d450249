"""What a report holds of the views: trees of their costliest rows, their details and callers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from stepscope.lenses.registry import lens_named
from stepscope.lenses.trace.executions import panes
from stepscope.lenses.views import ViewResult
from stepscope.lenses.views.options import VIEWS
from stepscope.model.columns import Ints
from stepscope.panel.documents import callers_of
from stepscope.panel.snapshot_entry import Extent, SnapshotEntry, entry
from stepscope.panel.snapshot_trace import newest_profiles
from stepscope.panel.windows import Windows
from stepscope.session.catalog import RecordRef
from stepscope.session.source import Source

MOST_CALLERS = 100
"""Rows of the callers of one row."""
_TREE_FIELDS = ("id", "name", "path", "depth", "parent")


def view_entries(
    source: Source, refs: Sequence[RecordRef], extent: Extent
) -> Iterator[SnapshotEntry]:
    """The four views of each profile."""
    with_trace = newest_profiles(refs, extent)
    for ref in refs:
        profile = source.select(ref.run, ref.name)
        for view in VIEWS:
            question = {"run": ref.run, "name": ref.name, "view": view}
            document = partial(_view_document, profile, view, extent, with_trace=ref in with_trace)
            yield entry("views", (question,), document)


def _view_document(
    source: Source, view: str, extent: Extent, *, with_trace: bool
) -> dict[str, Any]:
    """A view's tree with what its toolbar leads to: tables of the trace, and callers of its rows."""
    result = source.ask(lens_named("views"), {"view": view}).result
    assert isinstance(result, ViewResult)
    document = view_tree(result, extent)
    document["callers"] = _callers(source, result, extent)
    tables = panes(result.profile)
    document["panes"] = tables if with_trace else []
    if tables and not with_trace:
        what = "this profile's steps, trace, tables and memory are not in the report"
        document["problems"].append(_left_out(what, 1, "Write it with more --profiles"))
    return document


def _left_out(what: str, count: int, remedy: str) -> dict[str, Any]:
    return {"where": "report", "what": what, "count": count, "remedy": remedy}


def _callers(source: Source, result: ViewResult, extent: Extent) -> dict[str, Any]:
    """The callers of the costliest rows, by their place in the tree."""
    rows = _costliest(result, extent)
    place = {row: at for at, row in enumerate(rows.tolist())}
    below_root = [row for row in _by_cost(result, rows).tolist() if row > 0]
    documents = {}
    for row in below_root[: extent.callers]:
        documents[str(place[row])] = callers_of(
            source, {"view": result.view}, row, limit=MOST_CALLERS
        )
    return documents


def view_tree(result: ViewResult, extent: Extent) -> dict[str, Any]:
    """A view as a tree of its costliest rows, for `SnapshotView` of frontend/src/report/snapshot_tree.ts."""
    rows = _costliest(result, extent)
    place = {row: at for at, row in enumerate(rows.tolist())}
    problems = [problem.to_json() for problem in result.problems]
    left_out = len(result) - len(rows)
    if left_out:
        what = f"rows of the {result.view} view are not in the report, which has the costliest"
        problems.append(_left_out(what, left_out, "Write it with more --rows"))
    detailed = _by_cost(result, rows)[: extent.details].tolist()
    return {
        "view": result.view,
        "nested": result.profile.nested,
        "columns": [dataclasses.asdict(spec) for spec in result.fields],
        "steps": [{"id": number, "name": name} for number, name in result.steps],
        "problems": problems,
        "names": result.names(rows),
        "paths": result.paths(rows),
        "resource": result.resolved.resource,
        "time": result.time_field,
        "order": Windows(result).default_sort,
        "kinds": result.kind_words(rows),
        "colors": result.op_types(rows),
        "shares": result.shares(rows),
        "addends": _addends(result, rows),
        "launched": [at for at, launched in enumerate(result.launched(rows)) if launched],
        "parents": [place.get(parent, -1) for parent in result.parent[rows].tolist()],
        "figures": result.figures(rows),
        "details": {str(place[row]): _detail(result, row) for row in detailed},
    }


def _addends(result: ViewResult, rows: Ints) -> dict[str, list[float]]:
    """For each total whose figures do not add up those that do."""
    addends = {}
    for spec in result.fields:
        if not spec.total:
            continue
        exact = result.addends(spec.name)
        if (exact != result.exact(spec.name)).any():
            addends[spec.name] = result.in_unit(spec, exact[rows]).tolist()
    return addends


def _by_cost(result: ViewResult, rows: Ints) -> Ints:
    """Rows, the costliest first: by time, else by how many nodes they hold."""
    known = {spec.name for spec in result.fields}
    keys: list[Any] = [rows]
    for name in ("total_definition_count", f"total_{result.time_field}"):
        if name in known:
            keys.append(-result.column(name)[rows])
    if len(keys) == 1:
        return rows
    ordered: Ints = rows[np.lexsort(keys)]
    return ordered


def _costliest(result: ViewResult, extent: Extent) -> Ints:
    """The rows that a report holds, in preorder: the costliest that are not too deep, with their ancestors."""
    shallow = np.flatnonzero(result.depth <= extent.depth)
    chosen: set[int] = set()
    for row in _by_cost(result, shallow)[: extent.rows].tolist():
        while row >= 0 and row not in chosen:
            chosen.add(row)
            row = int(result.parent[row])
    return np.array(sorted(chosen), np.int64)


def _detail(result: ViewResult, row: int) -> dict[str, Any]:
    in_tree = {spec.name for spec in result.fields}.union(_TREE_FIELDS)
    return {name: value for name, value in result.row_detail(row).items() if name not in in_tree}
