"""Which training logs a text holds: one pass over a file for the lines of all known loggers.

The first known line may come after any preamble: installers and launchers print megabytes before training begins.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from stepscope.sources.content import HEAD_BYTES

CHUNK_BYTES = 1 << 20
OVERLAP_BYTES = 1 << 12
"""A line that lies across two chunks is looked for in both; log lines are shorter than this."""
MOST_BYTES = 1 << 30
_GZIP_MAGIC = b"\x1f\x8b"

# torchtitan and Keras colour single words.
_COLOUR = re.compile(rb"\x1b\[[\d;]*[A-Za-z]")

LOGGERS: dict[str, re.Pattern[bytes]] = {
    "mlperf": re.compile(rb":::MLLOG|:::MLL \d|:::MLPv\d"),
    "rates": re.compile(rb"\bRate=\s*[\d.]+.{0,40}?\bGlobalRate=", re.DOTALL),
    "megatron_progress": re.compile(rb"\tJob ID: [^\t\n]*\t# GPUs: \d+\t"),
    "megatron": re.compile(
        rb"\biteration:?\s+\d+\s*/\s*\d+ [^\n]*\belapsed time per iteration \((?:ms|s)\)"
    ),
    "torchtitan": re.compile(
        rb"\bstep:\s*\d[^\n]*\btps:\s*\d|\bstep=\d+[^\n]*\b(?:throughput\()?tps\)?=\d"
    ),
    "maxtext": re.compile(rb"completed step: \d+, seconds: [\d.]"),
    "deepspeed": re.compile(
        rb"\b(?:RunningAvg|Curr)?SamplesPerSec=[\d.]"
        rb"|\bsteps: \d+ [^\n]*\biter time \(s\): [\d.]+ samples/sec: [\d.]"
    ),
    "llamafactory": re.compile(rb'\{"current_steps": ?\d+'),
    "lightning": re.compile(rb"\bEpoch \d+(?:/\d+)?:?\s[^\r\n]*\b\d+/\d+ [^\r\n]*(?:it/s|s/it)"),
    "keras": re.compile(rb"(?<![\d/])\d+/\d+\s*(?:\[|\xe2\x94\x81|-\s\d)[^\r\n]*/(?:step|epoch)\b"),
}
"""The logger's word, and what a line of it has."""


def loggers(path: Path, head: bytes) -> frozenset[str]:
    """The loggers whose lines a text holds, empty for a folder and for what is no text.

    Args:
        path: The file.
        head: Its first bytes, decompressed, as `Format.recognise` is given them.
    """
    if not head or b"\x00" in head:
        return frozenset()
    matches = _matches(head)
    if matches or len(head) < HEAD_BYTES:
        return matches
    state = path.stat()
    return _scan(path, state.st_mtime_ns, state.st_size)


def _matches(data: bytes) -> frozenset[str]:
    if b"\x1b" in data:
        data = _COLOUR.sub(b"", data)
    fresh = [word for word, pattern in LOGGERS.items() if pattern.search(data)]
    return frozenset(fresh)


@functools.lru_cache(maxsize=64)
def _scan(path: Path, _mtime_ns: int, _size: int) -> frozenset[str]:
    """The loggers of the first chunk that has lines of any. Formats ask one after the other: read once."""
    before = b""
    for chunk in _chunks(path):
        if b"\x00" in chunk:
            break
        matches = _matches(before + chunk)
        if matches:
            return matches
        before = chunk[-OVERLAP_BYTES:]
    return frozenset()


def _chunks(path: Path) -> Iterator[bytes]:
    """The file's content piece by piece, decompressed where it is gzip, up to a bound."""
    with path.open("rb") as stream:
        packed = stream.read(2) == _GZIP_MAGIC
        stream.seek(0)
        unpacker = zlib.decompressobj(wbits=31) if packed else None
        done = 0
        while done < MOST_BYTES and (raw := stream.read(CHUNK_BYTES)):
            if unpacker is None:
                chunk = raw
            else:
                try:
                    chunk = unpacker.decompress(raw, MOST_BYTES - done)
                except zlib.error:
                    return
            done += len(chunk)
            yield chunk
