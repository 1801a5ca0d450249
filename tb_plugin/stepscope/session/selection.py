"""Which records a query is about."""

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
_LISTED_RUNS = 20
_CAPTURE_TIME = re.compile(r" \d{4}(?:_\d\d){5}.*")
"""The end of the name of a record whose run has several captures."""


@dataclass(frozen=True)
class Selection:
    """What was selected.

    Attributes:
        runs: Run names, or patterns with `*` and `?`. Empty: any run.
        name: The record's name. None: any.
        record_step: The training step of the record. None: any.

    Raises:
        OptionError: One of them has another type.
    """

    runs: tuple[str, ...] = ()
    name: str | None = None
    record_step: int | None = None

    def __post_init__(self) -> None:
        for run in self.runs:
            _require_text("run", run)
        if self.name is not None:
            _require_text("name", self.name)
        if not isinstance(self.record_step, Integral | None):
            found = f"record_step must be an integer, got {self.record_step!r}"
            raise OptionError(found, where="record_step", remedy="Give a training step")

    def __str__(self) -> str:
        words = []
        if self.runs:
            words.append(f"run {' or '.join(self.runs)}")
        if self.name:
            words.append(f"name {self.name}")
        if self.record_step is not None:
            words.append(f"step {self.record_step}")
        return ", ".join(words)


def _require_text(word: str, value: object) -> None:
    if not isinstance(value, str):
        found = f"{word} must be a string, got {value!r}"
        raise OptionError(found, where=word, remedy="Give a name as it is listed")


def candidates(refs: Sequence[RecordRef], kind: str, selection: Selection) -> list[RecordRef]:
    """The selected records of a kind.

    Raises:
        NotFound: None is selected. The message lists what there is.
    """
    of_kind = [ref for ref in refs if ref.kind == kind]
    selected = [ref for ref in of_kind if allowed(ref, selection)]
    if selected:
        return selected
    if of_kind:
        raise NotFound(
            f"no {kind} record matches {selection}",
            remedy=f"Choose from: {_choices(of_kind)}",
        )
    raise _no_record_of(kind, refs)


def _no_record_of(kind: str, refs: Sequence[RecordRef]) -> NotFound:
    kinds = sorted({ref.kind for ref in refs})
    if not kinds:
        remedy = "Log one, or import a file; stepscope formats lists what can be read"
        return NotFound(f"no {kind} record", remedy=remedy)
    return NotFound(f"no {kind} record", remedy=f"This source contains: {', '.join(kinds)}")


def allowed(ref: RecordRef, selection: Selection) -> bool:
    """Whether a record is selected."""
    if selection.runs and not _matches_any(ref.run, selection.runs):
        return False
    if selection.name is not None and ref.name != selection.name:
        return False
    step = selection.record_step
    if step is None:
        return True
    if ref.first_step is None or ref.last_step is None:
        return False
    return ref.first_step <= step <= ref.last_step


def _matches_any(run: str, patterns: Iterable[str]) -> bool:
    # A run whose name holds brackets is no pattern of itself.
    return any(run == pattern or fnmatch.fnmatchcase(run, pattern) for pattern in patterns)


def _choices(refs: Sequence[RecordRef]) -> str:
    """What can be selected, for an error message."""
    texts = {str(Selection((ref.run,), ref.name, ref.first_step)) for ref in refs}
    return "; ".join(sorted(texts)[:_LISTED_RUNS])


def require_any(refs: Sequence[RecordRef], selection: Selection) -> None:
    """Raises NotFound where a selection leaves no record of any kind."""
    if selection == Selection():
        return
    if not any(allowed(ref, selection) for ref in refs):
        found = f"no record matches {selection}"
        raise NotFound(found, remedy=f"Choose from: {_choices(refs)}")


def require_one_run(refs: Sequence[RecordRef]) -> None:
    """Raises OptionError where records of several runs are selected."""
    runs = sorted({ref.run for ref in refs})
    if len(runs) < 2:
        return
    names = ", ".join(runs[:_LISTED_RUNS])
    if len(runs) > _LISTED_RUNS:
        names += f" and {len(runs) - _LISTED_RUNS} more"
    raise OptionError(
        f"{len(runs)} runs have such a record",
        remedy=f"Choose one with --run (run= in Python): {names}",
    )


def newest(refs: Sequence[RecordRef]) -> RecordRef:
    """The record that was written last."""
    return max(refs, key=_age)


def _age(ref: RecordRef) -> tuple[int, int, str]:
    return ref.written_wall_ns, ref.last_step or 0, ref.tag


def newest_captures(refs: Iterable[RecordRef]) -> list[RecordRef]:
    """The newest capture of each run and profiler: hosts of different captures are never added up."""
    latest: dict[tuple[str, str], RecordRef] = {}
    for ref in refs:
        series = (ref.run, _CAPTURE_TIME.sub("", ref.name))
        latest[series] = newest([ref, latest.get(series, ref)])
    return list(latest.values())


def newest_of_each(refs: Iterable[RecordRef]) -> list[RecordRef]:
    """The record of each run and name that was written last."""
    latest: dict[tuple[str, str], RecordRef] = {}
    for ref in refs:
        series = (ref.run, ref.name)
        latest[series] = newest([ref, latest.get(series, ref)])
    return list(latest.values())


def hidden_among(refs: Sequence[RecordRef], shown: Sequence[RecordRef]) -> list[Diagnostic]:
    """For each run, which of several records of one kind is shown, and how to select the others."""
    hidden: dict[str, list[RecordRef]] = {}
    for ref in refs:
        if ref not in shown:
            hidden.setdefault(ref.run, []).append(ref)
    diagnostics: list[Diagnostic] = []
    for run, others in hidden.items():
        visible = ", ".join(_label(ref) for ref in shown if ref.run == run)
        names = ", ".join(_label(ref) for ref in others[-_LISTED:])
        if len(others) > _LISTED:
            names += f" and {len(others) - _LISTED} more"
        diagnostic = Diagnostic(
            where=f"run {run}",
            what=f"{visible} is shown, the newest of {len(others) + 1} {others[0].kind} records",
            remedy=f"Choose another with --name and --record-step: {names}",
            run=run,
        )
        diagnostics.append(diagnostic)
    return diagnostics


def _label(ref: RecordRef) -> str:
    if ref.last_step is None:
        return ref.name
    return f"{ref.name} at step {ref.last_step}"
