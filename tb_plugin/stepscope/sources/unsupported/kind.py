"""What StepScope says about a file that it does not read."""

from __future__ import annotations

from dataclasses import dataclass

FORMATS_REMEDY = "Run `stepscope formats` to list the supported formats"
TORCH_REMEDY = "Export the trace with prof.export_chrome_trace"


@dataclass(frozen=True)
class Unsupported:
    """A kind of file that StepScope does not read.

    Attributes:
        title: What the file is, with the tool that writes it.
        remedy: What to bring instead, or where to view the file.
    """

    title: str
    remedy: str = FORMATS_REMEDY
