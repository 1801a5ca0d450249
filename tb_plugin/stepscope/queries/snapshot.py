"""What a report holds: the documents that the panel would ask for, each with the question that it answers.

frontend/src/report/ answers the panel from them. Views are kept as trees, so that opening, sorting, searching and
zooming need no server; everything else is kept as it is answered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, permutations
from typing import Any

import numpy as np

from stepscope.errors import StepscopeError
from stepscope.lenses.views import ViewResult
from stepscope.model.columns import Ints
from stepscope.queries import documents
from stepscope.queries.asking import Source
from stepscope.queries.catalog import RecordRef
from stepscope.queries.documents import Query
from stepscope.queries.joined import chosen_refs
from stepscope.queries.lenses import LENS_KINDS
from stepscope.queries.selection import newest

VIEWS = ("op", "scope", "graph", "code")
_MEMORY_COLUMNS = 1000
_OWN_FIELDS = ("id", "name", "path", "depth", "parent")


@dataclass(frozen=True)
class Extent:
    """How much a report holds.

    Attributes:
        depth: Levels of a view.
        rows: Rows of a view and of a comparison: those that cost the most, and what is above them.
        details: Rows of a view with all that is known of them.
        points: Points of a throughput series.
        comparisons: Pairs of runs that are compared in each lens.
    """

    depth: int = 64
    rows: int = 2000
    details: int = 200
    points: int = 2000
    comparisons: int = 12


@dataclass(frozen=True)
class Kept:
    """A document, and the questions that it answers; or the error that they are answered with."""

    route: str
    questions: tuple[dict[str, str], ...]
    document: Any
    error: dict[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """What frontend/src/report/kept_documents.ts reads."""
        answer = {"document": self.document} if self.error is None else {"error": self.error}
        return {"route": self.route, "questions": self.questions} | answer


def _kept(route: str, questions: Sequence[dict[str, str]], make: Callable[[], Any]) -> Kept:
    """What a question is answered, be it with an error: one bad record does not stop a report."""
    try:
        return Kept(route, tuple(questions), make())
    except StepscopeError as error:
        said = {"found": error.found, "where": error.where, "remedy": error.remedy}
        return Kept(route, tuple(questions), None, said)


def snapshot(source: Source, extent: Extent | None = None) -> list[Kept]:
    """All that the panel can ask about the chosen records: the newest of each kind, run and name."""
    extent = extent or Extent()
    refs = _latest(chosen_refs(source))
    kept = [Kept("index", ({},), _index(source, refs)), Kept("options", ({},), documents.option_tables())]
    for lens, kind in LENS_KINDS.items():
        mine = [ref for ref in refs if ref.kind == kind]
        if mine:
            kept += _LENSES[lens](source, mine, extent)
    return [*kept, *_findings(source, refs)]


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


def _findings(source: Source, refs: Sequence[RecordRef]) -> Iterator[Kept]:
    runs = sorted({ref.run for ref in refs})
    yield Kept("findings", ({}, *([{"run": runs[0]}] if len(runs) == 1 else [])), source.findings())
    if len(runs) > 1:
        for run in runs:
            yield Kept("findings", ({"run": run},), source.choose(run=run).findings())


def _throughput(source: Source, refs: Sequence[RecordRef], extent: Extent) -> Iterator[Kept]:
    names = sorted({ref.name for ref in refs})
    every = dataclasses.replace(source, choice=dataclasses.replace(source.choice, runs=source.choice.runs or ("*",)))

    def rates(name: str | None = None) -> Any:
        return every.choose(name=name).throughput(points=extent.points).to_json()

    alone = [{"name": names[0]}] if len(names) == 1 else []
    yield _kept("throughput", ({}, *alone), rates)
    if len(names) > 1:
        for name in names:
            yield _kept("throughput", ({"name": name},), partial(rates, name))
    yield from _comparisons("throughput", source, refs, extent)


def _incore(source: Source, refs: Sequence[RecordRef], extent: Extent) -> Iterator[Kept]:
    for ref in refs:
        yield _kept("incore", ({"run": ref.run, "name": ref.name},), partial(_phases, source.choose(ref.run, ref.name)))
    yield from _comparisons("incore", source, refs, extent)


def _phases(source: Source) -> Any:
    return source.incore(detail="tasks").to_json()


def _dcn(source: Source, refs: Sequence[RecordRef], extent: Extent) -> Iterator[Kept]:
    def tables(run: str, name: str | None = None) -> Any:
        return source.choose(run, name).dcn(detail="occurrences", limit=extent.rows).to_json()

    for run in sorted({ref.run for ref in refs}):
        names = [ref.name for ref in refs if ref.run == run]
        alone = [{"run": run, "name": names[0]}] if len(names) == 1 else []
        yield _kept("dcn", ({"run": run}, *alone), partial(tables, run))
        if len(names) > 1:
            for name in names:
                yield _kept("dcn", ({"run": run, "name": name},), partial(tables, run, name))
    yield from _comparisons("dcn", source, refs, extent)


def _views(source: Source, refs: Sequence[RecordRef], extent: Extent) -> Iterator[Kept]:
    for ref in refs:
        one, question = source.choose(ref.run, ref.name), {"run": ref.run, "name": ref.name}
        for view in VIEWS:
            yield _kept("views", (question | {"view": view},), partial(_kept_view, one, view, extent))
        yield _kept("views", (question | {"shape": "memory"},), partial(_memory, source, ref))
    for view in VIEWS:
        yield from _comparisons("views", source, refs, extent, view=view)


def _kept_view(source: Source, view: str, extent: Extent) -> dict[str, Any]:
    return kept_view(source.views(view=view).result, extent)


def _memory(source: Source, ref: RecordRef) -> Any:
    asked = {"run": ref.run, "name": ref.name, "shape": "memory", "width_px": str(_MEMORY_COLUMNS)}
    return documents.views(Query(source, {name: [text] for name, text in asked.items()}))


_LENSES = {"views": _views, "throughput": _throughput, "incore": _incore, "dcn": _dcn}


def _comparisons(lens: str, source: Source, refs: Sequence[RecordRef], extent: Extent, **values: str) -> Iterator[Kept]:
    """The comparisons of each run with each other, up to a number of pairs."""
    pairs = ((a, b) for a, b in permutations(refs, 2) if a.run != b.run)
    for a, b in islice(pairs, extent.comparisons):
        try:
            baseline = source.choose(b.run, b.name)
            document = getattr(source.choose(a.run, a.name), lens)(compare=baseline, **values).to_json(extent.rows)
        except StepscopeError:
            continue
        question = {"run": a.run, "compare": b.run} | values
        yield Kept(lens, (question | {"name": a.name}, question), document)


def kept_view(result: ViewResult, extent: Extent) -> dict[str, Any]:
    """A view as a tree of its costliest rows, for `KeptView` of frontend/src/report/kept_tree.ts."""
    rows = _costliest(result, extent)
    place = {row: at for at, row in enumerate(rows.tolist())}
    left_out = len(result) - len(rows)
    problems = [dataclasses.asdict(loss) for loss in result.problems]
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
