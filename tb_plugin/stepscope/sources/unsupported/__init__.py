"""Files that StepScope recognizes and does not read, each with what to bring instead."""

from __future__ import annotations

import codecs
from itertools import islice
from pathlib import Path

from stepscope.errors import SourceError
from stepscope.sources.content import head as read_head
from stepscope.sources.unsupported.binary import binary_kind
from stepscope.sources.unsupported.json_text import is_json, json_kind
from stepscope.sources.unsupported.kind import FORMATS_REMEDY, Unsupported
from stepscope.sources.unsupported.plain_text import text_kind

_LISTED_FILES = 20
_QUOTED_BYTES = 8
_TEXT_CONTROLS = "\t\n\r\x0b\x0c\x1b\b"


def describe(path: Path, head: bytes) -> Unsupported:
    """What a file or folder is that no format matches.

    Args:
        path: The file or folder.
        head: The first 64 KiB of the file's content, unpacked where it is gzip.
    """
    if path.is_dir():
        return _folder(path)
    size = path.stat().st_size
    if not size:
        return Unsupported("empty file", "Wait until the tool has written it, or record again")
    if not head:
        return Unsupported(
            "gzip file that holds nothing or is damaged from the start", "Copy the file again"
        )
    kind = binary_kind(path.name, head)
    if kind:
        return kind
    text = decode_text(head)
    if text is None:
        start = head[:_QUOTED_BYTES].hex(" ")
        return Unsupported(f"binary file ({size:,} bytes, starts with {start})", FORMATS_REMEDY)
    if is_json(text):
        return json_kind(head, size)
    return text_kind(text, size)


def decode_text(head: bytes) -> str | None:
    """The text of bytes that may end inside a character; None where they are not text."""
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return None
    is_text = all(character >= " " or character in _TEXT_CONTROLS for character in text)
    return text if text and is_text else None


def _folder(path: Path) -> Unsupported:
    """A folder, with what lies in it that can be named."""
    entries = sorted(path.iterdir())
    if not entries:
        return Unsupported("empty folder", "Give a log directory, a trace or a folder of traces")
    noun = "entry" if len(entries) == 1 else "entries"
    title = f"folder with {len(entries)} {noun} and no supported file"
    files = (entry for entry in entries if entry.is_file())
    for file in islice(files, _LISTED_FILES):
        try:
            kind = describe(file, read_head(file))
        except SourceError:
            continue
        return Unsupported(f"{title} ({file.name}: {kind.title})", kind.remedy)
    return Unsupported(title)
