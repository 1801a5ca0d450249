"""What a rule says: what to change, why, and how much time it saves."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

from stepscope.lenses.trace.replay import Change

Certainty = Literal["measured", "derived", "hint"]

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@dataclass(frozen=True)
class Evidence:
    """A place that proves a finding.

    Attributes:
        lens: The lens that shows it.
        run: The run, and `name` the record.
        key: The row of the lens: a node, an op type, a line, a phase, a rendezvous.
        hash: The address of the panel that shows it.
    """

    lens: str
    run: str
    name: str
    key: str
    hash: str


@dataclass(frozen=True)
class Finding:
    """Something to change, why, and what it saves.

    Attributes:
        rule: The rule's name.
        title: The cause with its number, as one clause.
        cost_share: The part of the whole that the cause takes, 0 to 1; None where it is not known.
        cost: The same in `unit`, per step for times of steps; None where it is not known.
        unit: `us`, `bytes`, `cycles` or another word of the lens.
        evidence: What proves it, the place to open first.
        advice: What to do, in one or two sentences.
        certainty: Whether the cost was measured, follows from what was measured, or is only a hint.
        absorbs: Rule, run and key (`*` for any) of findings that have the same cause and are left out beside this one.
        saving: What the change saves, in `unit`; for steps the elapsed time per step. None where it is not known.
        saving_share: The same as a part of the whole; findings are ranked by it.
        whole: What the shares are of, in `unit`: the mean elapsed time of a step, of a run, of a kernel.
        step: The number of the step that is meant; None where it is every step.
        changes: One to three concrete changes, in the words of the framework; `try` in documents.
        change: The change as the replay of the trace makes it; of no document.
    """

    rule: str
    title: str
    cost_share: float | None
    cost: int | float | None
    unit: str
    evidence: tuple[Evidence, ...]
    advice: str
    certainty: Certainty
    absorbs: tuple[tuple[str, str, str], ...] = ()
    saving: int | float | None = None
    saving_share: float | None = None
    whole: int | float | None = None
    step: int | None = None
    changes: tuple[str, ...] = ()
    change: Change | None = field(default=None, compare=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The finding as a document."""
        return {
            "rule": self.rule,
            "title": self.title,
            "saving_share": self.saving_share,
            "saving": self.saving,
            "cost_share": self.cost_share,
            "cost": self.cost,
            "whole": self.whole,
            "unit": self.unit,
            "step": self.step,
            "try": list(self.changes),
            "advice": self.advice,
            "certainty": self.certainty,
            "evidence": [dataclasses.asdict(place) for place in self.evidence],
        }


def panel_hash(**state: str) -> str:
    """The address of the panel in a state; see frontend/src/lib/address.ts and state.ts for the keys."""
    parts = [f"p.stepscope.{key}={_quoted(value)}" for key, value in state.items() if value]
    return "#" + "&".join(["stepscope", *parts])


def _quoted(text: str) -> str:
    """The text with every byte that is special in an address percent-encoded."""
    return "".join(chr(b) if b in _PLAIN else f"%{b:02X}" for b in text.encode("utf-8", "replace"))
