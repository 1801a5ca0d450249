"""Rules over what the other findings leave: idle time that the host causes, and steps slow for no known reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.format_time import time_words
from stepscope.findings.framework import launch_changes
from stepscope.findings.missing_work import launches_without_work
from stepscope.findings.rules import LensResult, ResidualRule
from stepscope.findings.step_facts import StepFacts, Views
from stepscope.findings.step_finding import facts_of, trace_place
from stepscope.lenses.trace.replay import Change
from stepscope.lenses.trace.replay_graph import EXPLAINED_GAP_PS, WAITING_CALL
from stepscope.lenses.trace.spans import Spans
from stepscope.model.columns import Ints
from stepscope.model.profile import NodeKind

LEAST_HOST_BOUND = 0.05
_LEAST_STEPS = 3
_SLOW = 1.3
_MOSTLY = 0.9
_LEAST_SLOW_SHARE = 0.02
_LEAST_UNEXPLAINED = 0.1
_ATEN = re.compile(r"^aten::")


def host_bound(result: LensResult[Views], findings: Sequence[Finding]) -> Iterator[Finding]:
    """What the device is idle since the host launches too slowly, once the other causes are gone."""
    facts = facts_of(result)
    if facts is None or not facts.has_device or not _host_is_known(facts):
        return
    missing, launches = launches_without_work(facts)
    if missing and missing >= 0.05 * launches:
        return
    idle, saved = _host_bound_ticks(facts, findings)
    share = saved / max(facts.elapsed_ticks, 1)
    if share < LEAST_HOST_BOUND:
        return
    whole = facts.step_us
    known = idle[idle >= 0]
    example = int(known[0]) if len(known) else int(np.flatnonzero(facts.is_work)[0])
    yield Finding(
        rule="host-bound",
        title=f"The device is idle {share:.0%} of {_each_step(facts)} since the host launches too slowly: up to "
        f"{time_words(facts.per_step_us(saved))} of {time_words(whole)}",
        cost_share=share,
        cost=facts.per_step_us(saved),
        unit="us",
        evidence=(trace_place(result, facts, example), result.evidence("", pane="launches")),
        advice="Python and the launch calls take longer than the kernels: launch fewer and larger ones",
        certainty="derived",
        absorbs=(("idle-accelerator", result.run, "*"), ("short-kernels", result.run, "*")),
        saving=facts.per_step_us(saved),
        saving_share=share,
        whole=whole,
        changes=launch_changes(facts),
    )


def _host_is_known(facts: StepFacts) -> bool:
    """Whether launches were recorded: without them nothing says why a device is idle."""
    launched = facts.launch[facts.is_work] >= 0
    return bool(launched.mean() > 0.5) if len(launched) else False


def _all_changes(findings: Sequence[Finding]) -> Change:
    change = Change()
    for finding in findings:
        if finding.change is not None:
            change = change | finding.change
    return change


def _host_bound_ticks(facts: StepFacts, findings: Sequence[Finding]) -> tuple[Ints, int]:
    """The device work before which the device stands idle for the host, and for how long, beside what others explain.

    An idle range is the host's where the work that ends it was launched after the device had run dry. It is another
    finding's where what that takes away lies in it. In steps that are slow for a reason of their own the median counts.
    """
    change = _all_changes(findings)
    idle, works = facts.device_idle()
    ready = _ready(facts, works)
    late = ready >= idle.start
    late &= (works < 0) | (facts.launch[works] >= 0)
    # What begins much later than its launch does not wait for the host from then on.
    until = np.where(ready < idle.end - _explained_gap(facts), ready, idle.end)
    for _, spans in change.host:
        late &= spans.within(idle.start - facts.launch_latency, idle.end) == 0
    idle, works = Spans(idle.start[late], until[late]), works[late]
    steps = facts.graph.steps
    per_step = np.where(facts.complete, idle.within(steps.start, steps.end), 0)
    slow = _slow(facts, facts.replay.change(change).ticks)
    per_step[slow] = int(np.median(per_step[facts.complete]))
    free = facts.replay.change(change | Change(free_host=True)).ticks
    most = int((facts.replay.unchanged.ticks - free)[facts.complete].sum())
    saved = int(per_step.sum())
    # Launch gaps that no host can close are no saving: the replay with a host that takes no time is the bound.
    return works, saved if most >= _MOSTLY * saved else max(most, 0)


def unexplained_idle(result: LensResult[Views], findings: Sequence[Finding]) -> Iterator[Finding]:
    """Idle time before work that was launched in time: the trace does not say what it waited for."""
    facts = facts_of(result)
    if facts is None or not facts.has_device or not _host_is_known(facts):
        return
    missing, launches = launches_without_work(facts)
    if missing and missing >= 0.05 * launches:
        return
    ranges, works = _unexplained_ranges(facts, findings)
    ticks = int(ranges.within(facts.graph.steps.start, facts.graph.steps.end)[facts.complete].sum())
    share = ticks / max(facts.elapsed_ticks, 1)
    if share < _LEAST_UNEXPLAINED:
        return
    longest = int((ranges.end - ranges.start).argmax())
    call = _blocking_call(facts, start=int(ranges.start[longest]), end=int(ranges.end[longest]))
    title = f"The device is idle {share:.0%} of {_each_step(facts)} before work that was launched in time"
    advice = "The trace does not record what the work waited for: another stream, a copy, or another rank"
    changes: tuple[str, ...] = (_MORE_EVENTS,)
    if call is not None:
        title += f", most of it while {_call_words(facts, call)} blocks the host"
        advice = (
            "Both wait for something that the trace does not record. Where that is work launched before the profile "
            "began, the device was busy with it, and nothing is lost"
        )
        is_copy = "Memcpy" in facts.name(call)
        changes = (_EARLIER, _UNBLOCKED_COPY, _MORE_EVENTS) if is_copy else (_EARLIER, _MORE_EVENTS)
    yield Finding(
        rule="unexplained-idle",
        title=title,
        cost_share=share,
        cost=facts.per_step_us(ticks),
        unit="us",
        evidence=(trace_place(result, facts, int(works[longest]) if call is None else call),),
        advice=advice,
        certainty="measured",
        whole=facts.step_us,
        changes=changes,
    )


def _blocking_call(facts: StepFacts, *, start: int, end: int) -> int | None:
    """The call that waits for the device through nearly all of a range of time; None where there is none."""
    calls = np.flatnonzero(
        facts.named(WAITING_CALL) & (facts.kind == NodeKind.RUNTIME) & facts.on_host
    )
    if not len(calls):
        return None
    shared = np.minimum(facts.end[calls], end) - np.maximum(facts.start[calls], start)
    longest = int(shared.argmax())
    return int(calls[longest]) if shared[longest] >= _MOSTLY * (end - start) else None


def _call_words(facts: StepFacts, call: int) -> str:
    """A call with the op that makes it."""
    op = int(facts.outermost(np.array([call]), _ATEN)[0])
    return facts.name(call) if op == call else f"{facts.name(call)} of {facts.name(op)}"


_MORE_EVENTS = "Profile with CUPTI's synchronisation events, or with Nsight Systems, to see what the stream waits for"
_UNBLOCKED_COPY = "Copy without blocking: pinned memory and non_blocking=True"
_EARLIER = "Begin the profile a step earlier, or with torch.cuda.synchronize() before it"


def _unexplained_ranges(facts: StepFacts, findings: Sequence[Finding]) -> tuple[Spans, Ints]:
    """Idle ranges from when their work could have started, and that work, beside what findings explain."""
    idle, works = facts.device_idle()
    ready = _ready(facts, works)
    since = np.where(ready < idle.start, idle.start, ready + _explained_gap(facts))
    waits = (works >= 0) & (since < idle.end)
    for _, spans in _all_changes(findings).host:
        waits &= spans.within(idle.start, idle.end) == 0
    return Spans(since[waits], idle.end[waits]), works[waits]


def _ready(facts: StepFacts, works: Ints) -> Ints:
    """When the launch of each piece of device work should have had its effect; far ahead where none is known."""
    call = np.where(works >= 0, facts.launch[works], -1)
    ready: Ints = np.where(
        call >= 0, facts.issued[np.maximum(call, 0)] + facts.launch_latency, _FAR_AHEAD
    )
    return ready


def _explained_gap(facts: StepFacts) -> int:
    """How much later than that work may start without anything to explain, in ticks."""
    return EXPLAINED_GAP_PS // facts.profile.tick_ps


_FAR_AHEAD = 2**62


def _each_step(facts: StepFacts) -> str:
    if not len(facts.profile.steps):
        return "the profile"
    return "each step" if facts.step_count > 1 else "the step"


def slow_steps(result: LensResult[Views], findings: Sequence[Finding]) -> Iterator[Finding]:
    """Steps much longer than the others for a reason that no other finding tells."""
    facts = facts_of(result)
    if facts is None or facts.step_count < _LEAST_STEPS:
        return
    ticks = facts.replay.change(_all_changes(findings)).ticks
    usual = int(np.median(ticks[facts.complete]))
    excess = np.where(facts.complete, ticks - usual, 0)
    slow = _slow(facts, ticks)
    saved = int(excess[slow].sum())
    share = saved / max(facts.elapsed_ticks, 1)
    if share < _LEAST_SLOW_SHARE:
        return
    worst = int(slow[excess[slow].argmax()])
    run, what = _difference(facts, worst, usual)
    step = facts.step_id(worst)
    others = "" if len(slow) == 1 else f" (and {len(slow) - 1} more)"
    yield Finding(
        rule="slow-steps",
        title=f"Step {step}{others} takes {time_words(int(ticks[worst]) * facts.tick_us)}, "
        f"the others {time_words(usual * facts.tick_us)}: {what}",
        cost_share=share,
        cost=facts.per_step_us(saved),
        unit="us",
        evidence=(trace_place(result, facts, run, f"step {step}"),),
        advice="Look at what this step does and the others do not",
        certainty="measured",
        saving=facts.per_step_us(saved),
        saving_share=share,
        whole=facts.step_us,
        step=step,
        changes=(
            "Compare the step with its neighbours in the trace",
            "Profile more steps to see whether it comes back",
        ),
    )


def _slow(facts: StepFacts, ticks: Ints) -> Ints:
    """The positions of steps that are much longer than the median; none where they are half of the steps or more."""
    if facts.step_count < _LEAST_STEPS:
        return np.empty(0, np.int64)
    usual = int(np.median(ticks[facts.complete]))
    slow = np.flatnonzero(facts.complete & (ticks > _SLOW * usual))
    slow = slow[slow > 0]  # The first step also holds the time until the device begins.
    return slow if len(slow) <= facts.step_count // 2 else slow[:0]


def _difference(facts: StepFacts, step: int, usual: int) -> tuple[int, str]:
    """An execution of the step and, in words, what takes longer in it than in the median step."""
    started, ended = facts.windows
    host = facts.on_host & (facts.lane == facts.main_lane) & (facts.step >= 0)
    busy_rows = np.flatnonzero(host & (facts.kind != NodeKind.SCOPE))
    busy = Spans.union(facts.start[busy_rows], facts.end[busy_rows]).within(started, ended)
    outside = (ended - started) - busy
    extra_outside = int(outside[step] - np.median(outside))
    self_ticks = facts.profile.executions.self_ticks.astype(np.int64)
    name = facts.profile.nodes.name[facts.profile.executions.node].astype(np.int64)
    rows = np.flatnonzero((facts.step >= 0) & (facts.kind != NodeKind.SCOPE))
    if not len(rows):
        return _first_in(facts, step), "it is host time outside every op"
    used, place = np.unique(name[rows], return_inverse=True)
    table = np.zeros((len(used), len(facts.complete)), np.int64)
    np.add.at(table, (place, facts.step[rows]), self_ticks[rows])
    extra = table[:, step] - np.median(table, axis=1)
    most = int(extra.argmax())
    if extra_outside > extra[most]:
        return _first_in(
            facts, step
        ), f"{time_words(extra_outside * facts.tick_us)} more outside every op"
    of_name = rows[(place == most) & (facts.step[rows] == step)]
    run = int(of_name[facts.duration[of_name].argmax()])
    return run, f"{facts.name(run)} takes {time_words(float(extra[most]) * facts.tick_us)} more"


def _first_in(facts: StepFacts, step: int) -> int:
    rows = np.flatnonzero(facts.step == step)
    return int(rows[0]) if len(rows) else 0


RULES: tuple[ResidualRule[Views], ...] = (
    ResidualRule(
        "slow-steps",
        "views",
        "Steps much longer than the others, and what is different in them",
        slow_steps,
        "measured",
    ),
    ResidualRule(
        "host-bound",
        "views",
        "Idle time of the device that the host causes, 5% or more, beside all other causes",
        host_bound,
    ),
    ResidualRule(
        "unexplained-idle",
        "views",
        "Idle time before work that was launched in time, 10% or more: the trace does not say why",
        unexplained_idle,
        "measured",
    ),
)
"""The rules of this module."""
