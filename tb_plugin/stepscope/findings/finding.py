"""What a rule says: what costs how much, what proves it, and what to do."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

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
    """Something to gain.

    Attributes:
        rule: The rule's name.
        title: What was found, with its number, as one clause.
        cost_share: The part of the step that could be gained at most, 0 to 1; None where it is not known.
        cost: The same in `unit`; None where it is not known.
        unit: `us`, `bytes`, `cycles` or another word of the lens.
        evidence: What proves it.
        advice: What to do, in one or two sentences.
        certainty: Whether the cost was measured, follows from what was measured, or is only a hint.
        absorbs: Rule, run and key (`*` for any) of findings that have the same cause and are left out beside this one.
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

    def to_json(self) -> dict[str, Any]:
        """The finding as a document."""
        document = dataclasses.asdict(self) | {"evidence": [dataclasses.asdict(place) for place in self.evidence]}
        del document["absorbs"]
        return document


def panel_hash(**state: str) -> str:
    """The address of the panel in a state; see frontend/src/lib/address.ts and state.ts for the keys."""
    parts = [f"p.stepscope.{key}={_quoted(value)}" for key, value in state.items() if value]
    return "#" + "&".join(["stepscope", *parts])


def _quoted(text: str) -> str:
    """The text with every byte that is special in an address percent-encoded."""
    return "".join(chr(b) if b in _PLAIN else f"%{b:02X}" for b in text.encode("utf-8", "replace"))
