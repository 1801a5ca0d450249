"""An in-core document as flat rows: one renderer for the terminal, CSV and notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepscope.lenses.incore.problems import REMEDIES
from stepscope.lenses.incore.spread import outliers, quartiles
from stepscope.lenses.lens import Document, Row

_PARTS = ("producer", "gap", "consumer", "total")


def document_rows(document: Document, *, invocations: bool) -> list[Row]:
    """The rows of a document: its invocations or their summary, its pairs of runs, or its values."""
    if "per_invocation" in document:
        return invocation_rows(document) if invocations else summary_rows(document)
    if "per_pair" in document:
        return pair_rows(document)
    return value_rows(document)


def invocation_rows(document: Document) -> list[Row]:
    """One row for each valid invocation, with its number."""
    columns = document["columns"]
    rows = []
    for number, values in enumerate(document["per_invocation"]):
        if values is not None:
            rows.append({"invocation": number} | dict(zip(columns, values, strict=True)))
    return rows


def summary_rows(document: Document) -> list[Row]:
    """One row for each phase over the valid invocations, then one for each bad invocation.

    Medians and quartiles are by nearest rank, except for the median of an even number of values,
    which is the mean of the middle two.
    """
    invocations = document["per_invocation"]
    valid = [number for number, values in enumerate(invocations) if values is not None]
    rows = []
    for place, name in enumerate(document["columns"]):
        values = [invocations[number][place] for number in valid]
        far = [valid[index] for index in outliers(values)]
        note = ""
        if far:
            note = f"outliers: {_numbers(far)}"
        rows.append({"value": name, "n": len(values)} | quartiles(values) | {"note": note})
    empty = dict.fromkeys(("n", "min", "p25", "median", "p75", "max"))
    for bad in document["bad_invocations"]:
        note = "; ".join(_problem(problem) for problem in bad["codes"])
        rows.append({"value": f"invocation {bad['invocation']} (bad)"} | empty | {"note": note})
    return rows


def pair_rows(document: Document) -> list[Row]:
    """One row for each pair: the parts of the merged and of the split run, and what merging changes.

    A negative gap is an overlap.
    """
    rows = []
    for pair in document["per_pair"]:
        row: Row = {"pair": pair["pair"]}
        for variant in ("merged", "split"):
            run = pair[variant] or {}
            for part in _PARTS:
                row[f"{variant}_{part}"] = run.get(part, run.get(f"{part}_equivalent"))
        gap = row["split_gap"]
        row["split_overlap"] = None
        if gap is not None:
            row["split_overlap"] = max(-gap, 0)
        row["total_delta"] = pair["total_delta"]
        rows.append(row)
    return rows


def value_rows(document: Document) -> list[Row]:
    """One row for each value of the document, the status first."""
    rows: list[Row] = [{"figure": "status", "value": document.get("status")}]
    for key, value in document.items():
        if key != "status":
            rows += _values(key, value)
    return rows


def _values(key: str, value: Any) -> Iterator[Row]:
    """The rows of a value; what it nests has its place in the name."""
    if key in ("codes", "warnings", "problems"):
        for problem in value:
            yield {"figure": key, "value": _problem(problem)}
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _values(f"{key} {name}", inner)
    elif isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        for number, part in enumerate(value):
            yield from _values(f"{key} {number}", part)
    else:
        yield {"figure": key, "value": _cell(value)}


def _problem(problem: Mapping[str, Any]) -> str:
    """A code with the slots or runs that it concerns, and its remedy."""
    code = str(problem["code"])
    words = [code]
    for subject in ("slots", "runs", "pairs"):
        if problem.get(subject):
            words.append(f"{subject} {_numbers(problem[subject])}")
    return f"{' '.join(words)}. {REMEDIES.get(code, '')}".rstrip()


def _numbers(numbers: Sequence[int]) -> str:
    listed = ", ".join(str(number) for number in numbers[:_MOST_NUMBERS])
    more = len(numbers) - _MOST_NUMBERS
    if more > 0:
        return f"{listed} and {more} more"
    return listed


_MOST_NUMBERS = 8


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return value
