"""Asks a profile for views. What was laid out or summed once is kept, so that further questions are cheap."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from stepscope.lenses.node_kinds import LINE, MODULE, SCOPE, STEP, TOTAL, node_words
from stepscope.lenses.views.accounting import RowFigures, account, counted_nodes
from stepscope.lenses.views.call_totals import CallTotals
from stepscope.lenses.views.code_layout import code_layout
from stepscope.lenses.views.display import Display, display
from stepscope.lenses.views.fields import fields
from stepscope.lenses.views.graph_layout import call_layout, graph_layout
from stepscope.lenses.views.index import ProfileIndex
from stepscope.lenses.views.layout import Layout, bare_layout
from stepscope.lenses.views.matching import bad_regexes, full_matches
from stepscope.lenses.views.metrics import NodeFigures, StepChoice, choose_step, clipped
from stepscope.lenses.views.op_layout import op_layout
from stepscope.lenses.views.options import EVERYTHING, Resolved, ViewsOptions, resolve
from stepscope.lenses.views.result import ViewResult
from stepscope.lenses.views.scope_layout import scope_layout
from stepscope.lenses.views.tfprof_unsupported import NOTHING, refusal
from stepscope.lenses.views.tree import EMPTY
from stepscope.model.columns import Array, Ints
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import Profile

T = TypeVar("T")
_KEPT_FIGURES = 4
_KEPT_MATCHES = 16


class ViewEngine:
    """Views of one profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._index = ProfileIndex(profile)
        self._bare = bare_layout(len(profile.nodes))
        self._layouts: dict[Hashable, Layout] = {}
        self._figures: OrderedDict[Hashable, Any] = OrderedDict()
        self._matches: OrderedDict[Hashable, Any] = OrderedDict()

    def analyze(self, options: ViewsOptions) -> ViewResult:
        """Builds a view.

        Raises:
            OptionError: An option has no such value, or the profile no such step.
        """
        resolved = resolve(options, nested=self.profile.nested, has_device=self._has_device)
        choice = choose_step(self.profile, resolved)
        refused, problems = self._refusal(resolved, choice)
        layout = self._bare if refused else self._layout(resolved.options.view, resolved.tfprof)
        figures = self._row_figures(layout, resolved, choice or StepChoice())

        def match(regexes: Sequence[str]) -> Array:
            return self._match(layout, regexes)

        if refused:
            shown = Display(layout.tree, np.zeros(1, np.int64), figures)
        else:
            shown = display(
                layout,
                figures,
                resolved,
                match,
                self.profile.tick_ps,
                self._step_rows(layout, resolved),
            )
        problems += [
            *_regex_problems(resolved.options),
            *_left_out(resolved, figures, shown.figures),
        ]
        nothing = refused == NOTHING
        return ViewResult(
            profile=self.profile,
            resolved=resolved,
            tree=EMPTY if nothing else shown.tree,
            rows=shown.rows[:0] if nothing else shown.rows,
            layout=layout,
            row_figures=shown.figures,
            row_kinds=lambda: self._row_kinds(layout, resolved.options.view),
            fields=fields(
                resolved.options.view, tfprof=resolved.tfprof, nested=self.profile.nested
            ),
            steps=self.steps,
            problems=(*self.profile.header.losses, *layout.problems, *self._clipped, *problems),
        )

    @cached_property
    def _has_device(self) -> bool:
        """Whether an accelerator works in the profile."""
        steps = self.profile.node_steps
        return bool(steps.accelerator_ticks.any() or steps.uncounted_accelerator_ticks.any())

    @cached_property
    def _clipped(self) -> tuple[Diagnostic, ...]:
        """What is said of self times that are negative in the record."""
        count = clipped(self.profile)
        if not count:
            return ()
        what = "self times were negative, because calls outlast their callers; they count as 0"
        return (Diagnostic("time", what, count),)

    @cached_property
    def _node_words(self) -> Ints:
        return node_words(self.profile)

    def _row_kinds(self, layout: Layout, view: str) -> Ints:
        """The place in `node_kinds.WORDS` of what each row of a layout is."""

        def build() -> Ints:
            kinds = np.full(len(layout), LINE if view == "code" else SCOPE, np.int64)
            if view != "code":
                placed = np.flatnonzero(layout.row_of_node >= 0)[::-1]
                kinds[layout.row_of_node[placed]] = self._node_words[placed]
            kinds[0] = TOTAL
            return kinds

        return _kept(self._matches, ("kinds", id(layout)), _KEPT_MATCHES, build)

    def _step_rows(self, layout: Layout, resolved: Resolved) -> Array | None:
        """Rows of profiled steps that only frame ops, where the op view has its default order."""
        if not (self.profile.nested and resolved.default_order and resolved.options.view == "op"):
            return None
        # Iterations of an inference server are steps that launch device work themselves.
        launches = self._node_figures(StepChoice())["accelerator_exec_micros"] > 0
        rows: Array = self._row_kinds(layout, "op") == STEP
        rows[layout.row_of_node[launches]] = False
        return rows

    @property
    def steps(self) -> tuple[tuple[int, str], ...]:
        """Number and name of each profiled step."""
        steps, strings = self.profile.steps, self.profile.strings
        names = [strings[i] if i >= 0 else "" for i in steps.name.tolist()]
        return tuple(zip(steps.id.tolist(), names, strict=True))

    def _refusal(
        self, resolved: Resolved, choice: StepChoice | None
    ) -> tuple[str, list[Diagnostic]]:
        """What tfprof leaves of the answer ('' for all of it), and why."""
        if choice is None:
            known = " ".join(map(str, self.profile.steps.id.tolist()))
            return NOTHING, [
                Diagnostic(
                    "step", f"the profile has no step {resolved.step}", 1, f"Its steps are {known}"
                )
            ]
        if resolved.tfprof and resolved.options.view == "code" and not self.profile.has_traces:
            return NOTHING, [Diagnostic("code view", "the profile has no call stacks", 1)]
        refused, reason = refusal(resolved) or ("", "")
        return refused, [Diagnostic("output", reason, 1)] if reason else []

    def _layout(self, view: str, tfprof: bool) -> Layout:
        key = (view, tfprof)
        if key not in self._layouts:
            self._layouts[key] = self._build_layout(view, tfprof)
        return self._layouts[key]

    def _build_layout(self, view: str, tfprof: bool) -> Layout:
        if view == "scope":
            return scope_layout(self._index, tfprof)
        if view == "op":
            return op_layout(self._index, tfprof)
        if view == "code":
            return code_layout(self._index, tfprof)
        if self.profile.nested:
            return call_layout(self._index)
        return graph_layout(self._index, tfprof)

    def _row_figures(self, layout: Layout, resolved: Resolved, choice: StepChoice) -> RowFigures:
        options = resolved.options
        key = (id(layout), resolved.tfprof, choice, options.account_type_regexes)

        def build() -> RowFigures:
            counted = self._counted(tuple(options.account_type_regexes))
            accounting = account(
                layout, options.view, counted, options.account_type_regexes, resolved.tfprof
            )
            has_calls = self.profile.nested and options.view == "op" and not resolved.tfprof
            return RowFigures(
                layout,
                self._node_figures(choice),
                accounting,
                self.profile,
                launcher=self._index.launcher,
                scopes_are_definitions=resolved.tfprof and options.view == "scope",
                modules_in_ranges=options.view in ("op", "graph"),
                totals=self._call_totals(layout, choice, counted) if has_calls else None,
            )

        return _kept(self._figures, key, _KEPT_FIGURES, build)

    def _call_totals(self, layout: Layout, choice: StepChoice, counted: Array) -> CallTotals:
        """Totals of the op view: what the outermost calls of each op cost with what they called."""

        def of_tree(view: str) -> RowFigures:
            tree = self._layout(view, tfprof=False)
            # Nodes that do not count lead to others that do: every row stays.
            everything = account(tree, view, counted, EVERYTHING, tfprof=False)
            stay = np.ones(len(tree), bool)
            return RowFigures(
                tree,
                self._node_figures(choice),
                dataclasses.replace(everything, stay=stay),
                self.profile,
                launcher=self._index.launcher,
                modules_in_ranges=view == "graph",
            )

        return CallTotals(layout, of_tree("graph"), of_tree("scope"), self._node_words == MODULE)

    def _node_figures(self, choice: StepChoice) -> NodeFigures:
        return _kept(
            self._figures, choice, _KEPT_FIGURES, lambda: NodeFigures(self.profile, choice)
        )

    def _counted(self, regexes: tuple[str, ...]) -> Array:
        def build() -> Array:
            types, which = self._index.distinct_strings(self.profile.op_types.type)
            return counted_nodes(self.profile, self._index.texts(types), which, regexes)

        return _kept(self._matches, ("types", regexes), _KEPT_MATCHES, build)

    def _match(self, layout: Layout, regexes: Sequence[str]) -> Array:
        key = (id(layout), tuple(regexes))
        return _kept(
            self._matches,
            key,
            _KEPT_MATCHES,
            lambda: layout.matches(lambda texts: full_matches(regexes, texts)),
        )


def _kept(
    cache: OrderedDict[Hashable, Any], key: Hashable, limit: int, build: Callable[[], T]
) -> T:
    if key not in cache:
        cache[key] = build()
    cache.move_to_end(key)
    while len(cache) > limit:
        cache.popitem(last=False)
    value: T = cache[key]
    return value


def _regex_problems(options: ViewsOptions) -> list[Diagnostic]:
    names = [
        f"{word}_regexes"
        for word in ("account_type", "start_name", "trim_name", "show_name", "hide_name")
    ]
    found = [(name, bad_regexes(getattr(options, name))) for name in names]
    return [
        Diagnostic(name, text, 1, "Use RE2's syntax") for name, texts in found for text in texts
    ]


def _left_out(resolved: Resolved, whole: RowFigures, shown: RowFigures) -> list[Diagnostic]:
    """A warning where the time of hidden rows is in no total."""
    if resolved.tfprof or not resolved.options.account_displayed_op_only:
        return []
    hidden = int(whole.total("exec_micros")[0] - shown.total("exec_micros")[0])
    if not hidden:
        return []
    share = f"{100 * hidden / int(whole.total('exec_micros')[0]):.1f}% of the time is of rows that are not shown"
    remedy = "Turn account_displayed_op_only off, or lower the min_ options"
    return [Diagnostic("account_displayed_op_only", f"{share}, and in no total", 1, remedy)]


def analyze(profile: Profile, options: ViewsOptions) -> ViewResult:
    """Builds one view of a profile. To ask the same profile more than once, keep a `ViewEngine`.

    Raises:
        OptionError: An option has no such value, or the profile no such step.
    """
    return ViewEngine(profile).analyze(options)
