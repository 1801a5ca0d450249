"""Tag names of records, and how names that TensorBoard's loaders cannot carry are escaped.

TensorBoard's fast loader cannot read blobs whose tag or run contains a quote, a backslash or a control character.
These, the percent sign and lone surrogates are written as the percent-encoded bytes of their UTF-8 form; all else,
also other scripts and emoji, stays.
"""

from __future__ import annotations

import re

ROOT = "stepscope"
TAIL_BLOCK = (1 << 32) - 1
"""The number of the tail of a live series: all tails of a session lie under one tag."""
_UNSAFE = re.compile('["\\\\%\\x00-\\x1f\\x7f-\\x9f\ud800-\udfff]+')
_PART = ".part"
_IS_PART = re.compile(r"\.part[1-9][0-9]*\Z")


def escape(name: str) -> str:
    """The name in a form that every loader can carry."""
    return _UNSAFE.sub(
        lambda m: "".join(f"%{b:02X}" for b in m[0].encode("utf-8", "surrogatepass")), name
    )


def tag_of(kind: str, name: str, session: str, block: int) -> str:
    """The tag of a record."""
    word = "tail" if block == TAIL_BLOCK else str(block)
    return f"{ROOT}/{kind}/{escape(name)}/{session}-{word}"


def part_tag(tag: str, part: int) -> str:
    """The tag of a part of a record; part 0, with the index, is under the record's own tag."""
    if not part:
        return tag
    return f"{tag}{_PART}{part}"


def is_part(tag: str) -> bool:
    """Whether the tag is that of a further part of a record."""
    return _PART in tag and _IS_PART.search(tag) is not None
