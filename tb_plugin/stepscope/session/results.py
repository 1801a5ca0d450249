"""Results as `stepscope.open(...)` returns them: with their document, rows, data frame and notebook table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from stepscope.exporting.notebook import HtmlTable, data_frame, html_table
from stepscope.exporting.tables import comparison_rows, document_rows
from stepscope.lenses.lens import HasComparisonDocument, HasDocument, Row
from stepscope.lenses.registry import AnyLens
from stepscope.lenses.views import ViewResult

if TYPE_CHECKING:
    import pandas

Result = TypeVar("Result", bound=HasDocument)


@dataclass(frozen=True, repr=False)
class LensAnswer(HtmlTable, Generic[Result]):
    """The result of a lens, in the forms that it can be had in.

    Attributes:
        lens: The lens.
        options: The options that the result is for.
        result: The lens's result. Its attributes are those of the answer, too.
    """

    lens: AnyLens
    options: Any
    result: Result

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or name == "result":
            raise AttributeError(name)
        return getattr(self.result, name)

    def __repr__(self) -> str:
        text = self.lens.brief(self.result)
        if text is not None:
            return text
        words = [self.lens.name]
        for spec in dataclasses.fields(self.options):
            value = getattr(self.options, spec.name)
            if value != spec.default:
                words.append(f"{spec.name}={value!r}")
        return f"<{type(self).__name__} {' '.join(words)}>"

    def to_json(self) -> dict[str, Any]:
        """The document."""
        return self.result.to_json()

    def rows(self) -> list[Row]:
        """The rows to read first."""
        return self.lens.summary(self.to_json(), self.options)

    def to_pandas(self) -> pandas.DataFrame:
        """All rows of the document as a pandas DataFrame.

        Raises:
            OptionError: pandas is not installed.
        """
        return data_frame(document_rows(self.lens, self.to_json(), self.options))


class ViewsAnswer(LensAnswer[ViewResult]):
    """A view of a profile."""

    def __len__(self) -> int:
        return len(self.result)

    def __repr__(self) -> str:
        return f"<ViewsAnswer {self.result.view} view: {len(self.result):,} rows>"

    def rows(self) -> list[Row]:
        """The nodes in preorder, names indented by depth, without metrics that are 0 in every row."""
        rows = document_rows(self.lens, self.to_json(), self.options)
        used: set[str] = set()
        for row in rows:
            used.update(name for name, value in row.items() if value not in (0, None))
        return [{name: value for name, value in row.items() if name in used} for row in rows]

    def _repr_html_(self) -> str:
        return html_table(self.lens.summary(self.to_json(), self.options))

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

    def to_pandas(self) -> pandas.DataFrame:
        """The nodes of the document as a pandas DataFrame.

        Raises:
            OptionError: pandas is not installed.
        """
        return data_frame(self.to_json()["nodes"])


@dataclass(frozen=True, repr=False)
class ComparisonAnswer(HtmlTable):
    """What `compare=` returns.

    Attributes:
        lens: The lens.
        result: Its comparison.
        notes: What the document says beside its rows.
    """

    lens: AnyLens
    result: HasComparisonDocument
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<ComparisonAnswer {self.lens.name}>"

    def to_json(self, limit: int | None = None) -> dict[str, Any]:
        """The document: `a`, `b`, `rows` and `unmatched_share`, then what the lens adds.

        Views add `view`, `per` (step or total), `renames` and `rows_total`, throughput adds `significance`.

        Args:
            limit: The most rows of a view, those that differ most. None: all.
        """
        return self.result.to_json(limit) | dict(self.notes)

    def rows(self) -> list[Row]:
        """A, B, delta and delta % of the leading metric, the largest change first."""
        return comparison_rows(self.lens, self.to_json())

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame.

        Raises:
            OptionError: pandas is not installed.
        """
        return data_frame(self.rows())


class FindingList(list[dict[str, Any]]):
    """Findings as documents, in order. A notebook shows them as a table."""

    def __repr__(self) -> str:
        return f"<FindingList: {len(self)} finding{'' if len(self) == 1 else 's'}>"

    def to_pandas(self) -> pandas.DataFrame:
        """The findings as a pandas DataFrame.

        Raises:
            OptionError: pandas is not installed.
        """
        return data_frame(self)

    def _repr_html_(self) -> str:
        rows = []
        for finding in self:
            share = finding["saving_share"]
            row = {"saving_share": "—" if share is None else f"{share:.1%}"}
            row |= {name: finding[name] for name in ("title", "advice", "certainty")}
            rows.append(row)
        return html_table(rows)
