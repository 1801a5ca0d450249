"""Tag names of records, and how names that TensorBoard's loaders cannot carry are escaped.

TensorBoard's fast loader cannot read blobs whose tag or run contains a quote, a backslash or a control character.
These, the percent sign and lone surrogates are written as the percent-encoded bytes of their UTF-8 form; all else,
also other scripts and emoji, stays.
"""

from __future__ import annotations

import re
from typing import NamedTuple

ROOT = "stepscope"
_UNSAFE = re.compile('["\\\\%\\x00-\\x1f\\x7f-\\x9f\ud800-\udfff]+')
_ESCAPED = re.compile("(?:%[0-9A-F]{2})+")
_PART = ".part"
_IS_PART = re.compile(r"\.part[1-9][0-9]*\Z")


def escape(name: str) -> str:
    """The name in a form that every loader can carry."""
    return _UNSAFE.sub(lambda m: "".join(f"%{b:02X}" for b in m[0].encode("utf-8", "surrogatepass")), name)


def unescape(text: str) -> str:
    """The name that `escape` made the text of. What it did not make stays."""
    return _ESCAPED.sub(_unescape_run, text)


def _unescape_run(match: re.Match[str]) -> str:
    try:
        return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return match[0]


class TagName(NamedTuple):
    """What the tag of a record says."""

    kind: str
    name: str
    session: str
    block: int


def tag_of(kind: str, name: str, session: str, block: int) -> str:
    """The tag of a record."""
    return f"{ROOT}/{kind}/{escape(name)}/{session}-{block}"


def part_tag(tag: str, part: int) -> str:
    """The tag of a part of a record; part 0, with the index, is under the record's own tag."""
    return f"{tag}{_PART}{part}" if part else tag


def is_part(tag: str) -> bool:
    """Whether the tag is that of a further part of a record."""
    return _PART in tag and _IS_PART.search(tag) is not None


def parse_tag(tag: str) -> TagName | None:
    """What the tag says, or None where it is not that of a record: a part, or another program's."""
    root, _, rest = tag.partition("/")
    kind, _, rest = rest.partition("/")
    name, slash, last = rest.rpartition("/")
    session, dash, block = last.rpartition("-")
    if root != ROOT or not slash or not dash or not block.isascii() or not block.isdigit():
        return None
    return TagName(kind, unescape(name), session, int(block))
