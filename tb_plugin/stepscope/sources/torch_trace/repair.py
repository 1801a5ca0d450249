"""What can be had of one trace event that is not valid JSON.

Each rule answers a writer that was seen: quotes in names that torch 2.13 does not escape, Windows
paths with single backslashes, control characters, bare NaN and N/A, trailing commas. All patterns
take time that grows with the size of the text: no two repetitions of blanks stand side by side.
"""

from __future__ import annotations

import json
import re
from typing import Any

_KEY = re.compile(r'"(?P<key>ph|cat|name|pid|tid|ts|dur|id|args|bp|s)"\s*:')
_NUMBERS = ("pid", "tid", "ts", "dur", "id")
_NUMBER = re.compile(r'"?(-?[0-9][0-9.eE+-]*)"?\s*(?:[,}]|\Z)')
_STRING = r'"(?:[^"\\]|\\.|\\\Z)*(?:"|\Z)'
_WORD = r"[-+]?(?:nan|inf(?:inity)?|n/a)"
_BARE_WORD = re.compile(rf"({_STRING})|(?<![\w.+-])({_WORD})(?![\w.])", re.IGNORECASE | re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(\s*[,\]}}])", re.DOTALL)
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_BLANKS = " \t\r\n,"

_DECODER = json.JSONDecoder(strict=False, parse_float=str, parse_constant=lambda word: None)


def parse_leniently(raw: bytes) -> dict[str, Any] | None:
    """Parses an object, overlooking what keeps its structure: words, commas, backslashes, control characters.

    Decimal numbers stay text. None where that is not enough.
    """
    text = raw.decode("utf-8", "replace")
    value = _parse(text)
    if value is not None:
        return value
    value = _parse(_mend_words(text))
    if value is not None or "\\" not in text:
        return value
    return _parse(_mend_words(_mend_backslashes(text)))


def _parse(text: str) -> dict[str, Any] | None:
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def value_at(text: str, at: int) -> tuple[int, int]:
    """Where the value that starts at a place ends, -1 for no whole one; and where it breaks off."""
    try:
        _, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        is_unterminated = error.msg.startswith("Unterminated string")
        return -1, len(text) if is_unterminated else error.pos
    except (ValueError, RecursionError):
        return -1, at
    return end, end


def rest_of_list(text: str) -> tuple[int, int]:
    """How many values a list has from here to its end, and where it ends; -1 where it does not."""
    try:
        value, end = _DECODER.raw_decode("[0" + text)
    except (ValueError, RecursionError):
        return -1, 0
    return len(value) - 1, end - 2


def leading_object(raw: bytes) -> tuple[dict[str, Any] | None, bytes]:
    """The object that a text starts with, and what follows; None where it starts with no whole one."""
    text = raw.decode("utf-8", "replace").lstrip(_BLANKS)
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None, raw
    return (value, text[end:].encode()) if isinstance(value, dict) else (None, raw)


def _mend_words(text: str) -> str:
    """Puts null in place of words that are no numbers, and takes commas away that nothing follows."""
    text = _BARE_WORD.sub(lambda m: m[1] if m[1] is not None else "null", text)
    return _TRAILING_COMMA.sub(lambda m: m[1] if m[1] is not None else m[2], text)


def _mend_backslashes(text: str) -> str:
    """Takes backslashes literally: a text with one escape that JSON does not know was not escaped at all."""
    if all(m[1] for m in _ESCAPE.finditer(text)):
        return text
    return _ESCAPE.sub(lambda m: m[0] if m[1] in ('"', "\\") else "\\\\" + (m[1] or ""), text)


def salvage(raw: bytes) -> dict[str, Any] | None:
    """Finds the known keys of an event that a quote inside a string has broken.

    Each value reaches to the next known key. None without a name and a time; and where a key comes
    twice: two writers of one file cut each other's events, and what they make together is no event.
    """
    text = raw.decode("utf-8", "replace").rstrip()
    keys = list(_KEY.finditer(text))
    event: dict[str, Any] = {}
    for place, match in enumerate(keys):
        key = match["key"]
        if key in event:
            return None
        if key == "args":
            event["args"] = _salvaged_args(text[match.end() :])
            break
        end = keys[place + 1].start() if place + 1 < len(keys) else len(text)
        value = _salvaged_value(key, text[match.end() : end])
        if value is not None:
            event[key] = value
    return event if "ts" in event and "name" in event else None


def _salvaged_value(key: str, text: str) -> str | None:
    """A value as text, from what stands between its key and the next one."""
    text = text.strip(_BLANKS + "}")
    if key in _NUMBERS and (number := _NUMBER.match(text)):
        return number[1]
    is_quoted = len(text) > 1 and text.startswith('"') and text.endswith('"')
    return text[1:-1] if is_quoted else None


def _salvaged_args(text: str) -> dict[str, Any]:
    """The arguments, which stand last in an event: what follows them is its closing brace."""
    text = text.strip(_BLANKS).removesuffix("}").rstrip(_BLANKS)
    return _parse(_mend_words(_mend_backslashes(text))) or {}
