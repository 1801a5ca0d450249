"""The options of the views lens: tfprof's, by their own names, and how quirks, averages and detail are chosen.

An option left at None is decided by `resolve`: everything is shown, or with `compat="tfprof"` what tfprof would show.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.errors import OptionError
from stepscope.lenses.options import option

VIEWS = ("graph", "scope", "code", "op")
UNLIMITED_DEPTH = 1 << 31
EVERYTHING = (".*",)
_INT32 = 1 << 32

ORDER_FIELDS = {
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "params": "parameters",
    "float_ops": "float_ops",
}
"""The figure that each word of `order_by` and each `min_*` option stands for."""

SELF_ORDERS = {
    "self_micros": "exec_micros",
    "self_accelerator_micros": "accelerator_exec_micros",
    "self_cpu_micros": "cpu_exec_micros",
}
"""The self time that each of these words of `order_by` stands for."""

DEVICE = "device"
HOST = "host"
BOTH = "both"
RESOURCES = {DEVICE: "accelerator_exec_micros", HOST: "cpu_exec_micros", BOTH: "exec_micros"}
"""The time of each resource. `both` is tfprof's sum of host and device time."""

ORDERS = ("name", "depth", *ORDER_FIELDS, *SELF_ORDERS, "occurrence")
DETAIL_COLUMNS = ("device", "op_types", "input_shapes", "tensor_value")
"""Words of `select` that are no figures."""
COLUMNS = (*ORDER_FIELDS, "occurrence", *DETAIL_COLUMNS)


@dataclass(frozen=True)
class ViewsOptions:
    """What to show of a profile, and how. Thresholds are inclusive; regexes are RE2 and must match the whole name."""

    view: str = option(
        "op", "Which tree to build: by graph, scope, line of code or op type", choices=VIEWS
    )
    compat: str | None = option(
        None, "Answer as this tool does, quirks included", choices=("tfprof",)
    )
    preset: str | None = option(
        None,
        "Options of tfprof's ProfileOptionBuilder, where no other value is given",
        choices=("trainable_variables_parameter", "float_operation", "time_and_memory"),
    )
    detail: str = option(
        "brief",
        "`full` adds devices, input shapes and graph nodes to each row",
        choices=("brief", "full"),
    )
    max_depth: int | None = option(None, "Rows deeper than this are hidden; the root has depth 1")
    min_bytes: int = option(0, "Hide rows that request fewer bytes")
    min_peak_bytes: int = option(0, "Hide rows with a lower peak, in bytes")
    min_residual_bytes: int = option(0, "Hide rows that keep fewer bytes when they end")
    min_output_bytes: int = option(0, "Hide rows with fewer bytes of output")
    min_micros: int = option(0, "Hide rows with less time, in microseconds")
    min_accelerator_micros: int = option(0, "Hide rows with less accelerator time, in microseconds")
    min_cpu_micros: int = option(0, "Hide rows with less host time, in microseconds")
    min_params: int = option(0, "Hide rows with fewer parameters of their own")
    min_float_ops: int = option(0, "Hide rows with fewer float operations of their own")
    min_occurrence: int = option(0, "Hide rows that run less often")
    resource: str | None = option(
        None,
        "Whose time rows are ordered by and shares are of; by default the device's where one works, else the host's",
        choices=tuple(RESOURCES),
    )
    step: str | None = option(
        None, "`all` sums over the steps; `average`, or the number of one step"
    )
    average_over: str = option(
        "node",
        "What `average` divides by: the steps that the node itself ran in, or all profiled steps",
        choices=("node", "steps"),
    )
    order_by: str | None = option(
        None, f"What siblings are sorted by, largest first: {', '.join(ORDERS)}"
    )
    account_type_regexes: tuple[str, ...] = option(
        EVERYTHING, "Only nodes with a matching op, device or type count"
    )
    start_name_regexes: tuple[str, ...] = option(EVERYTHING, "Matching rows become the top rows")
    trim_name_regexes: tuple[str, ...] = option((), "What is below matching rows is cut off")
    show_name_regexes: tuple[str, ...] = option(
        EVERYTHING, "Only matching rows are shown; the others still count"
    )
    hide_name_regexes: tuple[str, ...] = option((), "Matching rows are hidden, but still count")
    account_displayed_op_only: bool = option(
        False, "Totals are sums over the rows shown, not over all"
    )
    select: tuple[str, ...] | None = option(
        None, f"Columns of the text; no figure changes: {', '.join(COLUMNS)}"
    )
    output: str | None = option(
        None, "stdout, none, or file, timeline, pprof, speedscope with :outfile=F"
    )


@dataclass(frozen=True)
class Resolved:
    """Options with every decision made.

    Attributes:
        options: The options, none of them None but `compat`, `step` and `output`.
        tfprof: Whether tfprof's quirks are wanted.
        step: The number of the one step that is wanted, or None.
        average: Whether figures are averages over steps.
        resource: Whose time rows are ordered by and shares are of: a word of `RESOURCES`.
        default_order: Whether the order was left open.
    """

    options: ViewsOptions
    tfprof: bool
    step: int | None
    average: bool
    resource: str = BOTH
    default_order: bool = False

    @property
    def time(self) -> str:
        """The figure that shares are of."""
        return RESOURCES[self.resource]

    @property
    def max_depth(self) -> int:
        """The deepest depth shown, where the root has depth 1. tfprof keeps 32 bits of it."""
        depth = UNLIMITED_DEPTH if self.options.max_depth is None else self.options.max_depth
        return (depth + _INT32 // 2) % _INT32 - _INT32 // 2 if self.tfprof else depth

    @property
    def order_by(self) -> str:
        """What siblings are sorted by, '' for the natural order."""
        return self.options.order_by or ""


def resolve(options: ViewsOptions, *, nested: bool = False, has_device: bool = False) -> Resolved:
    """Checks options and decides what was left open.

    Args:
        options: The options.
        nested: Whether ops of the profile call ops.
        has_device: Whether an accelerator works in the profile.

    Raises:
        OptionError: A value is not one of its choices, or `step` is neither a word nor a number.
    """
    for spec in dataclasses.fields(ViewsOptions):
        _check_choice(spec, getattr(options, spec.name))
    options = _with_preset(options)
    tfprof = options.compat == "tfprof"
    step, average = _step(options.step, tfprof)
    resource = options.resource or _resource(tfprof=tfprof, nested=nested, has_device=has_device)
    decided = dataclasses.replace(options, **_defaults(options, tfprof))
    if decided.order_by is None:
        decided = dataclasses.replace(decided, order_by=_order(options.view, resource))
    if not tfprof:
        _check_words("order_by", [decided.order_by or ""], ("", *ORDERS))
        _check_words("select", decided.select or (), COLUMNS)
    return Resolved(
        options=decided,
        tfprof=tfprof,
        step=step,
        average=average,
        resource=resource,
        default_order=options.order_by is None,
    )


_PRESETS: dict[str, dict[str, Any]] = {
    "trainable_variables_parameter": {
        "max_depth": 10_000,
        "order_by": "name",
        "account_type_regexes": ("_trainable_variables",),
        "account_displayed_op_only": True,
        "select": ("params",),
    },
    "float_operation": {
        "max_depth": 10_000,
        "min_float_ops": 1,
        "order_by": "float_ops",
        "account_displayed_op_only": True,
        "select": ("float_ops",),
    },
    "time_and_memory": {
        "max_depth": 10_000,
        "min_bytes": 1,
        "min_micros": 1,
        "order_by": "micros",
        "account_displayed_op_only": True,
        "select": ("micros", "bytes"),
    },
}
"""Source: `ProfileOptionBuilder` in tensorflow/python/profiler/option_builder.py."""


def _with_preset(options: ViewsOptions) -> ViewsOptions:
    """The options with those of the preset in place of defaults."""
    if options.preset is None:
        return options
    default = ViewsOptions()
    preset = _PRESETS[options.preset]
    chosen = {
        name: preset[name] for name in preset if getattr(options, name) == getattr(default, name)
    }
    return dataclasses.replace(options, **chosen)


def _resource(*, tfprof: bool, nested: bool, has_device: bool) -> str:
    if tfprof or not nested:
        return BOTH
    return DEVICE if has_device else HOST


def _order(view: str, resource: str) -> str:
    """The default order: by self time among ops, where totals contain each other, else by total time."""
    figure = RESOURCES[resource]
    words = SELF_ORDERS if view == "op" and resource != BOTH else ORDER_FIELDS
    return next(word for word, name in words.items() if name == figure)


def _check_words(option: str, words: Sequence[str], known: Sequence[str]) -> None:
    """Raises OptionError at the first word that is not known."""
    for word in words:
        if word not in known:
            choices = ", ".join(choice for choice in known if choice)
            raise OptionError(
                f"unknown {option} {word!r}", where=option, remedy=f"Choose from: {choices}"
            )


def _check_choice(spec: dataclasses.Field[Any], value: Any) -> None:
    choices = spec.metadata["choices"]
    if choices and value is not None and value not in choices:
        raise OptionError(
            f"{value!r} is not known", where=spec.name, remedy="Use one of " + ", ".join(choices)
        )


def _defaults(options: ViewsOptions, tfprof: bool) -> dict[str, Any]:
    lists = {spec.name: getattr(options, spec.name) for spec in dataclasses.fields(options)}
    decided: dict[str, Any] = {
        name: tuple(value) for name, value in lists.items() if isinstance(value, list)
    }
    if options.order_by is None and tfprof:
        decided["order_by"] = "name"
    if tfprof and options.max_depth is None:
        decided["max_depth"] = 10
    if options.select is None:
        decided["select"] = ("micros",) if tfprof else ("micros", "bytes")
    if options.step is None:
        decided["step"] = "-1" if tfprof else "all"
    return decided


def _step(text: str | None, tfprof: bool) -> tuple[int | None, bool]:
    word = ("-1" if tfprof else "all") if text is None else str(text).strip()
    if word == "all":
        return None, False
    if word == "average":
        return None, True
    if not re.fullmatch(r"[+-]?\d+", word):
        raise OptionError(
            f"{word!r} is no step", where="step", remedy="Use all, average or the number of a step"
        )
    number = int(word)
    return (None, True) if number < 0 else (number, False)
