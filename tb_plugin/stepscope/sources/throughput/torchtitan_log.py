"""Console logs of torchtitan: `step: 10  loss: ...  tps: 5,461  tflops: 250.00  mfu: 25.28%`, with or without colours.

`tps` is tokens per second of one device without model parallelism: tokens since the last line over time and the
non-data-parallel size (torchtitan, `components/metrics.py`). Where the log prints batch size, sequence length and
devices, tokens are counted too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.errors import DamagedSource
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import log_text
from stepscope.sources.throughput.log_marks import loggers
from stepscope.sources.throughput.stated_series import (
    Line,
    StatedSeries,
    printed_precision,
    record_of,
)

_STEP = re.compile(r"\bstep[:=]\s*(\d{1,18})\b.*?\b(?:throughput\()?tps\)?[:=]\s*([\d,.]+)")
_TFLOPS = re.compile(r"\btflops[:=]\s*([\d,.]+)")
_MFU = re.compile(r"\bmfu(?:\(%\))?[:=]\s*([\d.]+)")
_STARTS = re.compile(r"\bTraining starts at step (\d{1,18})")
_GLOBAL_BATCH = re.compile(r"\bglobal batch size:?\s*(\d{1,12})\b")
_SEQUENCE = re.compile(r"\bsequence length:?\s*(\d{1,12})\b")
_TOTAL_STEPS = re.compile(r"\btotal steps:?\s*(\d{1,12})\b")
_MESH = re.compile(r"Building \d+-D device mesh with (\[.*?\]), \[([\d, ]+)\]")


@dataclass
class _Rank:
    """The lines of one rank."""

    lines: list[Line] = field(default_factory=list)
    begins_ns: dict[int, int] = field(default_factory=dict)
    session: int = 0
    first_step: int = 1


@dataclass
class _Settings:
    """What the log prints of the job."""

    batch: int = 0
    sequence: int = 0
    planned: int = 0
    devices: int = 0
    model_parallel: int = 1

    @property
    def step_tokens(self) -> int:
        """Tokens of a step on all devices, 0 when unknown."""
        return self.batch * self.sequence


def recognise(path: Path, head: bytes) -> bool:
    """Whether it has lines with tokens per second."""
    return "torchtitan" in loggers(path, head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a console log: a series for each rank that printed into it.

    Raises:
        DamagedSource: No step line can be read.
    """
    ranks: dict[int, _Rank] = {}
    settings = _Settings()
    for text in log_text.lines(path, progress):
        match = _STEP.search(text)
        number = log_text.rank(text, match.start() if match is not None else None)
        if match is not None:
            _take_step(ranks.setdefault(number, _Rank()), text, match, settings)
        else:
            _take_setting(settings, text)
            _take_start(ranks, number, text)
    named = []
    for number, rank in sorted(ranks.items()):
        if rank.lines:
            series = _series(rank, number if len(ranks) > 1 else -1, settings)
            name = f"train rank {number}" if len(ranks) > 1 else "train"
            named.append(NamedRecord(name, record_of(series, path.name), rank.lines[-1].step))
    if not named:
        raise DamagedSource(
            "no step line can be read",
            where=str(path),
            remedy="Give the log as torchtitan printed it",
        )
    return Imported(tuple(named), path.name.partition(".")[0])


def _take_setting(settings: _Settings, text: str) -> None:
    batch, sequence = _GLOBAL_BATCH.search(text), _SEQUENCE.search(text)
    planned, mesh = _TOTAL_STEPS.search(text), _MESH.search(text)
    if batch is not None:
        settings.batch = int(batch[1])
    if sequence is not None:
        settings.sequence = int(sequence[1])
    if planned is not None:
        settings.planned = int(planned[1])
    if mesh is not None:
        _take_mesh(settings, mesh)


def _take_mesh(settings: _Settings, mesh: re.Match[str]) -> None:
    names = re.findall(r"\w+", mesh[1])
    sizes = [int(size) for size in re.findall(r"\d+", mesh[2])]
    settings.devices = settings.model_parallel = 1
    for name, size in zip(names, sizes, strict=False):
        settings.devices *= size
        if not name.startswith("dp"):
            settings.model_parallel *= size


def _take_start(ranks: dict[int, _Rank], number: int, text: str) -> None:
    """A line that says that training begins: the first one, or again in another process."""
    match = _STARTS.search(text)
    if match is None:
        return
    rank = ranks.setdefault(number, _Rank())
    if rank.lines and rank.lines[-1].session == rank.session:
        rank.session += 1
    rank.first_step = int(match[1])
    begin_ns = log_text.stamp(text, match.start())
    if begin_ns is not None:
        rank.begins_ns[rank.session] = begin_ns


def _take_step(rank: _Rank, text: str, match: re.Match[str], settings: _Settings) -> None:
    step = int(match[1])
    last = rank.lines[-1] if rank.lines else None
    if last is not None and last.session == rank.session and step <= last.step:
        rank.session += 1
    same = last is not None and last.session == rank.session
    before = last.step if last is not None and same else rank.first_step - 1
    tflops, mfu = _TFLOPS.search(text), _MFU.search(text)
    share = log_text.number(mfu[1]) if mfu is not None else None
    known = settings.step_tokens and (same or rank.begins_ns.get(rank.session) is not None)
    rank.lines.append(
        Line(
            step=step,
            time_ns=log_text.stamp(text, match.start()),
            count=settings.step_tokens * max(step - before, 0) if known else None,
            rate=log_text.number(match[2]),
            precision=printed_precision(match[2]),
            tflops=log_text.number(tflops[1]) if tflops is not None else None,
            mfu=share / 100 if share is not None else None,
            session=rank.session,
        )
    )


def _series(rank: _Rank, number: int, settings: _Settings) -> StatedSeries:
    return StatedSeries(
        name="train",
        unit="tokens",
        producer="torchtitan",
        lines=rank.lines,
        per_device=True,
        devices=settings.devices,
        batch_size=settings.step_tokens,
        planned_steps=settings.planned,
        rank=number,
        begins_ns=rank.begins_ns,
    )


FORMAT = Format("torchtitan_log", "console log of torchtitan", recognise, read)
