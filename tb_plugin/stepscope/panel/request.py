"""A request to the routes: which record, and the texts of its parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.errors import OptionError
from stepscope.session import options as option_tables
from stepscope.session.selection import Selection
from stepscope.session.source import Source

_OUT_OF_RANGE = 1 << 63


@dataclass(frozen=True)
class Query:
    """A request: the source, and the texts of its query string by parameter."""

    source: Source
    texts: Mapping[str, Sequence[str]]

    def text(self, name: str, default: str = "") -> str:
        """The last text given for a parameter."""
        given = self.texts.get(name)
        return given[-1] if given else default

    def integer(self, name: str, default: int) -> int:
        """The integer given for a parameter.

        Raises:
            OptionError: The text is not an integer, or takes more than 63 bits.
        """
        text = self.text(name)
        if not text:
            return default
        try:
            number = int(text)
        except ValueError:
            number = _OUT_OF_RANGE
        if abs(number) >= _OUT_OF_RANGE:
            found = f"{name} must be an integer, got {text[:80]!r}"
            raise OptionError(found, where="query", remedy="It must fit in a signed 64-bit integer")
        return number

    def optional_integer(self, name: str) -> int | None:
        """The integer given for a parameter, None where none is."""
        return self.integer(name, 0) if self.text(name) else None

    def selected(self, *, run: str = "run") -> Source:
        """The source with the run, name and step of the query.

        Args:
            run: The parameter that names the run.
        """
        selection = Selection(
            runs=tuple(text for text in self.texts.get(run, ()) if text),
            name=self.text("name") or None,
            record_step=self.optional_integer("record_step"),
        )
        return dataclasses.replace(self.source, selection=selection)

    def baseline(self) -> Source | None:
        """The source with the run to compare with, None where none is given."""
        if not self.text("compare"):
            return None
        return self.selected(run="compare")

    def options(self, lens: str) -> dict[str, Any]:
        """Checked values of the options of a lens that the query gives."""
        return option_tables.parse(lens, self.texts)
