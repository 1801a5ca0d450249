"""Why a collective stalls, by the rules of the public guide to multislice profiles.

See https://cloud.google.com/tpu/docs/troubleshooting/troubleshoot-multislice and the XProf
documentation of its table.
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
"""A recv-done of at least this part of the slack is long: data with time to arrive came late."""
NEAR_ZERO_SLACK = 0.01
"""Slack is near zero below this part of the observed duration: nothing was there to overlap."""
HEALTHY_STALL = 0.01
"""A collective is healthy where it stalls for less than this part of its observed duration."""
HEALTHY_TIME = 0.005
"""All collectives are healthy where their stall is below this part of the profiled time."""
TINY_BYTES = 1 << 20
"""Below this size a transfer costs latency, not bandwidth."""
TRANSFER_OPCODES = ("send", "send-done", "recv", "recv-done")


@dataclass(frozen=True)
class Cause:
    """What one collective's figures say.

    Attributes:
        stall_share: Of the stall of all collectives, 0 to 1.
        time_share: Stall as a part of the profiled time of the cores, 0 to 1; None when unknown.
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
        return {
            "program": self.row.program,
            "rendezvous": self.row.rendezvous,
            "stall_share": self.stall_share,
            "time_share": self.time_share,
            "host_gbps": self.host_gbps,
            "capacity_share": self.capacity_share,
            "recv_done_per_slack": self.recv_done_per_slack,
            "verdict": self.verdict,
        }


def causes(result: DcnResult) -> list[Cause]:
    """The collectives by total stall, the worst first, each with its diagnosis."""
    rows = by_total_stall(result.all_cores)
    all_stall_ps = sum(row.stall_total_ps for row in rows)
    time_ps = profiled_ps(result)
    cores = cores_per_host(result)
    diagnosed = []
    for row in rows:
        cause = _cause(
            row,
            all_stall_ps=all_stall_ps,
            time_ps=time_ps,
            cores=cores,
            capacity_gbps=result.options.network_gbps,
        )
        diagnosed.append(cause)
    return diagnosed


def _cause(
    row: Row,
    *,
    all_stall_ps: int,
    time_ps: int,
    cores: int,
    capacity_gbps: float | None,
) -> Cause:
    host_gbps = None
    if row.required_bandwidth_bps is not None:
        host_gbps = float(row.required_bandwidth_bps * cores / 10**9)
    capacity_share = None
    if host_gbps is not None and capacity_gbps is not None:
        capacity_share = host_gbps / capacity_gbps
    recv_done_per_slack = None
    if row.slack_total_ps:
        recv_done_per_slack = float(Fraction(row.recv_done_total_ps, row.slack_total_ps))

    stall_share = 0.0
    if all_stall_ps:
        stall_share = row.stall_total_ps / all_stall_ps
    time_share = None
    if time_ps:
        time_share = row.stall_total_ps / time_ps

    if not row.stall_total_ps:
        verdict = None
    elif is_healthy(row, all_stall_ps, time_ps):
        verdict = "healthy"
    else:
        verdict = _stall_verdict(row, capacity_share, recv_done_per_slack)
    return Cause(
        row=row,
        stall_share=stall_share,
        time_share=time_share,
        host_gbps=host_gbps,
        capacity_share=capacity_share,
        recv_done_per_slack=recv_done_per_slack,
        verdict=verdict,
    )


def is_healthy(row: Row, all_stall_ps: int, time_ps: int) -> bool:
    """Whether a stall is too short to matter: of the collective's duration or the profiled time."""
    if row.stall_total_ps < HEALTHY_STALL * row.observed_total_ps:
        return True
    return bool(time_ps) and all_stall_ps < HEALTHY_TIME * time_ps


def _stall_verdict(
    row: Row,
    capacity_share: float | None,
    recv_done_per_slack: float | None,
) -> str:
    if has_no_overlap(row):
        return "no_overlap"
    if capacity_share is not None and capacity_share >= 1:
        return "congestion"
    if recv_done_per_slack is not None and recv_done_per_slack >= LONG_RECV_DONE:
        return "bandwidth"
    return "hardware"


def has_no_overlap(row: Row) -> bool:
    """Whether a collective has hardly any slack: nothing runs between send and recv-done."""
    return row.slack_total_ps < NEAR_ZERO_SLACK * row.observed_total_ps


def cores_per_host(result: DcnResult) -> int:
    """Cores that share a host's network: as given, else the most of any host in the profile."""
    if result.options.cores_per_host is not None:
        return result.options.cores_per_host
    counts = [len(host.cores) for host in result.hosts]
    return max(1, *counts)


def profiled_ps(result: DcnResult) -> int:
    """The profiled time of all cores, added up."""
    total_ps = 0
    for host in result.hosts:
        for table in host.cores:
            start_ps, end_ps = table.core.window_ps
            total_ps += end_ps - start_ps
    return total_ps


@dataclass(frozen=True)
class TinyCollectives:
    """Collectives that move little.

    Attributes:
        collectives: Their number; `of_collectives` counts all whose size is known.
        bytes_share: Their part of the bytes moved, 0 to 1.
        stall_share: Their part of the stall, 0 to 1.
    """

    collectives: int
    of_collectives: int
    bytes_share: float
    stall_share: float


def tiny_collectives(result: DcnResult) -> TinyCollectives:
    """The collectives that move less than 1 MiB per occurrence; fusing them saves latency."""
    count = 0
    tiny_count = 0
    moved_bytes = Fraction(0)
    tiny_bytes = Fraction(0)
    stall_ps = 0
    tiny_stall_ps = 0
    for row in result.all_cores:
        if row.bytes_exact is None:
            continue
        row_bytes = row.bytes_exact * row.occurrences
        count += 1
        moved_bytes += row_bytes
        stall_ps += row.stall_total_ps
        if row.bytes_exact < TINY_BYTES:
            tiny_count += 1
            tiny_bytes += row_bytes
            tiny_stall_ps += row.stall_total_ps

    bytes_share = 0.0
    if moved_bytes:
        bytes_share = float(tiny_bytes / moved_bytes)
    stall_share = 0.0
    if stall_ps:
        stall_share = tiny_stall_ps / stall_ps
    return TinyCollectives(
        collectives=tiny_count,
        of_collectives=count,
        bytes_share=bytes_share,
        stall_share=stall_share,
    )


@dataclass(frozen=True)
class Neighbour:
    """An instruction near a collective. `mean_ps` is its mean time on a core, 0 where unknown."""

    name: str
    opcode: str
    op_name: str
    mean_ps: int


@dataclass(frozen=True)
class Neighbourhood:
    """The schedule around a collective.

    Attributes:
        between: Instructions scheduled between the send and the recv-done, in order, without other
            transfers.
        movable: Instructions elsewhere that need nothing received and feed nothing sent, so that
            they could overlap as well; the longest first.
    """

    program: str
    rendezvous: str
    between: tuple[Neighbour, ...]
    movable: tuple[Neighbour, ...]

    @property
    def overlapped_ps(self) -> int:
        """The mean time of the instructions between."""
        return sum(neighbour.mean_ps for neighbour in self.between)

    @property
    def movable_ps(self) -> int:
        """The mean time of the instructions that could be moved between."""
        return sum(neighbour.mean_ps for neighbour in self.movable)

    def to_json(self, limit: int = 20) -> dict[str, Any]:
        """The neighbourhood as a document, with the longest instructions of each part."""
        longest_between = sorted(self.between, key=lambda neighbour: -neighbour.mean_ps)
        return {
            "program": self.program,
            "rendezvous": self.rendezvous,
            "between_count": len(self.between),
            "overlapped_ps": self.overlapped_ps,
            "movable_count": len(self.movable),
            "movable_ps": self.movable_ps,
            "between": [vars(neighbour) for neighbour in longest_between[:limit]],
            "movable": [vars(neighbour) for neighbour in self.movable[:limit]],
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
    rendezvous_of = ops.rendezvous.tolist()
    program_of = ops.program.tolist()
    send = None
    recv_done = None
    for i in np.flatnonzero((ops.scheduled >= 0) & (ops.rendezvous >= 0)).tolist():
        if texts[rendezvous_of[i]] != row.rendezvous or texts[program_of[i]] != row.program:
            continue
        if ops.kind[i] == OpKind.SEND:
            send = int(ops.scheduled[i])
        elif ops.kind[i] == OpKind.RECV_DONE:
            recv_done = int(ops.scheduled[i])
    if send is None or recv_done is None:
        return None
    return send, recv_done


def _around(record: Collectives, row: Row, send: int, recv_done: int) -> Neighbourhood:
    schedule = record.schedule
    place = np.arange(len(schedule))
    is_transfer = _is_transfer(record)
    is_between = (place > send) & (place < recv_done) & ~is_transfer
    is_same_program = schedule.program == schedule.program[send]
    is_same_computation = schedule.computation == schedule.computation[send]
    depends = _ancestors(record, send) | _descendants(record, recv_done)
    # What takes no time gains nothing by being moved.
    takes_time = schedule.total_ps > 0
    is_movable = is_same_program & is_same_computation & takes_time
    is_movable &= ~is_between & ~depends & ~is_transfer

    movable = np.flatnonzero(is_movable)
    longest_first = np.argsort(-_mean(record)[movable], kind="stable")
    return Neighbourhood(
        program=row.program,
        rendezvous=row.rendezvous,
        between=_neighbours(record, np.flatnonzero(is_between)),
        movable=_neighbours(record, movable[longest_first]),
    )


def _is_transfer(record: Collectives) -> Flags:
    opcodes = [i for i, text in enumerate(record.strings) if text in TRANSFER_OPCODES]
    return np.isin(record.schedule.opcode, opcodes)


def _mean(record: Collectives) -> I64:
    mean: I64 = record.schedule.total_ps // np.maximum(record.schedule.run_count, 1)
    return mean


def _neighbours(record: Collectives, rows: I64) -> tuple[Neighbour, ...]:
    schedule = record.schedule
    mean_ps = _mean(record)
    neighbours = []
    for i in rows.tolist():
        neighbour = Neighbour(
            name=_text(record, schedule.name[i]),
            opcode=_text(record, schedule.opcode[i]),
            op_name=_text(record, schedule.op_name[i]),
            mean_ps=int(mean_ps[i]),
        )
        neighbours.append(neighbour)
    return tuple(neighbours)


def _text(record: Collectives, index: int) -> str:
    """A string of the record, empty where the index is -1."""
    if index < 0:
        return ""
    return str(record.strings[index])


def _ancestors(record: Collectives, row: int) -> Flags:
    """Whether each instruction is the given one or an operand of it, directly or not."""
    end = record.schedule.operand_end
    start = np.append(0, end[:-1])
    source = record.operands.source
    is_reached = np.zeros(len(end), np.bool_)
    waiting = [row]
    while waiting:
        at = waiting.pop()
        if not is_reached[at]:
            is_reached[at] = True
            waiting += source[start[at] : end[at]].tolist()
    return is_reached


def _descendants(record: Collectives, row: int) -> Flags:
    """Whether each instruction is the given one or uses its result, directly or not."""
    end = record.schedule.operand_end
    user = np.repeat(np.arange(len(end)), np.diff(end, prepend=0))
    order = np.argsort(record.operands.source, kind="stable")
    sorted_source = record.operands.source[order]
    sorted_user = user[order]
    is_reached = np.zeros(len(end), np.bool_)
    waiting = [row]
    while waiting:
        at = waiting.pop()
        if not is_reached[at]:
            is_reached[at] = True
            low, high = np.searchsorted(sorted_source, (at, at + 1))
            waiting += sorted_user[low:high].tolist()
    return is_reached
