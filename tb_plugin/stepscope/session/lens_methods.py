"""The methods of an opened source, one for each lens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.session.source import Source


class LensMethods:
    """The lenses of a source."""

    def _ask(self, name: str, baseline: object, given: Mapping[str, Any]) -> Any:
        """Answers for a lens."""
        raise NotImplementedError

    def views(self, *, compare: Source | None = None, **values: Any) -> Any:
        """Views."""
        return self._ask("views", compare, values)

    def trace(self, *, compare: Source | None = None, **values: Any) -> Any:
        """Trace."""
        return self._ask("trace", compare, values)

    def throughput(self, *, compare: Source | None = None, **values: Any) -> Any:
        """Throughput."""
        return self._ask("throughput", compare, values)

    def incore(self, *, compare: Source | None = None, **values: Any) -> Any:
        """In-core."""
        return self._ask("incore", compare, values)

    def dcn(self, *, compare: Source | None = None, **values: Any) -> Any:
        """DCN."""
        return self._ask("dcn", compare, values)
