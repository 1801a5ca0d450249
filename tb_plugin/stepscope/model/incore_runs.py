"""Runs of a merged or split kernel, from the rows that a user or a JSON file gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from stepscope.errors import RecordError
from stepscope.model.columns import StringBuilder
from stepscope.model.incore import Runs, Variant
from stepscope.model.incore_values import exact, stamp

_STAMPS = {Variant.MERGED: ("M0", "B", "A", "M1"), Variant.SPLIT: ("P0", "P1", "C0", "C1")}
_COLUMNS = ("producer_start", "producer_end", "consumer_start", "consumer_end")
_WORDS = ("order", "device", "inputs", "configuration")

Row = dict[str, Any]


def runs_group(
    pairs: Iterable[Mapping[str, Any]],
    split_runs: Iterable[Mapping[str, Any]],
    strings: StringBuilder,
) -> Runs:
    """The runs as columns.

    Args:
        pairs: Each `{"pair", "order", "merged": {M0, B, A, M1} or None,
            "split": {P0, P1, C0, C1} or None}`. A pair or one of its members may state
            `device`, `inputs` and `configuration`.
        split_runs: Each `{"run", P0, P1, C0, C1}`.
        strings: Takes the words.

    Raises:
        RecordError: A run lacks a stamp, or a stamp is no 64-bit integer.
    """
    rows = []
    for index, run in enumerate(split_runs):
        rows.append(_row(run, Variant.SPLIT, f"split_runs[{index}]", run=run.get("run", index)))
    for index, pair in enumerate(pairs):
        rows += _members(pair, index)
    for row in rows:
        for word in _WORDS:
            row[word] = strings(row[word]) if row[word] else -1
    values: dict[str, Any] = {}
    for name in ("run", "pair", "variant", *_WORDS):
        values[name] = [row[name] for row in rows]
    for name in _COLUMNS:
        values[name] = np.array([row[name] for row in rows], np.uint64)
    return Runs(**values)


def _members(pair: Mapping[str, Any], index: int) -> Iterator[Row]:
    where = f"pairs[{index}]"
    members = {variant: pair.get(variant.name.lower()) for variant in Variant}
    if not any(members.values()):
        raise RecordError("a pair without a run", where=where, remedy="Give merged, split, or both")
    for variant, member in members.items():
        if member:
            values = {**pair, **member}
            member_where = f"{where}.{variant.name.lower()}"
            yield _row(values, variant, member_where, pair=pair.get("pair", index))


def _row(
    values: Mapping[str, Any], variant: Variant, where: str, *, run: Any = -1, pair: Any = -1
) -> Row:
    missing = [name for name in _STAMPS[variant] if values.get(name) is None]
    if missing:
        raise RecordError(
            f"a run without {', '.join(missing)}", where=where, remedy="Give its four stamps"
        )
    row: Row = {"run": exact(run, where), "pair": exact(pair, where), "variant": variant}
    row.update({word: str(values.get(word, "")) for word in _WORDS})
    for column, name in zip(_COLUMNS, _STAMPS[variant], strict=True):
        row[column] = stamp(values[name], f"{where}.{name}")
    return row
