"""How rules are declared and asked.

A rule looks at what one lens says of one record and gives findings. It knows no other rule and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from stepscope.findings.finding import Evidence, Finding, panel_hash

T = TypeVar("T")


@dataclass(frozen=True)
class Subject(Generic[T]):
    """What rules look at.

    Attributes:
        lens: The lens.
        run: The run, and `name` the record, that the result is of.
        result: The lens's result; of the views lens the engine, so that rules can ask for the views they need.
    """

    lens: str
    run: str
    name: str
    result: T

    def evidence(self, key: str, /, **state: str) -> Evidence:
        """A place in the lens, shown by the panel in the given state."""
        address = panel_hash(lens=self.lens, run=self.run, name=self.name, **state)
        return Evidence(self.lens, self.run, self.name, key, address)


@dataclass(frozen=True)
class Rule(Generic[T]):
    """A rule.

    Attributes:
        name: A short word, unique.
        lens: The lens whose results it looks at.
        help: What it looks for, in one sentence.
        check: Gives what it finds.
    """

    name: str
    lens: str
    help: str
    check: Callable[[Subject[T]], Iterable[Finding]]


def find(subjects: Iterable[Subject[Any]], rules: Iterable[Rule[Any]]) -> list[Finding]:
    """What the rules find in the subjects, the largest share first; findings without a known share come last."""
    chosen = tuple(rules)
    found = [finding for subject in subjects for finding in _of(subject, chosen)]
    return sorted(found, key=lambda finding: -1.0 if finding.cost_share is None else finding.cost_share, reverse=True)


def _of(subject: Subject[Any], rules: tuple[Rule[Any], ...]) -> Iterator[Finding]:
    for rule in rules:
        if rule.lens == subject.lens:
            yield from rule.check(subject)
