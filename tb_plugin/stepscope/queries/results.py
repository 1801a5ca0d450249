"""A view's result with the forms that it can be had in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepscope.lenses.views import ViewResult


@dataclass(frozen=True)
class ViewsAnswer:
    """What `Source.views` answers. The figures are in `result`."""

    result: ViewResult

    def __len__(self) -> int:
        return len(self.result)

    def to_json(self) -> dict[str, Any]:
        """The document: `view`, `options` and `nodes` in preorder."""
        document: dict[str, Any] = self.result.to_json()
        return document

    def to_text(self) -> str:
        """tfprof's text, from the legend on."""
        from stepscope.exporting.text import to_text

        return to_text(self.result)

    def to_timeline(self) -> dict[str, Any]:
        """A Chrome trace per step: {"step": trace}."""
        from stepscope.exporting.timeline import to_timeline

        return to_timeline(self.result)

    def to_pprof(self) -> bytes:
        """A gzipped pprof profile of the code view."""
        from stepscope.exporting.pprof import to_pprof

        return to_pprof(self.result)

    def to_speedscope(self) -> dict[str, Any]:
        """A file that speedscope opens, as a document."""
        from stepscope.exporting.speedscope import to_speedscope

        return to_speedscope(self.result)

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.to_json()["nodes"])
