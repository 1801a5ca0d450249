"""Rules over collectives: which stalls the accelerator, and why."""

from __future__ import annotations

from collections.abc import Iterator

from stepscope.findings.finding import Evidence, Finding
from stepscope.findings.format_time import PS_PER_US, time_words
from stepscope.findings.rules import LensResult, Rule
from stepscope.lenses.dcn import DcnResult
from stepscope.lenses.dcn.diagnosis import Cause, causes, neighbourhood, tiny_collectives
from stepscope.lenses.dcn.spread import stragglers

LEAST_SHARE = 0.01
_TOP = 3
_MANY_TINY = 0.5
_LEAST_UNMATCHED = 0.1

WAITING_OPS = ("recv-done", "send-done", "host recv-done", "host send-done")
ADVICE = {
    "no_overlap": "Almost no slack: schedule independent work between send and recv-done",
    "congestion": "The required bandwidth exceeds the network's: send less, or spread it over more hosts",
    "bandwidth": "The data arrives late despite its slack: look for other network traffic, or send less",
    "hardware": "There is slack and the data arrives in time: look for a slow host or link among its peers",
}
RESHARDING = {
    "ALL_TO_ALL": "An all-to-all across slices reshards data",
    "ONE_TO_ONE": "A one-to-one transfer across slices can be a resharding",
}


def stalling(result: DcnResult) -> list[Cause]:
    """The collectives that are worth a look, the worst first."""
    found = [cause for cause in causes(result)[:_TOP] if cause.verdict not in (None, "healthy")]
    return [cause for cause in found if cause.time_share is None or cause.time_share >= LEAST_SHARE]


def shown(subject: LensResult[DcnResult], cause: Cause) -> Evidence:
    """The row of a collective."""
    return _row_of(subject, cause.row.program, cause.row.rendezvous)


def _row_of(subject: LensResult[DcnResult], program: str, rendezvous: str) -> Evidence:
    return subject.evidence(rendezvous, key=f"{program}|{rendezvous}")


def _stalls(subject: LensResult[DcnResult]) -> Iterator[Finding]:
    # The wait itself is an op of the views lens, under the name of its kind.
    waits = tuple(("hot-spot", subject.run, name) for name in WAITING_OPS)
    for place, cause in enumerate(stalling(subject.result)):
        each = float(cause.row.mean_ps("stall")) / PS_PER_US
        yield Finding(
            "stalling-collective",
            f"{cause.row.rendezvous} stalls a core {time_words(each)} each time, {cause.stall_share:.0%} of all stall",
            cause.time_share,
            cause.row.stall_total_ps / PS_PER_US,
            "us",
            (shown(subject, cause),),
            advice(subject.result, cause),
            "measured",
            () if place else waits,
        )


def advice(result: DcnResult, cause: Cause) -> str:
    """What to do about a stall: what its verdict says, and what could be moved to overlap it."""
    message = ADVICE[cause.verdict or "hardware"]
    resharding = RESHARDING.get(cause.row.transfer_type or "")
    if resharding:
        message = f"{message}. {resharding}: keep one sharding on both sides, within each slice"
    around = neighbourhood(result, cause.row) if cause.verdict == "no_overlap" else None
    if around is None or not around.movable:
        return message
    movable = time_words(around.movable_ps / PS_PER_US)
    others = len(around.movable) - 1
    return f"{message}. {around.movable[0].name} and {others} more ops ({movable}) do not depend on it"


def _stragglers(subject: LensResult[DcnResult]) -> Iterator[Finding]:
    stall = sum(row.stall_total_ps for row in subject.result.all_cores)
    for found in stragglers(subject.result.hosts)[:1]:
        if not stall or found.excess_ps / stall < _LEAST_UNMATCHED:
            continue
        who = found.host if found.core is None else f"{found.host} core {found.core}"
        yield Finding(
            "straggler",
            f"{who} waits {found.mean_ps / max(found.median_ps, 1):.1f} times as long as others in {found.rendezvous}",
            None,
            found.excess_ps / PS_PER_US,
            "us",
            (_row_of(subject, found.program, found.rendezvous),),
            "Its peers send late, or its own link is slow: compare the hosts in the row's details",
            "derived",
        )


def _many_tiny(subject: LensResult[DcnResult]) -> Iterator[Finding]:
    tiny = tiny_collectives(subject.result)
    if tiny.collectives > 1 and tiny.stall_share >= _MANY_TINY:
        yield Finding(
            "tiny-collectives",
            f"{tiny.collectives} of {tiny.of_collectives} collectives move less than 1 MiB and make "
            f"{tiny.stall_share:.0%} of the stall",
            None,
            None,
            "us",
            (subject.evidence("", sort="bytes"),),
            "They cost latency, not bandwidth: combine them into fewer and larger ones",
            "derived",
        )


def _unmatched(subject: LensResult[DcnResult]) -> Iterator[Finding]:
    counters = [table.core.counters for host in subject.result.hosts for table in host.cores]
    ops = sum(counts["dcn_ops"] for counts in counters)
    alone = sum(counts["unmatched_sends"] + counts["unmatched_recv_dones"] for counts in counters)
    if ops and alone / ops >= _LEAST_UNMATCHED:
        yield Finding(
            "unmatched-transfers",
            f"{alone} of {ops} cross-slice ops have no counterpart in the profile",
            None,
            None,
            "us",
            (subject.evidence(""),),
            "The profile is cut off: profile for longer, or fewer things at once, so that whole steps are in it",
            "measured",
        )


RULES: tuple[Rule[DcnResult], ...] = (
    Rule(
        "stalling-collective",
        "dcn",
        "Collectives that keep cores waiting for 1% of their time or more, and why",
        _stalls,
    ),
    Rule(
        "straggler",
        "dcn",
        "A core or host that a collective stalls much longer than the others",
        _stragglers,
        "derived",
    ),
    Rule(
        "tiny-collectives", "dcn", "Stall of which half or more comes from transfers under 1 MiB", _many_tiny, "derived"
    ),
    Rule("unmatched-transfers", "dcn", "A profile in which a tenth of the cross-slice ops is cut off", _unmatched),
)
