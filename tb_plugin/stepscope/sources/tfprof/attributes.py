"""Attributes of graph nodes as texts."""

from __future__ import annotations

import numpy as np
from tensorboard.compat.proto import attr_value_pb2, types_pb2

from stepscope.sources.tfprof.draft import AttributeRows, Draft
from stepscope.sources.wire import Table, decode

MAX_TEXT_BYTES = 1024
_BYTES, _INT, _BOOL, _TYPE = 2, 3, 5, 6


def attributes(draft: Draft, block: bytes, entries: Table, first_node: int) -> AttributeRows:
    """The rows of a map from name to AttrValue: texts, integers, truth values and types."""
    values = decode(entries.message_of(2))
    texts = values.contents(_BYTES)
    texts = texts.take(texts.end - texts.value <= MAX_TEXT_BYTES)
    owners = [texts.row]
    numbers = [draft.strings.spans(block, texts.value, texts.end)]
    for field in (_INT, _BOOL, _TYPE):
        rows = values.rows(field)
        interned = [draft.strings(_text(field, value)) for value in rows.value.tolist()]
        owners.append(rows.row)
        numbers.append(np.array(interned, np.int64))
    owner = np.concatenate(owners)
    start, end = entries.spans(1)
    return AttributeRows(
        node=entries.owner[owner] + first_node,
        key=draft.strings.spans(block, start[owner], end[owner]),
        value=np.concatenate(numbers),
    )


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
