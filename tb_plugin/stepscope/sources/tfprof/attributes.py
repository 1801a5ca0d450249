"""Attributes of graph nodes as texts."""

from __future__ import annotations

import numpy as np
from tensorboard.compat.proto import attr_value_pb2, types_pb2

from stepscope.sources.tfprof.draft import AttributeRows, Draft
from stepscope.sources.wire import Table, decode

MAX_TEXT_BYTES = 1024
_BYTES, _INT, _BOOL, _TYPE = 2, 3, 5, 6


def attributes(draft: Draft, block: bytes, entries: Table, base: int) -> AttributeRows:
    """The rows of a map from name to AttrValue: texts, integers, truth values and types. Others are left out."""
    draft_text = draft.strings
    values = decode(entries.message_of(2))
    parts: list[tuple[np.ndarray[tuple[int], np.dtype[np.int64]], list[int]]] = []
    texts = values.contents(_BYTES)
    short = texts.end - texts.value <= MAX_TEXT_BYTES
    parts.append((texts.row[short], draft_text.spans(block, texts.value[short], texts.end[short]).tolist()))
    for number in (_INT, _BOOL, _TYPE):
        rows = values.rows(number)
        parts.append((rows.row, [draft_text(_text(number, v)) for v in rows.value.tolist()]))
    owner = np.concatenate([p[0] for p in parts])
    value = np.array([v for p in parts for v in p[1]], np.int64)
    names = draft_text.spans(block, *(s[owner] for s in entries.spans(1)))
    return AttributeRows(entries.owner[owner] + base, names, value)


def _text(number: int, value: int) -> bytes:
    if number == _BOOL:
        return b"true" if value else b"false"
    if number == _TYPE:
        return type_name(value).encode()
    return str(value).encode()


def value_text(value: attr_value_pb2.AttrValue) -> bytes | None:
    """The text of one attribute, None for those that are left out."""
    field = value.WhichOneof("value")
    if field == "s":
        return value.s if len(value.s) <= MAX_TEXT_BYTES else None
    number = {"i": _INT, "b": _BOOL, "type": _TYPE}.get(field or "")
    return _text(number, getattr(value, field or "")) if number else None


def type_name(value: int) -> str:
    """The name of a tensor's element type, or its number where it is newer than this list."""
    names = types_pb2.DataType
    return str(names.Name(value)) if value in names.values() else str(value)
