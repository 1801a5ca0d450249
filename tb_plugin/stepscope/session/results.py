"""Results with the forms that they can be had in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepscope.exporting.notebook import HtmlTable, data_frame, html_table
from stepscope.exporting.tables import Row, document_rows, leading_rows, summary_rows
from stepscope.exporting.trace_tables import shape_rows
from stepscope.lenses.views import ViewResult


class _Answer(HtmlTable):
    """A result with its document. It has the result's attributes, too."""

    result: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "result":
            raise AttributeError(name)
        return getattr(self.result, name)

    def to_json(self) -> dict[str, Any]:
        """The document."""
        document: dict[str, Any] = self.result.to_json()
        return document


@dataclass(frozen=True)
class LensAnswer(_Answer):
    """What `Source.throughput`, `incore` and `dcn` answer. The figures are in `result`, whose attributes it has too."""

    lens: str
    result: Any

    def rows(self) -> list[Row]:
        """What there is to know first, as rows."""
        return summary_rows(self.lens, self.to_json())

    def to_pandas(self) -> Any:
        """The rows of the document as a pandas DataFrame. Needs pandas."""
        return data_frame(document_rows(self.lens, self.to_json()))


@dataclass(frozen=True)
class ShapeAnswer(_Answer):
    """What `Source.breakdown`, `launches` and `ranks` answer. It has the attributes of `result`, too."""

    shape: str
    result: Any

    def rows(self) -> list[Row]:
        """The rows: steps, launches by kernel, or ranks. Times are in ps."""
        return shape_rows(self.shape, self.to_json())

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame. Needs pandas."""
        return data_frame(self.rows())


class FindingList(list[dict[str, Any]]):
    """Findings as documents, in order; a notebook shows them as a table."""

    def to_pandas(self) -> Any:
        """The findings as a pandas DataFrame. Needs pandas."""
        return data_frame(self)

    def _repr_html_(self) -> str:
        columns = ("cost_share", "title", "advice", "certainty")
        rows = [{name: finding[name] for name in columns} for finding in self]
        shares = [row["cost_share"] for row in rows]
        return html_table(
            [
                row | {"cost_share": "" if share is None else f"{share:.1%}"}
                for row, share in zip(rows, shares, strict=True)
            ]
        )


@dataclass(frozen=True)
class ViewsAnswer(HtmlTable):
    """What `Source.views` answers. The figures are in `result`."""

    result: ViewResult

    def __len__(self) -> int:
        return len(self.result)

    def to_json(self) -> dict[str, Any]:
        """The document: `view`, `options` and `nodes` in preorder."""
        document: dict[str, Any] = self.result.to_json()
        return document

    def rows(self) -> list[Row]:
        """The rows of the view in order, with names indented by depth and the figures that are not 0 throughout."""
        rows = document_rows("views", self.to_json())
        used = {name for row in rows for name, value in row.items() if value not in (0, None)}
        return [{name: value for name, value in row.items() if name in used} for row in rows]

    def _repr_html_(self) -> str:
        return html_table(leading_rows(self.to_json()))

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
        return data_frame(self.to_json()["nodes"])
