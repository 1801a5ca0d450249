"""A question to the routes: which record, and the texts of its parameters."""

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
    """A question: the source, and the texts of its query string by parameter."""

    source: Source
    texts: Mapping[str, Sequence[str]]

    def text(self, name: str, default: str = "") -> str:
        """The last text given for a parameter."""
        given = self.texts.get(name)
        return given[-1] if given else default

    def integer(self, name: str, default: int) -> int:
        """The whole number given for a parameter.

        Raises:
            OptionError: It is not one, or takes more than 63 bits.
        """
        text = self.text(name)
        try:
            number = int(text) if text else default
        except ValueError:
            number = _OUT_OF_RANGE
        if abs(number) >= _OUT_OF_RANGE:
            raise OptionError(f"{name} is {text[:80]!r}", where="query", remedy="Give a whole number of 63 bits")
        return number

    def chosen(self, *, run: str = "run") -> Source:
        """The source with the run, name and step of the query."""
        runs = tuple(text for text in self.texts.get(run, ()) if text)
        step = self.text("record_step")
        selection = Selection(runs, self.text("name") or None, self.integer("record_step", 0) if step else None)
        return dataclasses.replace(self.source, selection=selection)

    def baseline(self) -> Source | None:
        """The source with the run to compare with, None when there is none."""
        return self.chosen(run="compare") if self.text("compare") else None

    def options(self, lens: str) -> dict[str, Any]:
        """The options of a lens that the query gives."""
        parsed = option_tables.parse(lens, self.texts)
        names = {spec.name for spec in option_tables.TABLES[lens]} & set(self.texts)
        return {name: getattr(parsed, name) for name in names}
