"""What a source module offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stepscope.model.columns import Record


class Progress(Protocol):
    """Told how many bytes of the file were read so far."""

    def __call__(self, done_bytes: int, total_bytes: int) -> None:
        """Takes the state; must be cheap."""


@dataclass(frozen=True)
class NamedRecord:
    """A record with the name and step that it is stored under."""

    name: str
    record: Record
    step: int | None = None


@dataclass(frozen=True)
class Imported:
    """What a file holds.

    Attributes:
        records: The records, in the order of the file.
        run: The run name that fits, from the file or its content.
    """

    records: tuple[NamedRecord, ...]
    run: str


@dataclass(frozen=True)
class Format:
    """A foreign format.

    Attributes:
        name: A short word, unique.
        title: What it is, with the tools that write it.
        recognise: Whether a path holds this format, told by content. Takes the path (a file or folder) and the first
            64 KiB of the file, decompressed where it is gzip (empty for a folder).
        read: Reads the path. Raises SourceError where nothing can be had.
    """

    name: str
    title: str
    recognise: Callable[[Path, bytes], bool]
    read: Callable[[Path, Progress | None], Imported]
