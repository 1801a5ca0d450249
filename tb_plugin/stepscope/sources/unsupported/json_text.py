"""JSON documents that StepScope does not read, told by their keys."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stepscope.sources.unsupported.chrome import chrome_kind
from stepscope.sources.unsupported.kind import FORMATS_REMEDY, TORCH_REMEDY, Unsupported

MOST_KEYS = 6
_SCANNED_BYTES = 16 << 10
_NUMBER = rb"\s*-?\d[\d.eE+-]*\s*"
# [[times], [[sizes], ...]] of export_memory_timeline; [[time, action, key or bytes, ...], ...] raw.
_MEMORY_TIMELINE = re.compile(
    rb"\s*\[\s*\[(?:\s*\]\s*,\s*\[\s*\]|" + _NUMBER + rb"(?:,|\]\s*,\s*\[\s*\[))"
)
_RAW_MEMORY_TIMELINE = re.compile(
    rb"\s*\[\s*\["
    + _NUMBER
    + rb",\s*[0-3]\s*,(?:\s*\[|"
    + _NUMBER
    + rb","
    + _NUMBER
    + rb"\]\s*[,\]]\s*\[?)"
)
_EXECUTION_TRACE = re.compile(rb'"schema"\s*:\s*"[^"]{0,40}"')
# A string that does not end takes the rest, so that the scan stays linear.
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)(?:"\s*(:?)|\\?\Z)|[\[\]{}]', re.DOTALL)
_MEMORY_REMEDY = (
    "Record with profile_memory=True and export_chrome_trace: StepScope shows memory over time"
)

_BY_WORD: Sequence[tuple[tuple[bytes, ...], Unsupported]] = (
    (
        (b"speedscope.app/file-format-schema",),
        Unsupported(
            "speedscope profile (such as py-spy writes)", "View it at https://www.speedscope.app"
        ),
    ),
    (
        (b'"frame"', b'"metrics"', b'"children"'),
        Unsupported(
            "Triton Proton profile (hatchet tree of sums, no timeline)",
            'View it with proton-viewer. For a timeline, record with proton.start(data="trace")',
        ),
    ),
    (
        (b'"timeDeltas"', b'"callFrame"'),
        Unsupported("CPU profile of Chrome or Node.js", "View it in Chrome's DevTools"),
    ),
    (
        (b'"weight_map"',),
        Unsupported("index of a model checkpoint", "Checkpoints hold no times. " + TORCH_REMEDY),
    ),
    ((b'"nbformat"',), Unsupported("Jupyter notebook", "Give the trace or log that it wrote")),
)


def is_json(text: str) -> bool:
    """Whether a text starts as a JSON object or array."""
    return text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")


def json_kind(head: bytes, size: int) -> Unsupported:
    """The kind of a JSON document."""
    start = head.removeprefix(b"\xef\xbb\xbf")
    if _RAW_MEMORY_TIMELINE.match(start):
        return Unsupported(
            "raw memory timeline (export_memory_timeline, .raw.json.gz)", _MEMORY_REMEDY
        )
    if _MEMORY_TIMELINE.match(start):
        return Unsupported("memory timeline (export_memory_timeline)", _MEMORY_REMEDY)
    schema = _EXECUTION_TRACE.search(start)
    if (
        schema
        and b'"nodes"' in start
        and (b"chakra" in schema[0] or b'"ctrl' in start or b'"rf_id"' in start)
    ):
        return Unsupported(
            "execution trace (ExecutionTraceObserver), a graph of ops without times",
            f"{TORCH_REMEDY} of the same step",
        )
    for words, kind in _BY_WORD:
        if all(word in start for word in words):
            return kind
    return chrome_kind(start) or Unsupported(
        f"JSON file ({_described(start, size)})", FORMATS_REMEDY
    )


def _described(start: bytes, size: int) -> str:
    keys = top_keys(start)
    if not keys:
        return f"{size:,} bytes"
    more = ", …" if len(keys) > MOST_KEYS else ""
    return f"{size:,} bytes, keys: {', '.join(keys[:MOST_KEYS])}{more}"


def top_keys(start: bytes) -> list[str]:
    """The keys of the outermost object, as far as the first 16 KiB go; empty for an array."""
    keys: list[str] = []
    depth = 0
    if not start.lstrip().startswith(b"{"):
        return keys
    for token in _TOKEN.finditer(start[:_SCANNED_BYTES]):
        sign = token[0][:1]
        if sign in (b"{", b"["):
            depth += 1
        elif sign in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and token[2]:
            keys.append(token[1].decode("utf-8", "replace")[:40])
    return keys
