"""progress.txt of Megatron-LM and Megatron-Bridge (`--log-progress`): one line per job start and checkpoint.

`append_to_progress_log` writes time, job, GPUs and a message. A checkpoint's line states its iteration, the job's mean
TFLOP/s of a GPU, and tokens in billions with two decimals.
"""

from __future__ import annotations

import re
from pathlib import Path

from stepscope.errors import DamagedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.format import Format, Imported, NamedRecord, Progress
from stepscope.sources.throughput import log_text
from stepscope.sources.throughput.log_marks import loggers
from stepscope.sources.throughput.stated_series import Line, StatedSeries, record_of

TOKENS_PER_BILLION = 1_000_000_000

_ENTRY = re.compile(
    r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\tJob ID: ([^\t]*)\t# GPUs: (\d{1,9})\t(.*)$"
)
_NUMBER = re.compile(r"\s*([\d.]+(?:e[+-]?\d+)?)")


def recognise(path: Path, head: bytes) -> bool:
    """Whether it has progress lines."""
    return "megatron_progress" in loggers(path, head)


def read(path: Path, progress: Progress | None = None) -> Imported:
    """Reads a progress file.

    Raises:
        DamagedSource: No checkpoint line can be read.
    """
    lines: list[Line] = []
    begins_ns: dict[int, int] = {}
    session, tokens, devices, job = -1, 0, 0, ""
    for text in log_text.lines(path, progress):
        entry = _ENTRY.match(text)
        at = log_text.stamp(entry[1]) if entry is not None else None
        if entry is None or at is None:
            continue
        job, devices, message = entry[2], int(entry[3]), entry[4]
        if message.startswith("Starting job"):
            session += 1
            begins_ns[session] = at
            tokens = max(tokens, 0)
            continue
        if not message.startswith(("Saved checkpoint", "Saving async checkpoint")):
            continue
        line = _checkpoint(message, at, max(session, 0), tokens)
        if line is not None:
            lines.append(line)
            tokens += line.count or 0
    if not lines:
        raise DamagedSource(
            "no checkpoint line can be read",
            where=str(path),
            remedy="Give progress.txt of a job that saved once",
        )
    series = StatedSeries(
        name="train",
        unit="tokens",
        producer="Megatron progress",
        lines=lines,
        devices=devices,
        job=job,
        sampling_rule="at each checkpoint",
        begins_ns=begins_ns,
        losses=[
            Diagnostic(
                "tokens",
                "tokens are printed in units of 10 million: rates are rounded",
                0,
                "Give the log too",
            )
        ],
    )
    return Imported(
        (NamedRecord("train", record_of(series, path.name), lines[-1].step),),
        path.parent.name or "train",
    )


def _checkpoint(message: str, at: int, session: int, tokens_before: int) -> Line | None:
    fields = dict(log_text.pairs(message, "\t"))
    step = log_text.whole(fields.get("iteration"))
    if step is None:
        return None
    billions = log_text.number(fields.get("tokens (in billions)"))
    count = None
    if billions is not None:
        total = round(billions * TOKENS_PER_BILLION)
        # A restart from an older checkpoint trains tokens again, which the total does not count.
        count = max(total - tokens_before, 0)
    tflops = _NUMBER.match(fields.get("job throughput", ""))
    return Line(
        step=step,
        time_ns=at,
        count=count,
        tflops=log_text.number(tflops[1]) if tflops is not None else None,
        session=session,
    )


FORMAT = Format(
    "megatron_progress", "progress.txt of Megatron-LM or Megatron-Bridge", recognise, read
)
