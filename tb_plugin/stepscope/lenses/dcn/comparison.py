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
    """Compares two results by program and rendezvous; a program's id changes with every compilation and is left out.

    Rows are over all hosts, the largest change of total stall first.
    Where one program name stands for several compiled programs, their rows are told apart by their order.
    """
    mine, theirs = _by_key(a.all_cores), _by_key(b.all_cores)
    rows = [_row(key, mine.get(key), theirs.get(key)) for key in dict.fromkeys([*mine, *theirs])]
    rows.sort(key=lambda row: (-abs(_total(row["a"]) - _total(row["b"])), row["key"]))
    stall = [(_total(row["a"]) + _total(row["b"]), row["state"]) for row in rows]
    everything = sum(total for total, _ in stall)
    unmatched = sum(total for total, state in stall if state != "both")
    return Comparison(_title(a), _title(b), tuple(rows), unmatched / everything if everything else 0.0)


def _by_key(rows: Iterable[Row]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        key = f"{row.program.partition('(')[0]}/{row.rendezvous}"
        number = 1
        while (numbered := key if number == 1 else f"{key} #{number}") in found:
            number += 1
        found[numbered] = row
    return found


def _row(key: str, a: Row | None, b: Row | None) -> dict[str, Any]:
    left, right = _figures(a), _figures(b)
    delta = {
        name: left[name] - right[name]
        for name in FIGURES
        if left and right and left[name] is not None and right[name] is not None
    }
    state = "both" if a and b else "added" if a else "removed"
    return {"key": key, "a": left, "b": right, "delta": delta, "state": state}


def _figures(row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    document = row.to_json()
    return {name: document[name] for name in ("program", "transfer_type", *FIGURES)}


def _total(figures: dict[str, Any] | None) -> int:
    return figures["stall_total_ps"] if figures else 0


def _title(result: DcnResult) -> str:
    return ", ".join(dict.fromkeys(r.header.run or r.header.source for r in result.records))
