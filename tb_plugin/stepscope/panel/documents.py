"""The JSON documents of the routes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from stepscope.errors import OptionError
from stepscope.lenses.registry import LENSES, AnyLens, lens_named
from stepscope.lenses.trace.executions import panes
from stepscope.lenses.views.callers import MOST_ROWS, callers, places_of, places_of_nodes
from stepscope.panel.request import Query
from stepscope.panel.trace_documents import COMPARED_SHAPES, SHAPES, shape_document
from stepscope.panel.trees import Opened
from stepscope.panel.windows import RowWindow, Windows, view_windows
from stepscope.session import options as option_lists
from stepscope.session.catalog import RecordRef
from stepscope.session.source import Source
from stepscope.version import __version__

MAX_TOGGLED = 20_000
MAX_COMPARED = 5000
"""Rows of a comparison of views in the panel: those that differ most."""
VIEW_SHAPES = ("rows", "icicle", "node", "callers")
_NOT_IN_INDEX = ("run", "key")


def index(query: Query) -> dict[str, Any]:
    """All runs and records, and what could not be read."""
    catalog = query.source.catalog
    records: dict[str, list[dict[str, Any]]] = {}
    for ref in catalog.refs():
        records.setdefault(ref.run, []).append(_record_row(ref))
    return {
        "runs": [{"name": run, "records": rows} for run, rows in records.items()],
        "problems": [{"run": problem.run} | problem.to_json() for problem in catalog.problems()],
        "version": __version__,
    }


def _record_row(ref: RecordRef) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(ref) if field.name not in _NOT_IN_INDEX]
    row = {name: getattr(ref, name) for name in names}
    return row | {"written_wall_ns": str(ref.written_wall_ns)}


def views(query: Query) -> dict[str, Any]:
    """A view: a window of its rows, an icicle, one row, its callers, or a comparison."""
    shape = query.text("shape", "rows")
    baseline = query.baseline()
    if baseline is not None and shape not in COMPARED_SHAPES:
        return _compared_view(query, baseline)
    if shape in SHAPES:
        return shape_document(query, shape)

    source = query.selected()
    values = query.options("views")
    windows = view_windows(source, values)
    if shape == "rows":
        return _rows(query, windows)
    if shape == "icicle":
        return windows.icicle(
            metric=query.text("metric"),
            root=query.integer("root", 0),
            width_px=query.integer("width_px", 1000),
            max_depth=query.integer("levels", 50),
        )
    if shape == "node":
        return windows.node(query.integer("id", 0))
    if shape == "callers":
        metric = query.text("metric")
        return callers_of(source, values, query.integer("id", 0), metric)
    known = ", ".join((*VIEW_SHAPES, *SHAPES))
    raise OptionError(f"unknown shape {shape!r}", where="query", remedy=f"Choose from: {known}")


def _compared_view(query: Query, baseline: Source) -> dict[str, Any]:
    limit = min(query.integer("limit", MAX_COMPARED), MAX_COMPARED)
    lens = lens_named("views")
    return query.selected().compare(lens, query.options("views"), baseline).to_json(limit)


def callers_of(
    source: Source,
    values: Mapping[str, Any],
    row: int,
    metric: str = "",
    limit: int = MOST_ROWS,
) -> dict[str, Any]:
    """The callers of a row at all its call sites. Those of an op are in the graph, else in the scopes."""
    windows = view_windows(source, values)
    windows.check_row(row)
    result = windows.result
    metric = metric or windows.default_metric
    if result.view != "op":
        return callers(result, places_of(result, row), windows.total(metric), limit).to_json()

    view = "graph" if result.profile.nested else "scope"
    tree = view_windows(source, {**values, "view": view})
    nodes = result.layout.members(int(result.rows[row]))
    sites = places_of_nodes(tree.result, nodes)
    return callers(tree.result, sites, tree.total(metric), limit).to_json()


def _rows(query: Query, windows: Windows) -> dict[str, Any]:
    result = windows.result
    opened = Opened(
        depth=query.integer("depth", 1),
        toggled=_row_ids(query, "toggled"),
        below=_row_ids(query, "below"),
    )
    window = RowWindow(
        opened=opened,
        offset=query.integer("offset", 0),
        limit=query.integer("limit", 100),
        sort=query.text("sort"),
        search=query.text("search"),
        match=query.integer("match", 0),
        root=query.integer("root", 0),
    )
    head = {
        "view": result.view,
        "options": dataclasses.asdict(result.resolved.options),
        "resource": result.resolved.resource,
        "time": result.time_field,
        "order": windows.default_sort,
        "columns": [dataclasses.asdict(field) for field in result.fields],
        "steps": [{"id": number, "name": name} for number, name in result.steps],
        "problems": [problem.to_json() for problem in result.problems],
        "panes": panes(result.profile),
    }
    return head | windows.rows(window)


def _row_ids(query: Query, name: str) -> tuple[int, ...]:
    text = query.text(name)
    try:
        rows = tuple(int(part) for part in text.split(",") if part)
    except ValueError:
        found = f"{name} must be row ids, got {text[:40]!r}"
        raise OptionError(found, where="query", remedy="Separate them with commas") from None
    if len(rows) > MAX_TOGGLED:
        found = f"too many {name} rows: {len(rows):,}"
        raise OptionError(found, where="query", remedy="Open rows by depth instead")
    return rows


def lens_document(lens: AnyLens, query: Query) -> dict[str, Any]:
    """The document of a lens. One that shows runs together shows all of them where none is selected."""
    source = query.selected()
    if lens.shows == "runs" and not source.selection.runs:
        source = source.select(run="*")
    return source.ask(lens, query.options(lens.name), query.baseline()).to_json()


def findings(query: Query) -> list[dict[str, Any]]:
    """The findings in order."""
    return query.selected().findings(compare=query.baseline())


def summary(query: Query) -> list[dict[str, Any]]:
    """The summary of each run, the worst first."""
    return query.selected().summary(compare=query.baseline())


def option_tables() -> dict[str, list[dict[str, Any]]]:
    """The option tables of all lenses."""
    tables = {}
    for lens, table in option_lists.TABLES.items():
        tables[lens] = [dataclasses.asdict(spec) for spec in table]
    return tables


def routes() -> dict[str, Callable[[Query], Any]]:
    """What makes the document of each route that asks about records."""
    documents: dict[str, Callable[[Query], Any]] = {
        lens.name: partial(lens_document, lens) for lens in LENSES
    }
    # A view is a tree of any size: its route answers in windows.
    return documents | {"index": index, "views": views, "findings": findings, "summary": summary}
