"""Arguments of several commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from stepscope.errors import OptionError


def path(text: str) -> str:
    """A path. An empty one, mostly of a variable that is not set, would mean the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("an empty path; give . for the current folder")
    return text


def keep_sources(output: Path, sources: Iterable[str]) -> None:
    """Refuses to write over what is read.

    Raises:
        OptionError: The output is one of the sources.
    """
    for source in sources:
        if output.exists() and Path(source).exists() and output.samefile(source):
            raise OptionError(
                "the output is the source", where=str(output), remedy="Give another file"
            )
