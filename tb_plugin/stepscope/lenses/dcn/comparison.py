"""Two results side by side, collective by collective."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stepscope.lenses.comparison import Comparison
from stepscope.lenses.dcn.options import DcnOptions
from stepscope.lenses.dcn.result import DcnResult
from stepscope.lenses.dcn.rows import Row

FIGURES = (
    "occurrences",
    "slack_ms",
    "stall_ms",
    "observed_ms",
    "send_ms",
    "send_done_ms",
    "recv_ms",
    "recv_done_ms",
    "total_stall_ms",
    "stall_total_ps",
    "bytes",
    "required_bandwidth_gbps",
)


def compare(a: DcnResult, b: DcnResult, options: DcnOptions | None = None) -> Comparison:
    """Compares two results by program and rendezvous.

    A program's id changes with every compilation, so it is not part of the key. Where several
    compiled programs share a name, the order of their rows tells them apart. Rows are over all
    hosts, the largest change of total stall first.
    """
    rows_of_a = _by_key(a.all_cores)
    rows_of_b = _by_key(b.all_cores)
    rows = []
    for key in dict.fromkeys([*rows_of_a, *rows_of_b]):
        rows.append(_row(key, rows_of_a.get(key), rows_of_b.get(key)))
    rows.sort(key=lambda row: (-abs(_total(row["a"]) - _total(row["b"])), row["key"]))

    stall_ps = 0
    unmatched_ps = 0
    for row in rows:
        row_stall_ps = _total(row["a"]) + _total(row["b"])
        stall_ps += row_stall_ps
        if row["state"] != "both":
            unmatched_ps += row_stall_ps
    unmatched_share = 0.0
    if stall_ps:
        unmatched_share = unmatched_ps / stall_ps
    return Comparison(_title(a), _title(b), tuple(rows), unmatched_share)


def _by_key(rows: Iterable[Row]) -> dict[str, Row]:
    """The rows by program name and rendezvous; ` #2` marks the second of one name."""
    by_key: dict[str, Row] = {}
    for row in rows:
        name = f"{row.program.partition('(')[0]}/{row.rendezvous}"
        key = name
        number = 1
        while key in by_key:
            number += 1
            key = f"{name} #{number}"
        by_key[key] = row
    return by_key


def _row(key: str, a: Row | None, b: Row | None) -> dict[str, Any]:
    left = _figures(a)
    right = _figures(b)
    state = "both"
    if left is None:
        state = "removed"
    elif right is None:
        state = "added"
    delta = _delta(left, right)
    return {"key": key, "a": left, "b": right, "delta": delta, "state": state}


def _delta(left: dict[str, Any] | None, right: dict[str, Any] | None) -> dict[str, Any]:
    """a - b of each figure that both sides know."""
    if left is None or right is None:
        return {}
    delta = {}
    for name in FIGURES:
        if left[name] is not None and right[name] is not None:
            delta[name] = left[name] - right[name]
    return delta


def _figures(row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    document = row.to_json()
    return {name: document[name] for name in ("program", "transfer_type", *FIGURES)}


def _total(figures: dict[str, Any] | None) -> int:
    if figures is None:
        return 0
    total_ps: int = figures["stall_total_ps"]
    return total_ps


def _title(result: DcnResult) -> str:
    return ", ".join(dict.fromkeys(r.header.run or r.header.source for r in result.records))
