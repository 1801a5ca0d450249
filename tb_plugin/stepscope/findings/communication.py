"""Rules over collectives of one rank: those that nothing hides, and many small ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.format_time import time_words
from stepscope.findings.rules import LensResult, Rule
from stepscope.findings.step_facts import LEAST_SAVING_SHARE, StepFacts, Views
from stepscope.findings.step_finding import change_finding, facts_of, trace_place
from stepscope.lenses.trace.categories import Category
from stepscope.lenses.trace.replay import Change
from stepscope.lenses.trace.spans import Spans, overlap
from stepscope.model.columns import Ints
from stepscope.statistics import nearest_rank

_LEAST_SMALL = 20
_SMALL_PS = 100_000_000
_ALIKE = 1.5


def exposed_communication(result: LensResult[Views]) -> Iterator[Finding]:
    """Collectives that run while nothing is computed."""
    facts = facts_of(result)
    if facts is None:
        return
    rows = _collectives(facts)
    exposed, computation_us = _exposed(facts, rows)
    if not len(rows) or exposed <= 0:
        return
    cost = facts.per_step_us(exposed)
    replayed = facts.saving(
        Change(removed=_but_last(facts, rows), unwaited=_waits_for(facts, rows))
    )
    # What is hidden needs computation to hide under, and the last collective of a step has none after it.
    room_us = max(cost - max(facts.covered_us(rows) - computation_us, 0.0), 0.0)
    saved = min(replayed.us, room_us, cost)
    share = saved / facts.step_us
    if share < LEAST_SAVING_SHARE:
        return
    example = int(rows[facts.duration[rows].argmax()])
    yield Finding(
        rule="exposed-communication",
        title=f"Collectives are exposed {cost / facts.step_us:.0%} of each step; {time_words(computation_us)} of "
        f"computation could hide up to {time_words(saved)} of {time_words(facts.step_us)}",
        cost_share=min(cost / facts.step_us, 1.0),
        cost=cost,
        unit="us",
        evidence=(
            result.evidence("communication", pane="steps"),
            trace_place(result, facts, example),
        ),
        advice="Start each collective as soon as its input is ready, on a stream of its own",
        certainty="derived",
        saving=saved,
        saving_share=share,
        whole=facts.step_us,
        changes=(
            "DistributedDataParallel(bucket_cap_mb=...), so that gradients are reduced during backward",
            "async_op=True, and wait() where the result is needed; FSDP: backward_prefetch and forward_prefetch",
            "Accumulate gradients over several batches with model.no_sync()",
        ),
        change=Change(removed=rows),
    )


def _collectives(facts: StepFacts) -> Ints:
    """The device work of collectives in complete steps; on a rank without any, their ranges on the host."""
    rows = facts.category_rows(Category.COMMUNICATION)
    device = rows[facts.is_work[rows]]
    return device if len(device) else rows


def _exposed(facts: StepFacts, rows: Ints) -> tuple[int, float]:
    """Ticks in which collectives run and nothing else, and the computation per step in us that no collective covers."""
    kernels = np.flatnonzero(facts.category == Category.KERNEL)
    if not len(kernels):
        kernels = np.flatnonzero(facts.category == Category.CPU)
    start, end = facts.graph.steps.start[facts.complete], facts.graph.steps.end[facts.complete]
    communication = Spans.union(facts.start[rows], facts.end[rows])
    computation = Spans.union(facts.start[kernels], facts.end[kernels])
    both = int(overlap(communication, computation, start, end).sum())
    alone = int(communication.within(start, end).sum()) - both
    return alone, facts.per_step_us(int(computation.within(start, end).sum()) - both)


def _but_last(facts: StepFacts, rows: Ints) -> Ints:
    """Collectives without the last of each step; all of them where a step has only one."""
    order = rows[np.lexsort((facts.end[rows], facts.step[rows]))]
    last = np.append(facts.step[order][1:] != facts.step[order][:-1], True)
    single = last & np.append(True, last[:-1])
    chosen: Ints = order[~last | single]
    return chosen


def _waits_for(facts: StepFacts, rows: Ints) -> Ints:
    """Calls of the host that wait for collectives: with `wait()` later they would not."""
    graph = facts.graph
    waits = np.flatnonzero(graph.wait >= 0)
    awaited = graph.run[graph.wait[waits]]
    calls = graph.run[waits[np.isin(awaited, rows)]]
    return np.unique(calls[calls >= 0])


def small_collectives(result: LensResult[Views]) -> Iterator[Finding]:
    """Many collectives whose time is mostly latency."""
    facts = facts_of(result)
    if facts is None:
        return
    rows = _collectives(facts)
    rows = rows[facts.duration[rows] * facts.profile.tick_ps < _SMALL_PS]
    if len(rows) < _LEAST_SMALL * facts.step_count:
        return
    floor = nearest_rank(np.sort(facts.duration[rows]), 5)
    small = rows[facts.duration[rows] < _ALIKE * floor]
    if len(small) < _LEAST_SMALL * facts.step_count or not floor:
        return
    merged = _but_every_bucket(facts, small)
    less = np.minimum(facts.duration[merged], floor)
    calls = np.unique(facts.launch[merged][facts.launch[merged] >= 0])
    name = facts.most_common(small.tolist())
    finding = change_finding(
        result,
        facts,
        rule="small-collectives",
        cause=f"{len(small) / facts.step_count:,.0f} collectives a step take {time_words(floor * facts.tick_us)} each, "
        "mostly latency",
        change=Change(host=facts.spans(calls), shorter=((merged, less),)),
        cost_us=facts.covered_us(small),
        example=int(small[0]),
        advice="A small collective costs its latency whatever its size: send the same bytes in fewer calls",
        changes=(
            "DistributedDataParallel(bucket_cap_mb=25) or more; gradient_as_bucket_view=True",
            "torch.distributed.all_reduce_coalesced, or one flattened tensor",
        ),
        key=name,
        absorbs=(("exposed-communication", result.run, "communication"),),
    )
    if finding is not None:
        yield finding


_BUCKET = 8


def _but_every_bucket(facts: StepFacts, rows: Ints) -> Ints:
    """Collectives without the first of each group that follow each other with little between."""
    order = rows[np.lexsort((facts.start[rows], facts.lane[rows]))]
    gap = np.append(2**62, facts.start[order][1:] - facts.end[order][:-1])
    first = gap > 5 * int(np.median(facts.duration[order]))
    first |= np.append(True, facts.step[order][1:] != facts.step[order][:-1])
    return order[~first]


RULES: tuple[Rule[Views], ...] = (
    Rule(
        "exposed-communication",
        "views",
        "Collectives that no computation hides",
        exposed_communication,
        "derived",
    ),
    Rule(
        "small-collectives",
        "views",
        "Many collectives that cost their latency",
        small_collectives,
        "derived",
    ),
)
"""The rules of this module."""
