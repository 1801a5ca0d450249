"""The JSON documents that the routes answer, from a query string."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from stepscope.errors import OptionError
from stepscope.lenses.trace.executions import panes
from stepscope.lenses.views.callers import MOST_ROWS, callers, places_of, places_of_nodes
from stepscope.panel import trace_documents as execution_documents
from stepscope.panel.request import Query
from stepscope.panel.trees import Opened
from stepscope.panel.windows import RowWindow, Windows, view_windows
from stepscope.session import options as option_lists
from stepscope.session.source import Source
from stepscope.version import __version__

MAX_TOGGLED = 20_000
VIEW_SHAPES = ("rows", "icicle", "node", "callers")
MAX_COMPARED = 5000
"""Rows of a comparison of views for the panel: those that differ most."""


def index(query: Query) -> dict[str, Any]:
    """All runs and records, and what could not be read."""
    catalog = query.source.catalog
    records: dict[str, list[dict[str, Any]]] = {}
    for ref in catalog.refs():
        shown = {f.name: getattr(ref, f.name) for f in dataclasses.fields(ref) if f.name not in ("run", "key")}
        records.setdefault(ref.run, []).append(shown | {"written_wall_ns": str(ref.written_wall_ns)})
    runs = [{"name": run, "records": found} for run, found in records.items()]
    problems = [{"run": problem.run} | problem.to_json() for problem in catalog.problems()]
    return {"runs": runs, "problems": problems, "version": __version__}


def views(query: Query) -> dict[str, Any]:
    """A view: a window of its rows, an icicle, one row, or a comparison; or what its executions answer."""
    source, values = query.chosen(), query.options("views")
    baseline, shape = query.baseline(), query.text("shape", "rows")
    if baseline is not None and shape not in execution_documents.COMPARED_SHAPES:
        limit = min(query.integer("limit", MAX_COMPARED), MAX_COMPARED)
        compared: dict[str, Any] = source.views(compare=baseline, **values).to_json(limit)
        return compared
    if shape in execution_documents.SHAPES:
        return execution_documents.answer(query, shape)
    windows = view_windows(source, values)
    if shape == "icicle":
        return windows.icicle(
            query.text("metric", "total_exec_micros"),
            query.integer("root", 0),
            query.integer("width_px", 1000),
            query.integer("levels", 50),
        )
    if shape == "node":
        return windows.node(query.integer("id", 0))
    if shape == "callers":
        return callers_of(source, values, query.integer("id", 0), query.text("metric", "total_exec_micros"))
    if shape != "rows":
        known = ", ".join((*VIEW_SHAPES, *execution_documents.SHAPES))
        raise OptionError(f"shape is {shape!r}", where="query", remedy=f"Choose from {known}")
    return _rows(query, windows)


def callers_of(
    source: Source,
    values: Mapping[str, Any],
    row: int,
    metric: str = "total_exec_micros",
    limit: int = MOST_ROWS,
) -> dict[str, Any]:
    """Who calls what a row is about, in all its places; an op's places are those of the graph, else of the scopes."""
    windows = view_windows(source, values)
    windows.check_row(row)
    result = windows.result
    if result.view != "op":
        return callers(result, places_of(result, row), windows.total(metric), limit).to_json()
    view = "graph" if result.profile.nested else "scope"
    tree = view_windows(source, {**values, "view": view})
    nodes = result.layout.members(int(result.rows[row]))
    return callers(tree.result, places_of_nodes(tree.result, nodes), tree.total(metric), limit).to_json()


def _rows(query: Query, windows: Windows) -> dict[str, Any]:
    result = windows.result
    window = RowWindow(
        Opened(query.integer("depth", 1), _toggled(query.text("toggled")), _toggled(query.text("below"), "below")),
        query.integer("offset", 0),
        query.integer("limit", 100),
        query.text("sort"),
        query.text("search"),
        query.integer("match", 0),
        query.integer("root", 0),
    )
    return {
        "view": result.view,
        "options": dataclasses.asdict(result.resolved.options),
        "columns": [dataclasses.asdict(field) for field in result.fields],
        "steps": [{"id": number, "name": name} for number, name in result.steps],
        "problems": [problem.to_json() for problem in result.problems],
        "panes": panes(result.profile),
    } | windows.rows(window)


def _toggled(text: str, name: str = "toggled") -> tuple[int, ...]:
    try:
        toggled = tuple(int(part) for part in text.split(",") if part)
    except ValueError:
        raise OptionError(f"{name} is {text[:40]!r}", where="query", remedy="Give row ids with commas") from None
    if len(toggled) > MAX_TOGGLED:
        raise OptionError(f"{len(toggled)} toggled rows", where="query", remedy="Open rows by depth instead")
    return toggled


def throughput(query: Query) -> dict[str, Any]:
    """The rates of the chosen runs, all runs when none is chosen."""
    return _lens(query, "throughput", all_runs=True)


def incore(query: Query) -> dict[str, Any]:
    """The phases of the chosen record."""
    return _lens(query, "incore")


def dcn(query: Query) -> dict[str, Any]:
    """The tables of collectives."""
    return _lens(query, "dcn")


def _lens(query: Query, lens: str, *, all_runs: bool = False) -> dict[str, Any]:
    source = query.chosen()
    if all_runs and not source.selection.runs:
        source = dataclasses.replace(source, selection=dataclasses.replace(source.selection, runs=("*",)))
    asked = getattr(source, lens)
    document: dict[str, Any] = asked(compare=query.baseline(), **query.options(lens)).to_json()
    return document


def findings(query: Query) -> list[dict[str, Any]]:
    """What to do first: the findings in order."""
    return query.chosen().findings()


def option_tables() -> dict[str, list[dict[str, Any]]]:
    """The option tables of all lenses."""
    return {lens: [dataclasses.asdict(spec) for spec in table] for lens, table in option_lists.TABLES.items()}
