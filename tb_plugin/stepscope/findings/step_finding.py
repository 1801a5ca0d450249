"""How a cause in the steps of a profile becomes a finding: with what it saves, and the place that shows it."""

from __future__ import annotations

from stepscope.findings.finding import Certainty, Evidence, Finding
from stepscope.findings.format_time import time_words
from stepscope.findings.rules import LensResult
from stepscope.findings.step_facts import LEAST_SAVING_SHARE, StepFacts, Views, step_facts
from stepscope.lenses.trace.replay import Change


def facts_of(result: LensResult[Views]) -> StepFacts | None:
    """The facts of a record, worked out once for all rules."""
    return result.facts(step_facts)


def trace_place(result: LensResult[Views], facts: StepFacts, run: int, key: str = "") -> Evidence:
    """An execution in the trace pane, selected, in the window of its step."""
    tick_ps = facts.profile.tick_ps
    start, end = int(facts.start[run]), int(facts.end[run])
    step = int(facts.step[run])
    if step >= 0:
        start = min(start, int(facts.graph.steps.start[step]))
        end = max(end, int(facts.graph.steps.end[step]))
    window = f"{start * tick_ps}..{max(end, start + 1) * tick_ps}"
    return result.evidence(key or facts.name(run), pane="trace", key=str(run), zoom=window)


def change_finding(
    result: LensResult[Views],
    facts: StepFacts,
    *,
    rule: str,
    cause: str,
    change: Change,
    cost_us: float,
    example: int,
    advice: str,
    changes: tuple[str, ...],
    key: str = "",
    step: int | None = None,
    absorbs: tuple[tuple[str, str, str], ...] = (),
    certainty: Certainty = "derived",
    least: float = LEAST_SAVING_SHARE,
) -> Finding | None:
    """The finding of a cause, from the replay of its change; None where that saves too little.

    Args:
        cause: What happens, as a clause that the title goes on from.
        cost_us: What the cause takes per step, as the panes show it.
        example: An execution that shows it.
    """
    saving = facts.saving(change)
    if saving.share < least:
        return None
    whole = facts.step_us
    which = "a step of" if facts.step_count > 1 else "the step of"
    if not len(facts.profile.steps):
        which = "the profile's"
    title = f"{cause}: up to {time_words(saving.us)} of {which} {time_words(whole)}"
    return Finding(
        rule=rule,
        title=title,
        cost_share=min(cost_us / whole, 1.0) if whole else None,
        cost=min(cost_us, whole),
        unit="us",
        evidence=(trace_place(result, facts, example, key),),
        advice=advice,
        certainty=certainty,
        absorbs=absorbs,
        saving=saving.us,
        saving_share=saving.share,
        whole=whole,
        step=step,
        changes=changes,
        change=change,
    )


def times_a_step(count: int, facts: StepFacts) -> str:
    """How often something happens, in words."""
    if not len(facts.profile.steps):
        return f"{count:,} times" if count > 1 else "once"
    each = count / max(facts.step_count, 1)
    if each >= 0.95:
        return f"{each:,.0f} times a step" if round(each) > 1 else "once a step"
    return (
        f"{count:,} times in {facts.step_count} steps"
        if count > 1
        else f"once in {facts.step_count} steps"
    )
