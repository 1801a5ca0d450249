"""The table of collectives: sums over occurrences, exact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

_BITS = 8
_PS_PER_MS = 10**9
_PS_PER_S = 10**12


@dataclass(frozen=True)
class Row:
    """A collective of a program, over the occurrences of a core, a host or all hosts.

    Attributes:
        transfer_type: None when unknown; so are `payload_bytes` and `group_size`.
        slack_own_ops_only_total_ps: Slack in which only the collective's own ops are no slack.
        occurrences_missing_recv: Occurrences whose recv the profile does not hold.
    """

    program: str
    rendezvous: str
    transfer_type: str | None
    send_op: str
    recv_op: str
    occurrences: int
    payload_bytes: int | None
    group_size: int | None
    slack_total_ps: int
    slack_own_ops_only_total_ps: int
    stall_total_ps: int
    observed_total_ps: int
    send_total_ps: int
    send_done_total_ps: int
    recv_total_ps: int
    recv_done_total_ps: int
    occurrences_missing_recv: int = 0
    occurrences_missing_send_done: int = 0

    @property
    def bytes_exact(self) -> Fraction | None:
        """Bytes that one core sends per occurrence, None when unknown. See `transferred_bytes`."""
        return transferred_bytes(self.transfer_type, self.payload_bytes, self.group_size)

    @property
    def required_bandwidth_bps(self) -> Fraction | None:
        """Bits per second that move the bytes in the mean slack; None when infinite or unknown."""
        size = self.bytes_exact
        if size is None or not self.slack_total_ps:
            return None
        return size * _BITS * _PS_PER_S * self.occurrences / self.slack_total_ps

    def mean_ps(self, figure: str) -> Fraction:
        """The mean of a figure over the occurrences."""
        return Fraction(getattr(self, f"{figure}_total_ps"), self.occurrences)

    def to_json(self) -> dict[str, Any]:
        """The row of the document."""
        size = self.bytes_exact
        bandwidth = self.required_bandwidth_bps
        row: dict[str, Any] = {name: getattr(self, name) for name in _PLAIN}
        row["bytes_exact"] = _pair(size)
        row |= {name: getattr(self, name) for name in _TOTALS}
        for figure in FIGURES:
            mean = self.mean_ps(figure)
            row[f"{figure}_mean_ps"] = _pair(mean)
            row[f"{figure}_ms"] = float(mean / _PS_PER_MS)
        row["total_stall_ms"] = float(Fraction(self.stall_total_ps, _PS_PER_MS))
        row["bytes"] = _number(size)
        row["required_bandwidth_bps"] = _pair(bandwidth)
        row["required_bandwidth_gbps"] = None
        if bandwidth is not None:
            row["required_bandwidth_gbps"] = float(bandwidth / 10**9)
        elif size is None:
            row["required_bandwidth_note"] = "unknown size"
        else:
            row["required_bandwidth_note"] = "infinite (no slack)"
        return row


FIGURES = ("slack", "stall", "observed", "send", "send_done", "recv", "recv_done")
_PLAIN = (
    "program",
    "rendezvous",
    "transfer_type",
    "send_op",
    "recv_op",
    "occurrences",
    "payload_bytes",
    "group_size",
)
_TOTALS = (
    "slack_total_ps",
    "slack_own_ops_only_total_ps",
    *(f"{figure}_total_ps" for figure in FIGURES[1:]),
    "occurrences_missing_recv",
    "occurrences_missing_send_done",
)


def merged(rows: Iterable[Row]) -> tuple[Row, ...]:
    """One row per collective, by program and rendezvous.

    Counts and times are sums. Of transfer type, payload and group the first known value stays.
    """
    by_collective: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = (row.program, row.rendezvous)
        if key in by_collective:
            row = _sum(by_collective[key], row)
        by_collective[key] = row
    return tuple(by_collective[key] for key in sorted(by_collective))


def _sum(a: Row, b: Row) -> Row:
    changes = {name: getattr(b, name) for name in _MAY_BE_UNKNOWN if getattr(a, name) is None}
    for name in ("occurrences", *_TOTALS):
        changes[name] = getattr(a, name) + getattr(b, name)
    return replace(a, **changes)


_MAY_BE_UNKNOWN = ("transfer_type", "payload_bytes", "group_size")


def _pair(value: Fraction | None) -> list[int] | None:
    if value is None:
        return None
    return [value.numerator, value.denominator]


def _number(value: Fraction | None) -> int | float | None:
    """A fraction as JSON has it: an integer where it is whole."""
    if value is None:
        return None
    if value.denominator == 1:
        return int(value)
    return float(value)


def transferred_bytes(
    transfer_type: str | None,
    payload_bytes: int | None,
    group_size: int | None,
) -> Fraction | None:
    """Bytes that a core sends for one occurrence, for a result of `payload_bytes` on each slice.

    All-reduce is a reduce-scatter and an all-gather, so it moves twice (g - 1) / g of the result.
    None for ragged all-to-all, whose sizes the program does not say, and where the type, size or
    group is unknown.
    """
    if transfer_type is None or payload_bytes is None or not group_size:
        return None
    size = payload_bytes
    g = group_size
    if transfer_type == "ONE_TO_ONE":
        return Fraction(g * size)
    if transfer_type in ("ALL_GATHER", "ALL_TO_ALL"):
        return Fraction((g - 1) * size, g)
    if transfer_type == "ALL_REDUCE":
        return Fraction(2 * (g - 1) * size, g)
    if transfer_type == "REDUCE_SCATTER":
        return Fraction((g - 1) * size)
    return None


def by_total_stall(rows: Sequence[Row]) -> list[Row]:
    """The rows by total stall, the largest first."""
    return sorted(rows, key=lambda row: (-row.stall_total_ps, row.program, row.rendezvous))
