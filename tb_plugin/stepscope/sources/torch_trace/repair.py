"""What can be had of one trace event that is not valid JSON.

Each rule answers a writer that was seen: quotes in names that torch 2.13 does not escape, Windows paths with single
backslashes, control characters, bare NaN and N/A, trailing commas.
"""

from __future__ import annotations

import json
import re
from typing import Any

_FIELDS = ("ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args")
_KEYS = "|".join((*_FIELDS, "bp", "s"))
_STRING = r'"(?:[^"\\]|\\.)*"'
_BARE_WORD = re.compile(
    rf"({_STRING})|([:\[,]\s*)(?:[-+]?(?:nan|inf|infinity|n/a))(?=\s*[,\]}}])", re.IGNORECASE | re.DOTALL
)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(\s*[,\]}}])", re.DOTALL)
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_TEXT = r'"{key}"\s*:\s*"(.*?)"\s*(?:,\s*"(?:{keys})"\s*:|,?\s*\}}\s*$)'
_NUMBER = r'"{key}"\s*:\s*"?(-?[0-9][0-9.eE+-]*)"?\s*[,}}]'
_ARGS = re.compile(r'"args"\s*:\s*(\{.*\})\s*,?\s*\}\s*$', re.DOTALL)


def parse_leniently(raw: bytes) -> dict[str, Any] | None:
    """Parses an object, overlooking what keeps its structure: words, commas, backslashes, control characters.

    Decimal numbers stay text. None where that is not enough.
    """
    text = raw.decode("utf-8", "replace")
    for candidate in (text, _mend_words(text), _mend_words(_mend_backslashes(text))):
        found = _parse(candidate)
        if found is not None:
            return found
    return None


def _parse(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, strict=False, parse_float=str, parse_constant=lambda word: None)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_DECODER = json.JSONDecoder(strict=False, parse_float=str, parse_constant=lambda word: None)


def object_at(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """The object that starts at a place of a text, and where it ends; None where no whole one does."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
    return (value, end) if isinstance(value, dict) else (None, at)


def leading_object(raw: bytes) -> tuple[dict[str, Any] | None, bytes]:
    """The object that a text starts with, and what comes after it; None where it starts with no whole one."""
    value, rest = _leading(raw.decode("utf-8", "replace").lstrip(" \t\r\n,"))
    return (value, rest) if isinstance(value, dict) else (None, raw)


def rest_of_list(text: str) -> tuple[list[Any] | None, bytes]:
    """What is left of a list after one of its values, and what comes after the list; None where it does not end."""
    value, rest = _leading("[0" + text)
    return (value[1:], rest) if isinstance(value, list) else (None, b"")


def _leading(text: str) -> tuple[Any, bytes]:
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None, b""
    return value, text[end:].encode()


def _mend_words(text: str) -> str:
    text = _BARE_WORD.sub(lambda m: m[1] if m[1] is not None else m[2] + "null", text)
    return _TRAILING_COMMA.sub(lambda m: m[1] if m[1] is not None else m[2], text)


def _mend_backslashes(text: str) -> str:
    """Takes backslashes literally: a text with one escape that JSON does not know was not escaped at all."""
    if all(m[1] for m in _ESCAPE.finditer(text)):
        return text
    return _ESCAPE.sub(lambda m: m[0] if m[1] in ('"', "\\") else "\\\\" + (m[1] or ""), text)


def salvage(raw: bytes) -> dict[str, Any] | None:
    """Finds the known keys of an event that a quote inside a string has broken; None without a name and a time."""
    text = raw.decode("utf-8", "replace")
    args = _ARGS.search(text)
    outer = text[: args.start()] + "}" if args else text
    event: dict[str, Any] = {}
    for key in _FIELDS[:-1]:
        found = re.search(_TEXT.format(key=key, keys=_KEYS), outer, re.DOTALL) or re.search(
            _NUMBER.format(key=key), outer
        )
        if found:
            event[key] = found[1]
    if args:
        event["args"] = _parse(_mend_words(_mend_backslashes(args[1]))) or {}
    return event if "ts" in event and "name" in event else None
