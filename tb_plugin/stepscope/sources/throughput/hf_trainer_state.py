"""trainer_state.json of the Hugging Face Trainer.

Log entries have no timestamps. Rates are stated at the end of a training and of each evaluation,
and stored as reported. After a resume, older versions divide the samples of the whole run by the
time of the last session.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.errors import DamagedSource
from stepscope.model.columns import Header, Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.throughput import RateSamples, Reported, Throughput
from stepscope.sources.content import content
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import figures

NS_PER_SECOND = 1e9
LONGEST_SECONDS = 1e7
DIFFERENCE = 0.05
"""Steps per second are printed with three decimals; a resume is further away than this."""
Entry = dict[str, Any]
RATE_SUFFIXES = {"samples": "_samples_per_second", "tokens": "_tokens_per_second"}


def recognise(path: Path, head: bytes) -> bool:
    """Whether it is a trainer's state."""
    return head.lstrip()[:1] == b"{" and b'"log_history"' in head and b'"best_metric"' in head


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a trainer's state.

    Raises:
        DamagedSource: It is no JSON, or tells of no rate.
    """
    with content(path) as data:
        size = len(data)
        try:
            state = json.loads(bytes(data))
        except (ValueError, RecursionError) as error:
            raise DamagedSource(
                f"no JSON ({error})",
                where=str(path),
                remedy="Copy the file again",
            ) from error
    if progress is not None:
        progress(size, size)
    records = tuple(_series(path, state, _entries(state)))
    if not records:
        raise DamagedSource(
            "no entry with samples_per_second in log_history",
            where=str(path),
            remedy="Take the state that the trainer saves when training or an evaluation has ended",
        )
    return Imported(records, path.parent.name or path.stem)


def _entries(state: object) -> list[Entry]:
    """The entries of the log; others than objects are passed over."""
    if not isinstance(state, dict):
        return []
    history = state.get("log_history")
    if not isinstance(history, list):
        return []
    return [entry for entry in history if isinstance(entry, dict)]


def _series(path: Path, state: Entry, entries: list[Entry]) -> Iterator[NamedRecord]:
    """One series for each name and unit."""
    for name in _names(entries):
        for unit, suffix in RATE_SUFFIXES.items():
            key = name + suffix
            rated = [entry for entry in entries if figures.rate(entry.get(key)) is not None]
            if rated:
                record = _record(path, state, rated, name=name, unit=unit)
                yield NamedRecord(name, record, int(record.samples.step.max()))


def _names(entries: list[Entry]) -> list[str]:
    """What was measured: train first, then eval, or one name for each data set of an evaluation."""
    keys: set[str] = set().union(*entries)
    names: set[str] = set()
    for suffix in RATE_SUFFIXES.values():
        names.update(key.removesuffix(suffix) for key in keys if key.endswith(suffix))
    return sorted(names, key=lambda name: (name != "train", name))


def _record(path: Path, state: Entry, entries: list[Entry], *, name: str, unit: str) -> Throughput:
    steps = [max(figures.whole(entry.get("step")) or 0, 0) for entry in entries]
    rates = [float(entry[name + RATE_SUFFIXES[unit]]) for entry in entries]
    # Runtimes one after the other: the file does not say when each began.
    runtimes = [_runtime(entry, name) for entry in entries]
    ends = np.rint(np.cumsum(runtimes) * NS_PER_SECOND).astype(np.int64)
    planned_steps = 0
    if name == "train":
        planned_steps = max(figures.whole(state.get("max_steps")) or 0, 0)
    losses = _losses(name, entries)
    return Throughput(
        header=Header(producer="Hugging Face Trainer", source=path.name, losses=losses),
        name=name,
        unit=unit,
        sampling_rule="at the end of each training or evaluation",
        planned_steps=planned_steps,
        measured_at="the trainer's process",
        strings=Strings.of(()),
        samples=RateSamples(step=np.array(steps), time_ns=ends),
        reported=Reported(
            sample=np.arange(len(entries)),
            avg_samples_per_sec=np.array(rates),
        ),
    )


def _runtime(entry: Entry, name: str) -> float:
    return min(figures.rate(entry.get(f"{name}_runtime")) or 0.0, LONGEST_SECONDS)


def _losses(name: str, entries: list[Entry]) -> tuple[Diagnostic, ...]:
    what = "no time stamps: only the rates at the end are known"
    remedy = "Log with stepscope's callback to see the course of the run"
    losses = [Diagnostic("log_history", what, 0, remedy)]
    absurd = [entry for entry in entries if _runtime(entry, name) < 1.0]
    if name == "train" and absurd:
        losses.append(
            Diagnostic(
                where=f"step {absurd[0].get('step')}",
                what="a training of less than a second: after a resume the rate counts samples of earlier sessions",
                count=len(absurd),
                remedy="Do not read this rate as a speed",
            )
        )
    elif name == "train":
        losses.extend(_resumes(entries))
    return tuple(losses)


def _resumes(entries: list[Entry]) -> Iterator[Diagnostic]:
    """Resumed trainings whose rates count the steps of earlier sessions again.

    `speed_metrics` of transformers before version 5 divides all steps by the runtime of the last
    session.
    """
    before = 0
    for entry in entries:
        step = figures.whole(entry.get("step")) or 0
        runtime_s = _runtime(entry, "train")
        claimed = (figures.rate(entry.get("train_steps_per_second")) or 0.0) * runtime_s
        taken = step - before
        if before and 0 < taken < (1 - DIFFERENCE) * claimed:
            rate = figures.rate(entry.get("train_samples_per_second")) or 0.0
            what = (
                f"a resumed training of {taken:,} steps states the rate of {claimed:,.0f}:"
                f" {rate:,.6g} samples/s are stated, {rate * taken / claimed:,.6g} were trained"
            )
            remedy = "Use transformers 5 or later, which counts the session's own steps"
            yield Diagnostic(f"step {step}", what, 1, remedy)
        before = step


FORMAT = Format(
    "hf_trainer_state", "trainer_state.json of the Hugging Face Trainer", recognise, read
)
