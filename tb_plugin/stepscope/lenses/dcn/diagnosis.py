"""Why a collective stalls: the questions that the public guide to multislice profiles has its reader ask, answered.

See https://cloud.google.com/tpu/docs/troubleshooting/troubleshoot-multislice and the XProf documentation of its table.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.lenses.dcn.pairing import Flags
from stepscope.lenses.dcn.rows import Row, by_total_stall
from stepscope.model.arrays import I64
from stepscope.model.collectives import Collectives, OpKind

if TYPE_CHECKING:
    from stepscope.lenses.dcn.result import DcnResult

LONG_RECV_DONE = 0.5
"""A recv-done is long when it lasts at least this part of the slack: the data came late although it had time."""
NEAR_ZERO_SLACK = 0.01
"""Slack is near zero below this part of the observed duration: nothing was there to overlap."""
HEALTHY_STALL = 0.01
"""A collective is healthy where it stalls for less than this part of its observed duration."""
HEALTHY_TIME = 0.005
"""All collectives are healthy where together they stall for less than this part of the profiled time."""
TINY_BYTES = 1 << 20
"""Below this size a transfer costs latency, not bandwidth."""


@dataclass(frozen=True)
class Cause:
    """What one collective's figures say.

    Attributes:
        stall_share: Of the stall of all collectives, 0 to 1.
        time_share: Stall as a part of the profiled time of the cores, 0 to 1; None when that is unknown.
        host_gbps: Required bandwidth times the cores of a host; None when infinite or unknown.
        capacity_share: That against the capacity given, None when either is not known.
        recv_done_per_slack: Mean recv-done over mean slack, None without slack.
        verdict: healthy, congestion, bandwidth, no_overlap or hardware; None where nothing stalls.
    """

    row: Row
    stall_share: float
    time_share: float | None
    host_gbps: float | None
    capacity_share: float | None
    recv_done_per_slack: float | None
    verdict: str | None

    def to_json(self) -> dict[str, Any]:
        """The cause as a document."""
        figures = ("stall_share", "time_share", "host_gbps", "capacity_share", "recv_done_per_slack", "verdict")
        row = {"program": self.row.program, "rendezvous": self.row.rendezvous}
        return row | {name: getattr(self, name) for name in figures}


def causes(result: DcnResult) -> list[Cause]:
    """The collectives by aggregated total stall, the worst first, each with what its figures say."""
    rows = by_total_stall(result.all_cores)
    all_stall_ps = sum(row.stall_total_ps for row in rows)
    time_ps = profiled_ps(result)
    cores = cores_per_host(result)
    capacity = result.options.network_gbps
    return [
        _cause(row, all_stall_ps=all_stall_ps, time_ps=time_ps, cores=cores, capacity_gbps=capacity) for row in rows
    ]


def _cause(row: Row, *, all_stall_ps: int, time_ps: int, cores: int, capacity_gbps: float | None) -> Cause:
    host_gbps = None
    if row.required_bandwidth_bps is not None:
        host_gbps = float(row.required_bandwidth_bps * cores / 10**9)
    capacity_share = None
    if host_gbps is not None and capacity_gbps is not None:
        capacity_share = host_gbps / capacity_gbps
    recv_done_per_slack = None
    if row.slack_total_ps:
        recv_done_per_slack = float(Fraction(row.recv_done_total_ps, row.slack_total_ps))

    if not row.stall_total_ps:
        verdict = None
    elif is_healthy(row, all_stall_ps, time_ps):
        verdict = "healthy"
    else:
        verdict = _stall_verdict(row, capacity_share, recv_done_per_slack)
    return Cause(
        row=row,
        stall_share=row.stall_total_ps / all_stall_ps if all_stall_ps else 0.0,
        time_share=row.stall_total_ps / time_ps if time_ps else None,
        host_gbps=host_gbps,
        capacity_share=capacity_share,
        recv_done_per_slack=recv_done_per_slack,
        verdict=verdict,
    )


def is_healthy(row: Row, all_stall_ps: int, time_ps: int) -> bool:
    """Whether a collective's stall is too short to matter: of its own duration, or of the profiled time."""
    if row.stall_total_ps < HEALTHY_STALL * row.observed_total_ps:
        return True
    return bool(time_ps) and all_stall_ps < HEALTHY_TIME * time_ps


def _stall_verdict(row: Row, capacity_share: float | None, recv_done_per_slack: float | None) -> str:
    if has_no_overlap(row):
        return "no_overlap"
    if capacity_share is not None and capacity_share >= 1:
        return "congestion"
    if recv_done_per_slack is not None and recv_done_per_slack >= LONG_RECV_DONE:
        return "bandwidth"
    return "hardware"


def has_no_overlap(row: Row) -> bool:
    """Whether a collective has hardly any slack: nothing runs between its send and its recv-done."""
    return row.slack_total_ps < NEAR_ZERO_SLACK * row.observed_total_ps


def cores_per_host(result: DcnResult) -> int:
    """How many cores share a host's network: as given, else the most of any host in the profile."""
    return result.options.cores_per_host or max((len(host.cores) for host in result.hosts), default=1) or 1


def profiled_ps(result: DcnResult) -> int:
    """The time that the cores were profiled, all added up."""
    windows = [table.core.window_ps for host in result.hosts for table in host.cores]
    return sum(end - start for start, end in windows)


@dataclass(frozen=True)
class TinyCollectives:
    """Collectives that move little, against all whose size is known."""

    collectives: int
    of_collectives: int
    bytes_share: float
    stall_share: float


def tiny_collectives(result: DcnResult) -> TinyCollectives:
    """The collectives that move less than 1 MiB per occurrence: many of them are better fused into few."""
    sized = [(row, size * row.occurrences) for row in result.all_cores if (size := row.bytes_exact) is not None]
    tiny = [(row, moved) for row, moved in sized if moved < TINY_BYTES * row.occurrences]
    moved = sum(amount for _, amount in sized)
    stall = sum(row.stall_total_ps for row, _ in sized)
    return TinyCollectives(
        len(tiny),
        len(sized),
        float(sum(amount for _, amount in tiny) / moved) if moved else 0.0,
        sum(row.stall_total_ps for row, _ in tiny) / stall if stall else 0.0,
    )


@dataclass(frozen=True)
class Neighbour:
    """An instruction near a collective. `mean_ps` is its mean time on a core, 0 when the profile does not say."""

    name: str
    opcode: str
    op_name: str
    mean_ps: int


@dataclass(frozen=True)
class Neighbourhood:
    """The schedule around a collective.

    Attributes:
        between: What is scheduled between the send and the recv-done, in order, without other transfers.
        movable: What stands elsewhere, needs nothing that is received and feeds nothing that is sent, so that it could
            overlap as well; the longest first.
    """

    program: str
    rendezvous: str
    between: tuple[Neighbour, ...]
    movable: tuple[Neighbour, ...]

    @property
    def overlapped_ps(self) -> int:
        """The mean time of what is between."""
        return sum(n.mean_ps for n in self.between)

    @property
    def movable_ps(self) -> int:
        """The mean time of what could be moved between."""
        return sum(n.mean_ps for n in self.movable)

    def to_json(self, limit: int = 20) -> dict[str, Any]:
        """The neighbourhood as a document, with the longest instructions of each part."""
        return {
            "program": self.program,
            "rendezvous": self.rendezvous,
            "between_count": len(self.between),
            "overlapped_ps": self.overlapped_ps,
            "movable_count": len(self.movable),
            "movable_ps": self.movable_ps,
            "between": [vars(n) for n in sorted(self.between, key=lambda n: -n.mean_ps)[:limit]],
            "movable": [vars(n) for n in self.movable[:limit]],
        }


def neighbourhood(result: DcnResult, row: Row) -> Neighbourhood | None:
    """The schedule around a collective, None where the profile holds no HLO of it."""
    for record in result.records:
        places = _places(record, row)
        if places:
            return _around(record, row, *places)
    return None


def _places(record: Collectives, row: Row) -> tuple[int, int] | None:
    """Where the send and the recv-done of a collective stand in the schedule."""
    texts = list(record.strings)
    ops = record.instructions
    found = {
        int(kind): scheduled
        for kind, program, rendezvous, scheduled in zip(
            ops.kind.tolist(), ops.program.tolist(), ops.rendezvous.tolist(), ops.scheduled.tolist(), strict=True
        )
        if scheduled >= 0 and rendezvous >= 0 and texts[rendezvous] == row.rendezvous and texts[program] == row.program
    }
    send, recv_done = found.get(OpKind.SEND), found.get(OpKind.RECV_DONE)
    return None if send is None or recv_done is None else (send, recv_done)


def _around(record: Collectives, row: Row, send: int, recv_done: int) -> Neighbourhood:
    schedule = record.schedule
    same = (schedule.program == schedule.program[send]) & (schedule.computation == schedule.computation[send])
    feeds, needs = _ancestors(record, send), _descendants(record, recv_done)
    place = np.arange(len(schedule))
    between = (place > send) & (place < recv_done) & ~_is_transfer(record)
    movable = same & ~between & ~feeds & ~needs & (schedule.total_ps > 0) & ~_is_transfer(record)
    rows = np.flatnonzero(movable)
    rows = rows[np.argsort(-_mean(record)[rows], kind="stable")]
    return Neighbourhood(
        row.program, row.rendezvous, _neighbours(record, np.flatnonzero(between)), _neighbours(record, rows)
    )


def _is_transfer(record: Collectives) -> Flags:
    names = {i for i, text in enumerate(record.strings) if text in ("send", "send-done", "recv", "recv-done")}
    return np.isin(record.schedule.opcode, list(names))


def _mean(record: Collectives) -> I64:
    mean: I64 = record.schedule.total_ps // np.maximum(record.schedule.run_count, 1)
    return mean


def _neighbours(record: Collectives, rows: I64) -> tuple[Neighbour, ...]:
    schedule, mean = record.schedule, _mean(record)

    def text(index: int) -> str:
        return str(record.strings[index]) if index >= 0 else ""

    return tuple(
        Neighbour(text(schedule.name[i]), text(schedule.opcode[i]), text(schedule.op_name[i]), int(mean[i]))
        for i in rows.tolist()
    )


def _ancestors(record: Collectives, row: int) -> Flags:
    """What an instruction is computed from, and itself."""
    end, source = record.schedule.operand_end, record.operands.source
    found = np.zeros(len(end), np.bool_)
    waiting = [row]
    while waiting:
        at = waiting.pop()
        if not found[at]:
            found[at] = True
            waiting += source[(end[at - 1] if at else 0) : end[at]].tolist()
    return found


def _descendants(record: Collectives, row: int) -> Flags:
    """What is computed from an instruction, and itself."""
    end, source = record.schedule.operand_end, record.operands.source
    user = np.repeat(np.arange(len(end)), np.diff(end, prepend=0))
    order = np.argsort(source, kind="stable")
    ordered, users = source[order], user[order]
    found = np.zeros(len(end), np.bool_)
    waiting = [row]
    while waiting:
        at = waiting.pop()
        if not found[at]:
            found[at] = True
            low, high = np.searchsorted(ordered, (at, at + 1))
            waiting += users[low:high].tolist()
    return found
