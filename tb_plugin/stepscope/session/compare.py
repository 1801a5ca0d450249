"""Two sources side by side in one lens: the door that Python, the command, the routes and reports share.

A delta is always the source minus what it is compared with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope.exporting.notebook import HtmlTable, data_frame
from stepscope.exporting.tables import Row, comparison_rows
from stepscope.lenses import views
from stepscope.lenses.throughput.significance import significance
from stepscope.lenses.views.options import ViewsOptions
from stepscope.lenses.views.renames import renames
from stepscope.session import options as option_tables
from stepscope.session.lenses import LENSES

if TYPE_CHECKING:
    from stepscope.session.source import Source


@dataclass(frozen=True)
class ComparisonAnswer(HtmlTable):
    """What `compare=` answers.

    Attributes:
        lens: The lens.
        result: Its comparison.
        more: What is said of the comparison as a whole, beside its rows.
    """

    lens: str
    result: Any
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self, limit: int | None = None) -> dict[str, Any]:
        """The document: `a`, `b`, `rows` and `unmatched_share`, then what the lens adds.

        Views add `view`, `per` (step or total), `renames` and `rows_total`, throughput adds `significance`.

        Args:
            limit: The most rows of a view, those that differ most; all when None.
        """
        document: dict[str, Any] = self.result.to_json(limit) if self.lens == "views" else self.result.to_json()
        return document | dict(self.more)

    def rows(self) -> list[Row]:
        """Rows of the leading figure: A, B, delta and delta %, the largest change first."""
        return comparison_rows(self.lens, self.to_json())

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame. Needs pandas."""
        return data_frame(self.rows())


def compare(lens: str, a: Source, b: Source, values: Mapping[str, Any]) -> ComparisonAnswer:
    """Compares the chosen record of two sources in a lens.

    Args:
        lens: views, throughput, incore or dcn.
        a: The source in question.
        b: What it is compared with.
        values: Options of the lens. Profiles of unequally many steps are compared per step unless `step` is given; a
            figure per step is its sum over the number of steps, unless `average_over` says otherwise.
    """
    if lens == "views":
        return _views(a, b, dict(values))
    chosen = option_tables.build(lens, values)
    mine, theirs = a.analyze(lens, chosen), b.analyze(lens, chosen)
    more = {"significance": significance(mine, theirs)} if lens == "throughput" else {}
    return ComparisonAnswer(lens, LENSES[lens].compare(mine, theirs, chosen), more)


def _views(a: Source, b: Source, values: dict[str, Any]) -> ComparisonAnswer:
    refs = a.select_record("profile"), b.select_record("profile")
    steps = [len(source.engine(ref).profile.steps) for source, ref in zip((a, b), refs, strict=True)]
    if values.get("step") is None and 0 < steps[0] != steps[1] > 0:
        values["step"] = "average"
    if values.get("step") == "average":
        # A node that ran in one of two steps costs half as much a step, whatever it is called in the other one.
        values.setdefault("average_over", "steps")
    chosen: ViewsOptions = option_tables.build("views", values)
    found = views.compare(a.view(refs[0], chosen), b.view(refs[1], chosen), chosen)
    per = "step" if found.a.divisor > 1 or found.b.divisor > 1 or chosen.step == "average" else "total"
    return ComparisonAnswer("views", found, {"view": chosen.view, "per": per, "renames": renames(found)})
