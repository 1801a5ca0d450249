"""Documents as JSON text. Absent is null, and so is a number that is not finite."""

from __future__ import annotations

from typing import Any

import msgspec


def to_json(document: Any, indent: int = 0) -> bytes:
    """A document as JSON, UTF-8.

    Args:
        document: Dictionaries, sequences, texts, numbers, truth values and None.
        indent: Blanks per level; 0 puts all on one line.
    """
    encoded = msgspec.json.encode(document)
    return msgspec.json.format(encoded, indent=indent) if indent else encoded
