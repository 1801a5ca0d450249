"""Rules over collectives: which stalls the accelerator, and why."""

from __future__ import annotations

from collections.abc import Iterator

from stepscope.findings.finding import Finding
from stepscope.findings.rules import Rule, Subject
from stepscope.lenses.dcn import DcnResult
from stepscope.lenses.dcn.diagnosis import causes, tiny_collectives
from stepscope.lenses.views.tfprof_units import time_text

PS_PER_US = 1_000_000
_LEAST_SHARE = 0.01
_TOP = 3
_MANY_TINY = 0.5

_ADVICE = {
    "no_overlap": "Nothing runs between its send and its recv-done: let independent work be placed there",
    "congestion": "The hosts would need more bandwidth than their network has: send less, or over more hosts",
    "bandwidth": "The data comes late although there was time: look for other traffic on the network, or send less",
    "hardware": "There is slack and the data is not late: look for a slow host or a slow link among its peers",
}


def _stalls(subject: Subject[DcnResult]) -> Iterator[Finding]:
    for cause in causes(subject.result)[:_TOP]:
        row = cause.row
        if cause.verdict is None or (cause.time_share is not None and cause.time_share < _LEAST_SHARE):
            continue
        each = round(float(row.mean_ps("stall")) / PS_PER_US, 3)
        yield Finding(
            "stalling-collective",
            f"{row.rendezvous} stalls a core {time_text(each)} each time, {cause.stall_share:.0%} of all stall",
            cause.time_share,
            row.stall_total_ps / PS_PER_US,
            "us",
            (subject.evidence(row.rendezvous, key=row.rendezvous),),
            _ADVICE[cause.verdict],
            "measured",
        )


def _many_tiny(subject: Subject[DcnResult]) -> Iterator[Finding]:
    tiny = tiny_collectives(subject.result)
    if tiny.collectives > 1 and tiny.stall_share >= _MANY_TINY:
        yield Finding(
            "tiny-collectives",
            f"{tiny.collectives} of {tiny.of_collectives} collectives move less than 1 MiB and make "
            f"{tiny.stall_share:.0%} of the stall",
            None,
            None,
            "us",
            (subject.evidence(""),),
            "They cost latency, not bandwidth: combine them into fewer and larger ones",
            "derived",
        )


RULES: tuple[Rule[DcnResult], ...] = (
    Rule("stalling-collective", "dcn", "Collectives that keep cores waiting", _stalls),
    Rule("tiny-collectives", "dcn", "Stall that comes from many small transfers", _many_tiny),
)
