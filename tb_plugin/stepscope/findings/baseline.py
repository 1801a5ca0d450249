"""Findings beside those of a baseline: what is new, gone, larger or smaller, and what explains the difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from stepscope.findings.format_time import time_words
from stepscope.findings.merge_ranks import subject_key
from stepscope.findings.summary import RunSummary

_ALIKE = 0.1
"""Savings that differ by less than this share of the larger are the same."""

Document = dict[str, Any]


def compared(findings: Sequence[Document], baseline: Sequence[Document]) -> list[Document]:
    """Findings with their `state` (new, larger, smaller, same) and the baseline's saving, then those that are gone.

    Two findings are the same where their rule and the row that they are about are; where a rule has only one finding on
    each side, the rule is enough.
    """
    pairs = _pairs(findings, baseline)
    answer = []
    for place, finding in enumerate(findings):
        other = pairs.get(place)
        before = None if other is None else baseline[other]
        answer.append(finding | _state(finding, before))
    gone = [finding for place, finding in enumerate(baseline) if place not in pairs.values()]
    answer += [
        finding | {"state": "gone", "baseline_saving": finding["saving"]} for finding in gone
    ]
    return answer


def _pairs(findings: Sequence[Document], baseline: Sequence[Document]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    for place, finding in enumerate(findings):
        same_rule = [i for i, other in enumerate(baseline) if other["rule"] == finding["rule"]]
        free = [i for i in same_rule if i not in pairs.values()]
        same_row = [i for i in free if subject_key(baseline[i]) == subject_key(finding)]
        alone = len(same_rule) == 1 and _count(findings, finding["rule"]) == 1
        if same_row:
            pairs[place] = same_row[0]
        elif free and alone:
            pairs[place] = free[0]
    return pairs


def _count(findings: Iterable[Document], rule: str) -> int:
    return sum(finding["rule"] == rule for finding in findings)


def _state(finding: Document, before: Document | None) -> Document:
    if before is None:
        return {"state": "new", "baseline_saving": None}
    now, then = _size(finding), _size(before)
    state = "same"
    if now is not None and then is not None and abs(now - then) > _ALIKE * max(abs(now), abs(then)):
        state = "larger" if now > then else "smaller"
    return {"state": state, "baseline_saving": before["saving"]}


def _size(finding: Document) -> float | None:
    size = finding["cost"] if finding["saving"] is None else finding["saving"]
    return None if size is None else float(size)


def difference(summary: RunSummary, baseline: RunSummary, findings: Sequence[Document]) -> str:
    """Which of two runs is slower, by how much, and the finding that explains it; empty where no steps are known."""
    if summary.step_us is None or baseline.step_us is None:
        return ""
    delta = summary.step_us - baseline.step_us
    if abs(delta) < 0.01 * baseline.step_us:
        return f"A step takes as long as in {baseline.run}."
    word = "slower" if delta > 0 else "faster"
    sentence = f"A step is {time_words(abs(delta))} ({abs(delta) / baseline.step_us:.0%}) {word} than in {baseline.run}"
    cause = _explanation(findings, slower=delta > 0)
    return f"{sentence}: {cause}." if cause else f"{sentence}."


def _explanation(findings: Sequence[Document], *, slower: bool) -> str:
    """The finding whose saving has changed most in the direction of the difference."""
    changes = []
    for finding in findings:
        now = 0.0 if finding["state"] == "gone" else (_size(finding) or 0.0)
        before = _baseline_size(finding)
        change = now - before if slower else before - now
        if finding["unit"] == "us" and finding["state"] != "same" and change > 0:
            changes.append((change, finding))
    if not changes:
        return ""
    change, finding = max(changes, key=lambda pair: pair[0])
    return f"{finding['rule']} is {finding['state']} ({time_words(change)})"


def _baseline_size(finding: Document) -> float:
    if finding["state"] == "new":
        return 0.0
    if finding["baseline_saving"] is not None:
        return float(finding["baseline_saving"])
    return _size(finding) or 0.0
