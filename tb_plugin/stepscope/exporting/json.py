"""Documents as JSON text. None and numbers that are not finite become null."""

from __future__ import annotations

from typing import Any

import msgspec


def to_json(document: Any, indent: int = 0) -> bytes:
    """Encodes a document as UTF-8 JSON.

    Args:
        document: Dictionaries, sequences, strings, numbers, booleans and None.
        indent: Spaces per level; 0 puts everything on one line.
    """
    encoded = msgspec.json.encode(document)
    if not indent:
        return encoded
    return msgspec.json.format(encoded, indent=indent)
