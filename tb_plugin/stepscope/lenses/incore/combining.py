"""Puts records of single runs together as one record of pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stepscope.errors import OptionError
from stepscope.model.columns import StringBuilder
from stepscope.model.incore import InCore, Runs, Variant
from stepscope.model.incore_values import group

_WORDS = ("order", "device", "inputs", "configuration")
_STAMPS = ("producer_start", "producer_end", "consumer_start", "consumer_end")

Row = dict[str, Any]


def combine(records: Sequence[InCore], merged_rows: Sequence[Row | None]) -> InCore:
    """One record of the runs of several.

    Args:
        records: At least one. Each names its pair, or holds runs.
        merged_rows: Per record the four stamps of its merged run, where its timing matrix gives them.

    Raises:
        OptionError: A record belongs to no pair and holds no runs, so that it can only be seen alone.
    """
    strings = StringBuilder()
    rows: list[Row] = []
    for record, merged in zip(records, merged_rows, strict=True):
        runs = [*_own_runs(record), *_as_member(record, merged)]
        if not runs:
            raise OptionError(
                f"{len(records)} records, of which {record.title or record.header.source!r} belongs to no pair",
                where="incore",
                remedy="Choose one record by name or run",
            )
        rows += runs

    columns: Row = {}
    for name in ("run", "pair", "variant"):
        columns[name] = [row[name] for row in rows]
    for name in _WORDS:
        columns[name] = [_string(strings, row[name]) for row in rows]
    for name in _STAMPS:
        columns[name] = np.array([row[name] for row in rows], np.uint64)
    # Records of different clocks have cycles only.
    clock_freq_hz = records[0].clock_freq_hz
    if any(record.clock_freq_hz != clock_freq_hz for record in records):
        clock_freq_hz = 0
    return InCore(
        header=records[0].header,
        clock_freq_hz=clock_freq_hz,
        unit=records[0].unit,
        strings=strings.build(),
        runs=group(Runs, **columns),
    )


def _string(strings: StringBuilder, text: str) -> int:
    """The index of a text, -1 of an empty one."""
    if not text:
        return -1
    return strings(text)


def _own_runs(record: InCore) -> Iterator[Row]:
    runs = record.runs
    belongs = record.pair >= 0 and len(runs) == 1 and int(runs.pair[0]) < 0
    for index in range(len(runs)):
        row: Row = {f.name: getattr(runs, f.name)[index].item() for f in dataclasses.fields(runs)}
        row.update({word: record.text(row[word]) for word in _WORDS})
        if belongs:
            row |= {**_setup(record), "pair": record.pair, "run": -1}
        yield row


def _as_member(record: InCore, merged: Row | None) -> Iterator[Row]:
    if merged and record.pair >= 0:
        yield {
            "run": -1,
            "pair": record.pair,
            "variant": Variant.MERGED,
            "order": "",
            **_setup(record),
            **merged,
        }


def _setup(record: InCore) -> Row:
    return {"device": record.device, "inputs": record.inputs, "configuration": record.configuration}
