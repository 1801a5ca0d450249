"""Rules over collectives: which one stalls the accelerator, and why."""

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
_LEAST_EXCESS = 0.1
"""A straggler whose excess is a smaller part of all stall is not reported."""

WAITING_OPS = ("recv-done", "send-done", "host recv-done", "host send-done")
ADVICE = {
    "no_overlap": "Almost no slack: schedule independent work between send and recv-done",
    "congestion": (
        "The required bandwidth exceeds the network's: send less, or spread it over more hosts"
    ),
    "bandwidth": (
        "The data arrives late despite its slack: look for other network traffic, or send less"
    ),
    "hardware": (
        "There is slack and the data arrives in time: look for a slow host or link among its peers"
    ),
}
RESHARDING = {
    "ALL_TO_ALL": "An all-to-all across slices reshards data",
    "ONE_TO_ONE": "A one-to-one transfer across slices can be a resharding",
}


def stalling(result: DcnResult) -> list[Cause]:
    """The collectives that are worth a look, the worst first."""
    worst = causes(result)[:_TOP]
    return [cause for cause in worst if _is_worth_a_look(cause)]


def _is_worth_a_look(cause: Cause) -> bool:
    if cause.verdict in (None, "healthy"):
        return False
    return cause.time_share is None or cause.time_share >= LEAST_SHARE


def shown(subject: LensResult[DcnResult], cause: Cause) -> Evidence:
    """The row of a collective."""
    return _row_of(subject, cause.row.program, cause.row.rendezvous)


def _row_of(subject: LensResult[DcnResult], program: str, rendezvous: str) -> Evidence:
    return subject.evidence(rendezvous, key=f"{program}|{rendezvous}")


def _stalls(subject: LensResult[DcnResult]) -> Iterator[Finding]:
    # The wait itself is an op of the views lens, under the name of its kind.
    waits = tuple(("hot-spot", subject.run, name) for name in WAITING_OPS)
    for cause in stalling(subject.result):
        mean_us = float(cause.row.mean_ps("stall")) / PS_PER_US
        yield Finding(
            rule="stalling-collective",
            title=(
                f"{cause.row.rendezvous} stalls a core {time_words(mean_us)} each time, "
                f"{cause.stall_share:.0%} of all stall"
            ),
            cost_share=cause.time_share,
            cost=cause.row.stall_total_ps / PS_PER_US,
            unit="us",
            evidence=(shown(subject, cause),),
            advice=advice(subject.result, cause),
            certainty="measured",
            absorbs=waits,
        )
        # Only the worst collective stands for the waits of all.
        waits = ()


def advice(result: DcnResult, cause: Cause) -> str:
    """What to do about a stall, by its verdict, with the work that could overlap it."""
    message = ADVICE[cause.verdict or "hardware"]
    resharding = RESHARDING.get(cause.row.transfer_type or "")
    if resharding:
        message = f"{message}. {resharding}: keep one sharding on both sides, within each slice"
    if cause.verdict != "no_overlap":
        return message
    around = neighbourhood(result, cause.row)
    if around is None or not around.movable:
        return message
    movable = time_words(around.movable_ps / PS_PER_US)
    others = len(around.movable) - 1
    return (
        f"{message}. {around.movable[0].name} and {others} more ops ({movable}) do not depend on it"
    )


def _stragglers(subject: LensResult[DcnResult]) -> Iterator[Finding]:
    stall = sum(row.stall_total_ps for row in subject.result.all_cores)
    for straggler in stragglers(subject.result.hosts)[:1]:
        if not stall or straggler.excess_ps / stall < _LEAST_EXCESS:
            continue
        who = straggler.host
        if straggler.core is not None:
            who = f"{straggler.host} core {straggler.core}"
        ratio = straggler.mean_ps / max(straggler.median_ps, 1)
        yield Finding(
            rule="straggler",
            title=f"{who} waits {ratio:.1f} times as long as others in {straggler.rendezvous}",
            cost_share=None,
            cost=straggler.excess_ps / PS_PER_US,
            unit="us",
            evidence=(_row_of(subject, straggler.program, straggler.rendezvous),),
            advice="Its peers send late, or its own link is slow: compare the hosts in the row's details",
            certainty="derived",
        )


def _many_tiny(subject: LensResult[DcnResult]) -> Iterator[Finding]:
    tiny = tiny_collectives(subject.result)
    if tiny.collectives > 1 and tiny.stall_share >= _MANY_TINY:
        yield Finding(
            rule="tiny-collectives",
            title=(
                f"{tiny.collectives} of {tiny.of_collectives} collectives move less than 1 MiB and make "
                f"{tiny.stall_share:.0%} of the stall"
            ),
            cost_share=None,
            cost=None,
            unit="us",
            evidence=(subject.evidence("", sort="bytes"),),
            advice="They cost latency, not bandwidth: combine them into fewer and larger ones",
            certainty="derived",
        )


def _unmatched(subject: LensResult[DcnResult]) -> Iterator[Finding]:
    ops = 0
    unmatched = 0
    for host in subject.result.hosts:
        for table in host.cores:
            counts = table.core.counters
            ops += counts["dcn_ops"]
            unmatched += counts["unmatched_sends"] + counts["unmatched_recv_dones"]
    if not ops or unmatched / ops < _LEAST_UNMATCHED:
        return
    yield Finding(
        rule="unmatched-transfers",
        title=f"{unmatched} of {ops} cross-slice ops have no counterpart in the profile",
        cost_share=None,
        cost=None,
        unit="us",
        evidence=(subject.evidence(""),),
        advice=(
            "The profile is cut off: profile for longer, or fewer things at once, so that whole steps are in it"
        ),
        certainty="measured",
    )


RULES: tuple[Rule[DcnResult], ...] = (
    Rule(
        name="stalling-collective",
        lens="dcn",
        help="Collectives that keep cores waiting for 1% of their time or more, and why",
        check=_stalls,
    ),
    Rule(
        name="straggler",
        lens="dcn",
        help="A core or host that a collective stalls much longer than the others",
        check=_stragglers,
        certainty="derived",
    ),
    Rule(
        name="tiny-collectives",
        lens="dcn",
        help="Stall of which half or more comes from transfers under 1 MiB",
        check=_many_tiny,
        certainty="derived",
    ),
    Rule(
        name="unmatched-transfers",
        lens="dcn",
        help="A profile in which a tenth of the cross-slice ops is cut off",
        check=_unmatched,
    ),
)
