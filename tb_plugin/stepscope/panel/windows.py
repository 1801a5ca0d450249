"""Windows of a view for the panel: the rows in sight, an icicle, one row. Answers do not grow with the tree."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.errors import NotFound, OptionError
from stepscope.lenses.registry import lens_named
from stepscope.lenses.views import ViewResult, ViewsOptions
from stepscope.lenses.views.options import ORDER_FIELDS, SELF_ORDERS
from stepscope.model.arrays import Bools, Ints
from stepscope.panel.trees import Icicle, Opened, open_rows, sorted_rows, visible_rows
from stepscope.session.analysis import analyze_record
from stepscope.session.source import Source

MAX_ROWS = 500
MAX_WIDTH_PX = 4096
MAX_DEPTH = 200


@dataclass(frozen=True)
class RowWindow:
    """Which rows are wanted.

    Attributes:
        opened: Which rows show their children.
        offset: The first row among the visible ones.
        limit: How many, at most 500.
        sort: A column, with `-` before it for descending; empty keeps the order of the view.
        search: Text, or `/regex/` with an optional `i`.
        match: Which match to go to, from 0.
        root: The row that the tree starts from.
    """

    opened: Opened = Opened()
    offset: int = 0
    limit: int = 100
    sort: str = ""
    search: str = ""
    match: int = 0
    root: int = 0


class Windows:
    """The windows over one view, with what they share worked out once."""

    def __init__(self, result: ViewResult) -> None:
        self.result = result
        self.tree = result.tree
        self._in_sight = functools.lru_cache(4)(self._shown)
        self._matched = functools.lru_cache(2)(self._searched)
        self._icicle = functools.lru_cache(2)(self._laid_out)

    def __len__(self) -> int:
        return len(self.tree)

    def rows(self, window: RowWindow) -> dict[str, Any]:
        """The rows in sight."""
        self.check_row(window.root)
        is_open, visible = self._in_sight(dataclasses.replace(window, offset=0, limit=0, match=0))
        offset = max(window.offset, 0)
        limit = min(max(window.limit, 0), MAX_ROWS)
        rows = visible[offset : offset + limit]

        matched = None
        matches = None
        if window.search:
            matched = self._matched(window.search)
            matches = self._matches(window, matched, visible)
        return {
            "total_rows": len(self.tree),
            "visible_rows": len(visible),
            "offset": offset,
            "rows": self._described(rows, is_open, matched),
            "root": self._figures_of(0),
            "matches": matches,
        }

    def check_row(self, row: int) -> None:
        """Raises NotFound where the view has no such row."""
        if not 0 <= row < len(self.tree):
            found = f"row {row} not found among {len(self.tree):,}"
            raise NotFound(found, remedy="Load the view again")

    def _shown(self, window: RowWindow) -> tuple[Bools, Ints]:
        """Which rows are open, and those in sight in the order in which they are shown."""
        if window.sort:
            is_open, rows = self._in_sight(dataclasses.replace(window, sort=""))
            key = self._key(window.sort.removeprefix("-"), rows)
            if window.sort.startswith("-"):
                key = -key
            return is_open, sorted_rows(self.tree, rows, key)
        matched = self._matched(window.search) if window.search else None
        is_open = open_rows(self.tree, window.opened, matched)
        return is_open, visible_rows(self.tree, is_open, window.root)

    def _key(self, field: str, rows: Ints) -> Ints:
        if field == "name":
            return self.result.name_ranks[rows]
        if field == "share":
            return self.result.addends(self.default_metric)[rows]
        self._require(field, [spec.name for spec in self.result.fields])
        return self.result.exact(field, rows)

    def _searched(self, search: str) -> Bools:
        pattern = re.fullmatch(r"/(.+)/(i?)", search, re.DOTALL)
        if pattern:
            return self.result.search(pattern[1], regex=True, ignore_case=bool(pattern[2]))
        return self.result.search(search, regex=False, ignore_case=True)

    def _described(self, rows: Ints, is_open: Bools, matched: Bools | None) -> list[dict[str, Any]]:
        names = self.result.names(rows)
        kinds = self.result.kind_words(rows)
        colors = self.result.op_types(rows)
        shares = self.result.shares(rows)
        metrics = self.result.figures(rows)
        launched = self.result.launched(rows)
        described: list[dict[str, Any]] = []
        for place, row in enumerate(rows.tolist()):
            fields = {
                "id": row,
                "name": names[place],
                "kind": kinds[place],
                "color": colors[place],
                "share": shares[place],
                "launched": launched[place],
                "depth": int(self.tree.depth[row]),
                "parent": int(self.tree.parent[row]),
                "children": int(self.tree.children[row]),
                "end": int(self.tree.end[row]),
                "open": bool(is_open[row]),
                "matched": bool(matched is not None and matched[row]),
            }
            for metric, values in metrics.items():
                fields[metric] = values[place]
            described.append(fields)
        return described

    def _figures_of(self, row: int) -> dict[str, Any]:
        if not len(self.tree):
            return {}
        return {field: values[0] for field, values in self.result.figures(np.array([row])).items()}

    def _matches(self, window: RowWindow, matched: Bools, visible: Ints) -> dict[str, Any]:
        shown = np.flatnonzero(matched[visible])
        share = self._share(matched)
        if not len(shown):
            return {"count": 0, "index": 0, "row_offset": None, "id": None, "share": share}
        index = min(max(window.match, 0), len(shown) - 1)
        offset = int(shown[index])
        return {
            "count": len(shown),
            "index": index,
            "row_offset": offset,
            "id": int(visible[offset]),
            "share": share,
        }

    def _share(self, matched: Bools) -> dict[str, float]:
        """For each total, the share of the root that rows with a match have, counted once with all below them."""
        matches_above = self.tree.path_sums(matched.astype(np.int64))
        outermost = np.flatnonzero(matched & (matches_above == 1))
        shares: dict[str, float] = {}
        for spec in self.result.fields:
            if not spec.total:
                continue
            addends = self.result.addends(spec.name)
            root = int(addends[0])
            if root > 0:
                shares[spec.name] = int(addends[outermost].sum()) / root
        return shares

    def icicle(self, metric: str, root: int, width_px: int, max_depth: int) -> dict[str, Any]:
        """The rectangles of an icicle of a total."""
        self.check_row(root)
        metric = self.total(metric or self.default_metric)
        drawn = self._icicle(metric).rectangles(
            root=root,
            width_px=min(width_px, MAX_WIDTH_PX),
            max_depth=min(max_depth, MAX_DEPTH),
        )
        # Rectangles that stand for folded rows come last, and have neither name nor colour.
        rows = drawn.row[drawn.row >= 0]
        names, name_index = _indexed(self.result.names(rows))
        colors, color_index = _indexed(self.result.op_types(rows))
        nameless = [-1] * (len(drawn.row) - len(rows))
        columns = (
            drawn.row.tolist(),
            drawn.depth.tolist(),
            np.round(drawn.start, 6).tolist(),
            np.round(drawn.stop, 6).tolist(),
            name_index + nameless,
            color_index + nameless,
            drawn.folded.tolist(),
        )
        return {
            "metric": metric,
            "root": root,
            "total": self.result.figures(np.array([root]))[metric][0],
            "depths": int(drawn.depth.max(initial=-1)) + 1,
            "rects": [list(rect) for rect in zip(*columns, strict=True)],
            "names": names,
            "colors": colors,
        }

    def _laid_out(self, metric: str) -> Icicle:
        return Icicle(self.tree, self.result.addends(metric))

    @property
    def default_metric(self) -> str:
        """The total of the resource that the view is looked at by."""
        return f"total_{self.result.time_field}"

    @property
    def default_sort(self) -> str:
        """The column that rows are sorted by where no other is chosen, as `sort` takes it; empty for none."""
        order = self.result.resolved.order_by
        if order in SELF_ORDERS:
            return f"-{SELF_ORDERS[order]}"
        if order in ORDER_FIELDS:
            return f"-total_{ORDER_FIELDS[order]}"
        return "name" if order == "name" else ""

    def total(self, metric: str) -> str:
        """A total's name; raises OptionError where the view has none of that name."""
        self._require(metric, [spec.name for spec in self.result.fields if spec.total])
        return metric

    @staticmethod
    def _require(name: str, known: list[str]) -> None:
        if name not in known:
            remedy = f"Choose from: {', '.join(known)}"
            raise OptionError(f"unknown metric {name!r}", where="query", remedy=remedy)

    def node(self, row: int) -> dict[str, Any]:
        """Everything about one row."""
        self.check_row(row)
        return self.result.row_detail(row)


def _indexed(texts: list[str]) -> tuple[list[str], list[int]]:
    index: dict[str, int] = {}
    positions = [index.setdefault(text, len(index)) for text in texts]
    return list(index), positions


def view_windows(source: Source, values: Mapping[str, Any]) -> Windows:
    """The windows over a view of the selected profile.

    Args:
        source: Whose profile.
        values: Checked values of the lens's options.
    """
    lens = lens_named("views")
    options = ViewsOptions(**values)
    ref = source.select_record(lens.record_kind)
    key = ("windows", ref.run, ref.name, ref.key, options)

    def make() -> Windows:
        view = analyze_record(source, lens, ref, options)
        assert isinstance(view, ViewResult)
        return Windows(view)

    return source.caches.views.get(key, make)
