"""JSON files with exact 64-bit integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from stepscope.errors import DamagedSource
from stepscope.sources.content import content


def load(path: Path) -> dict[str, Any]:
    """The object of a JSON file, plain or gzip.

    Raises:
        DamagedSource: The content is not a JSON object, or is truncated.
        NotFound: There is no such file.
    """
    try:
        with content(path) as data:
            document = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise DamagedSource(
            f"no valid JSON ({error})", where=str(path), remedy="Copy or write the file again"
        ) from error
    except RecursionError as error:
        raise DamagedSource(
            "JSON nested too deeply",
            where=str(path),
            remedy="Write the file again",
        ) from error
    if not isinstance(document, dict):
        raise DamagedSource(
            f"a JSON {type(document).__name__}, no object",
            where=str(path),
            remedy="Check the file",
        )
    return document
