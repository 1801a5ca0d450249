"""The interface of a source module: its format, and the records that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stepscope.model.columns import Record


class Progress(Protocol):
    """Receives how many bytes of the file were read so far."""

    def __call__(self, done_bytes: int, total_bytes: int) -> None:
        """Receives the state; must be cheap."""


@dataclass(frozen=True)
class NamedRecord:
    """A record with the name, step and run that it is stored under.

    Attributes:
        run: The run of this record, empty for the run of its file.
    """

    name: str
    record: Record
    step: int | None = None
    run: str = ""


@dataclass(frozen=True)
class Deferred:
    """Records of a file that cost much and are not needed for every question.

    Attributes:
        kinds: The kinds of the records.
        load: Reads them. Raises what the format's `read` raises.
    """

    kinds: frozenset[str]
    load: Callable[[], tuple[NamedRecord, ...]]


@dataclass(frozen=True)
class Imported:
    """The records of a file.

    Attributes:
        records: The records, in the order of the file.
        run: The run name, from the file or its content.
        deferred: Further records, to be read when a question needs them.
    """

    records: tuple[NamedRecord, ...]
    run: str
    deferred: Deferred | None = None

    def run_of(self, named: NamedRecord) -> str:
        """The run of one of the records."""
        return named.run or self.run


@dataclass(frozen=True)
class FileGroup:
    """Files that are read together, such as those of the hosts of one capture.

    Attributes:
        note: A sentence that tells which files StepScope joins or keeps apart, empty for one file.
    """

    files: tuple[Path, ...]
    note: str = ""


@dataclass(frozen=True)
class Format:
    """A foreign format.

    Attributes:
        name: A short word, unique.
        title: The kind of file, with the tools that write it.
        recognise: Whether a path holds this format, by its content. Takes the path (a file or
            folder) and the first 64 KiB of the file, unpacked where it is gzip (empty for a folder).
        read: Reads the path. Raises SourceError where nothing can be read.
        open: Reads the path, and defers what costs much; None where `read` does as well.
        group: Joins files of this format that belong together; None where each file stands alone.
        read_group: Reads a group of files. Present where `group` is.
    """

    name: str
    title: str
    recognise: Callable[[Path, bytes], bool]
    read: Callable[[Path, Progress | None], Imported]
    open: Callable[[Path], Imported] | None = None
    group: Callable[[Sequence[Path]], list[FileGroup]] | None = None
    read_group: Callable[[Sequence[Path], Progress | None], Imported] | None = None
