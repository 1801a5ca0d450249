"""Choosing the records that a question is about."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral

from stepscope.errors import NotFound, OptionError
from stepscope.model.diagnostic import Diagnostic
from stepscope.session.catalog import RecordRef

_LISTED = 8
_CAPTURE_TIME = re.compile(r" \d{4}(?:_\d\d){5}.*")
"""The end of the name of a record whose run has several captures."""


@dataclass(frozen=True)
class Selection:
    """What was chosen.

    Attributes:
        runs: Run names or patterns with `*` and `?`; empty when none was chosen.
        name: The record's name.
        record_step: The training step of the record.

    Raises:
        OptionError: One of them is of another type.
    """

    runs: tuple[str, ...] = ()
    name: str | None = None
    record_step: int | None = None

    def __post_init__(self) -> None:
        for word, value in (*(("run", run) for run in self.runs), ("name", self.name or "")):
            if not isinstance(value, str):
                raise OptionError(f"{value!r} is no text", where=word, remedy=f"Give the {word}'s name")
        if not isinstance(self.record_step, Integral | None):
            raise OptionError(f"{self.record_step!r} is no whole number", where="record_step", remedy="Give a step")

    def __str__(self) -> str:
        parts = {"run": " or ".join(self.runs), "name": self.name, "step": self.record_step}
        return ", ".join(f"{word} {value}" for word, value in parts.items() if value not in (None, ""))


def candidates(refs: Sequence[RecordRef], kind: str, selection: Selection) -> list[RecordRef]:
    """The records of a kind that a selection allows.

    Raises:
        NotFound: None is left; the message says what there is.
    """
    of_kind = [ref for ref in refs if ref.kind == kind]
    left = [ref for ref in of_kind if allowed(ref, selection)]
    if not left:
        raise _nothing(refs, of_kind, kind, selection)
    return left


def allowed(ref: RecordRef, selection: Selection) -> bool:
    """Whether a selection allows a record."""
    if selection.runs and not any(ref.run == run or fnmatch.fnmatchcase(ref.run, run) for run in selection.runs):
        return False
    if selection.name is not None and ref.name != selection.name:
        return False
    step = selection.record_step
    if step is None:
        return True
    first, last = ref.first_step, ref.last_step
    return first is not None and last is not None and first <= step <= last


def _nothing(refs: Sequence[RecordRef], of_kind: Sequence[RecordRef], kind: str, selection: Selection) -> NotFound:
    if not of_kind:
        there = sorted({ref.kind for ref in refs})
        return NotFound(
            f"no {kind} record",
            remedy=f"What is here: {', '.join(there)}" if there else "Log one, or import a file: stepscope formats",
        )
    return NotFound(f"no {kind} record of {selection}", remedy=f"Choose from: {_named(of_kind)}")


def _named(refs: Sequence[RecordRef]) -> str:
    return "; ".join(sorted({str(Selection((r.run,), r.name, r.first_step)) for r in refs})[:20])


def require_any(refs: Sequence[RecordRef], selection: Selection) -> None:
    """Raises NotFound where a selection allows no record of any kind."""
    if selection != Selection() and not any(allowed(ref, selection) for ref in refs):
        raise NotFound(f"no record of {selection}", remedy=f"Choose from: {_named(refs)}")


def require_one_run(found: Sequence[RecordRef]) -> None:
    """Raises OptionError when records of several runs are left."""
    runs = sorted({ref.run for ref in found})
    if len(runs) > 1:
        more = f" and {len(runs) - 20} more" if len(runs) > 20 else ""
        raise OptionError(
            f"{len(runs)} runs have such a record",
            remedy=f"Choose one with --run (run= in Python): {', '.join(runs[:20])}{more}",
        )


def newest(found: Sequence[RecordRef]) -> RecordRef:
    """The record that was written last."""
    return max(found, key=lambda ref: (ref.written_wall_ns, ref.last_step or 0, ref.tag))


def newest_captures(found: Iterable[RecordRef]) -> list[RecordRef]:
    """The newest capture of each run and profiler: hosts of different captures are never added up."""
    latest: dict[tuple[str, str], RecordRef] = {}
    for ref in found:
        series = (ref.run, _CAPTURE_TIME.sub("", ref.name))
        latest[series] = newest([ref, latest.get(series, ref)])
    return list(latest.values())


def hidden_among(found: Sequence[RecordRef], shown: Sequence[RecordRef]) -> list[Diagnostic]:
    """For each run, which of several records of one kind is shown, and how to choose the others."""
    hidden: dict[str, list[RecordRef]] = {}
    for ref in found:
        if ref not in shown:
            hidden.setdefault(ref.run, []).append(ref)
    diagnostics: list[Diagnostic] = []
    for run, others in hidden.items():
        visible = ", ".join(_label(ref) for ref in shown if ref.run == run)
        names = ", ".join(_label(ref) for ref in others[-_LISTED:])
        more = f" and {len(others) - _LISTED} more" if len(others) > _LISTED else ""
        diagnostics.append(
            Diagnostic(
                where=f"run {run}",
                what=f"{visible} is shown, the newest of {len(others) + 1} {others[0].kind} records",
                count=0,
                remedy=f"Choose another with --name and --record-step: {names}{more}",
                run=run,
            )
        )
    return diagnostics


def _label(ref: RecordRef) -> str:
    step = "" if ref.last_step is None else f" at step {ref.last_step}"
    return f"{ref.name}{step}"


def newest_of_each(found: Iterable[RecordRef]) -> list[RecordRef]:
    """The record of each run and name that was written last."""
    latest: dict[tuple[str, str], RecordRef] = {}
    for ref in found:
        latest[ref.run, ref.name] = newest([ref, latest.get((ref.run, ref.name), ref)])
    return list(latest.values())
