"""Text files that StepScope does not read: tables, stacks, pages and logs of other tools."""

from __future__ import annotations

import re

from stepscope.sources.unsupported.kind import FORMATS_REMEDY, TORCH_REMEDY, Unsupported

QUOTED_CHARACTERS = 40
MOST_COLUMNS = 6
_LOOKED_LINES = 20
_STACK = re.compile(r"\S.*\s\d+(\.\d+)?")
_TABLE_HEADER = re.compile(
    r"Self CPU|CPU total %|CPU time avg|# of Calls|^[ \t]*Name[ \t]{2,}.*(Self|CPU|CUDA)",
    re.MULTILINE,
)
_CSV_COLUMN = re.compile(r'"?[\w /%().:\[\]#-]{1,60}"?')


def text_kind(text: str, size: int) -> Unsupported:
    """The kind of a text file, by its first lines."""
    lines = [line.rstrip() for line in text.splitlines()[:_LOOKED_LINES] if line.strip()]
    start = text.lstrip("\ufeff \t\r\n")[:512].lower()
    if start.startswith(("<!doctype html", "<html")):
        return _page(text)
    if start.startswith(("<?xml", "<svg")):
        return Unsupported("XML or SVG document", "Give the trace or log that it was drawn from")
    if "FIT Profiler Report" in text or "Profiler Report" in "".join(lines[:3]):
        return Unsupported(
            "table of Lightning's profiler", f"{TORCH_REMEDY}; PyTorchProfiler writes it"
        )
    if _TABLE_HEADER.search(text[:8192]):
        return Unsupported("table of prof.key_averages().table(), printed as text", TORCH_REMEDY)
    if text.startswith("HloModule "):
        return Unsupported("HLO program as text", "Give the *.xplane.pb of a profile")
    if text.startswith("# austin"):
        return Unsupported("Austin recording", TORCH_REMEDY)
    if lines and _are_stacks(lines):
        return Unsupported(
            "folded stacks (prof.export_stacks, input of flame graphs)",
            "Record with with_stack=True, export_chrome_trace and open the code view",
        )
    columns = _csv_columns(lines)
    if columns:
        shown = ", ".join(columns[:MOST_COLUMNS])
        more = ", …" if len(columns) > MOST_COLUMNS else ""
        return Unsupported(f"CSV table (columns: {shown}{more})", FORMATS_REMEDY)
    quoted = text[:QUOTED_CHARACTERS]
    return Unsupported(f"text file ({size:,} bytes, starts with {quoted!r})", FORMATS_REMEDY)


def _page(text: str) -> Unsupported:
    if "data:image/png;base64" in text:
        return Unsupported(
            "HTML page with an image (such as export_memory_timeline writes)",
            "Record with profile_memory=True and export_chrome_trace",
        )
    return Unsupported(
        "HTML page", "Open it in a browser, and give StepScope the trace it was made from"
    )


def _are_stacks(lines: list[str]) -> bool:
    """Whether most lines are frames, joined by semicolons, and a number."""
    # The last line may be cut where the head of the file ends.
    whole = lines[:-1] or lines
    stacks = [line for line in whole if _STACK.fullmatch(line)]
    return len(stacks) == len(whole) and any(";" in line for line in stacks)


def _csv_columns(lines: list[str]) -> list[str]:
    if len(lines) < 2:
        return []
    columns = lines[0].split(",")
    is_header = len(columns) > 1 and all(_CSV_COLUMN.fullmatch(column) for column in columns)
    if not is_header or lines[1].count(",") < len(columns) - 1:
        return []
    return [column.strip('"') for column in columns]
