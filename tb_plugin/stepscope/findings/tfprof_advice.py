"""tfprof's `advise`: four checkers and their reports, word for word, or as the mended rules say it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from stepscope.errors import OptionError
from stepscope.findings.hot_spots import largest_costs
from stepscope.findings.rules import LensResult
from stepscope.findings.step_facts import Views
from stepscope.findings.views import OPERATIONS, UTILIZATION
from stepscope.lenses.views import ViewResult, ViewsOptions
from stepscope.lenses.views.tfprof_units import time_text
from stepscope.model.profile import Profile

CHECKERS = (
    "AcceleratorUtilizationChecker",
    "OperationChecker",
    "ExpensiveOperationChecker",
    "JobChecker",
)
_TOP = 3
_CODE_LEVELS = 4
_LEAST_CODE_US = 1000
_LITTLE = 1e-10
_UTILIZED = 0.5


def advise(
    views: Views, checkers: Sequence[str] | None = None, compat: str | None = "tfprof"
) -> dict[str, list[str]]:
    """The reports of each checker.

    Args:
        views: The views of a profile.
        checkers: The names of the checkers; None for all. `JobChecker` is known, and says nothing.
        compat: `tfprof` for its own words and figures, None for the mended rules of `findings.views`.

    Raises:
        OptionError: There is no such checker.
    """
    chosen = CHECKERS if checkers is None else tuple(checkers)
    unknown = [name for name in chosen if name not in CHECKERS]
    if unknown:
        raise OptionError(
            f"no checker {unknown[0]!r}",
            where="checkers",
            remedy=f"Choose from {', '.join(CHECKERS)}",
        )
    reports = _TFPROF if compat == "tfprof" else _MENDED
    return {name: reports[name](views) for name in sorted(chosen) if name in reports}


def _utilization(views: Views) -> list[str]:
    """For each accelerator the kernels' time over the window of the last steps of its nodes, each node's own."""
    reports = []
    for device, (busy, window) in sorted(
        _last_steps(views.profile).items(), key=lambda item: item[0].encode()
    ):
        if window > 0:
            word = "utilization" if busy / window >= _UTILIZED else "low utilization"
            reports.append(f"device: {device} {word}: {busy / window:.2f}")
    return reports


def _last_steps(profile: Profile) -> dict[str, tuple[int, int]]:
    """For each GPU the accelerator time and the window of its nodes' last steps."""
    rows, strings = profile.node_steps, profile.strings
    order = np.lexsort((rows.step, rows.node))
    last = order[np.append(np.diff(rows.node[order]) > 0, True)] if len(order) else order
    found: dict[str, tuple[int, int]] = {}
    devices = profile.nodes.device[rows.node[last]]
    for device in np.unique(devices[devices >= 0]).tolist():
        name = strings[device]
        if "gpu" in name:
            mine = last[devices == device]
            ran = mine[rows.end_ticks[mine] > 0]
            window = int(rows.end_ticks[ran].max() - rows.start_ticks[ran].min()) if len(ran) else 0
            found[name] = (int(rows.accelerator_ticks[mine].sum()), window)
    return found


def _operations(views: Views) -> list[str]:
    profile = views.profile
    texts = list(profile.strings)
    reports = []
    has_norm = any("BatchNorm" in texts[name] for name in profile.nodes.name.tolist())
    if has_norm and "FusedBatchNorm" not in {
        texts[kind] for kind in np.unique(profile.op_types.type).tolist()
    }:
        reports.append("Maybe use faster FusedBatchNorm instead of BatchNorm")
    rows = profile.attributes
    for node, key, value in zip(
        rows.node.tolist(), rows.key.tolist(), rows.value.tolist(), strict=True
    ):
        device = int(profile.nodes.device[node])
        if (
            (texts[key], texts[value]) == ("data_format", "NHWC")
            and device >= 0
            and "gpu" in texts[device]
        ):
            return [
                *reports,
                "Found operation using NHWC data_format on GPU. Maybe NCHW is faster.",
            ]
    return reports


def _expensive(views: Views) -> list[str]:
    reports = (_expensive_ops(views), _expensive_scopes(views), _expensive_code(views))
    return [report for report in reports if report is not None]


def _view(views: Views, view: str, max_depth: int, min_micros: int) -> ViewResult:
    options = ViewsOptions(
        view=view,
        compat="tfprof",
        max_depth=max_depth,
        min_micros=min_micros,
        order_by="micros",
        output="none",
    )
    return views.analyze(options)


def _times(result: ViewResult, prefix: str) -> Callable[[int], str]:
    fields = ("cpu_exec_micros", "accelerator_exec_micros", "exec_micros")
    columns = [result.column(prefix + field).tolist() for field in fields]

    def text(row: int) -> str:
        cpu, accelerator, total = (time_text(column[row]) for column in columns)
        return f"cpu: {cpu}, accelerator: {accelerator}, total: {total}"

    return text


def _expensive_ops(views: Views) -> str | None:
    if not len(views.profile.steps):
        return None
    result = _view(views, "op", _TOP, 1)
    names, times = result.names(range(len(result))), _times(result, "")
    own, whole = result.column("exec_micros").tolist(), result.column("total_exec_micros").tolist()
    lines = [
        f"top {row} operation type: {names[row]}, {times(row)} ({100.0 * own[row] / (whole[0] + _LITTLE):.2f}%)"
        for row in range(1, min(_TOP + 1, len(result)))
    ]
    return "\n".join(lines) if lines else None


def _expensive_scopes(views: Views) -> str | None:
    result = _view(views, "scope", 100, 100)
    names, times = result.paths(range(len(result))), _times(result, "")
    top = _children(result, 0)[:_TOP]
    lines = [
        f"top {place} graph node: {names[row]}, {times(row)}" for place, row in enumerate(top, 1)
    ]
    return "\n".join(lines) if lines else None


def _expensive_code(views: Views) -> str | None:
    if not views.profile.has_traces:
        return None
    result = _view(views, "code", 100, 1)
    row = 0
    while len(_children(result, row)) == 1:
        row = _children(result, row)[0]
    if not _children(result, row):
        return None
    return "\n".join(_code_lines(result, row))


def _code_lines(result: ViewResult, top: int) -> Iterator[str]:
    """Up to three lines of code at each of four levels, below lines that lead to several."""
    names, times = result.names(range(len(result))), _times(result, "total_")
    total = result.column("total_exec_micros").tolist()
    waiting = [(top, 0)]
    while waiting:
        row, depth = waiting.pop()
        if row != top:
            yield f"{'  ' * (depth - 1)}{names[row]}, {times(row)}"
        below = _children(result, row)
        if len(below) > 1 and depth < _CODE_LEVELS:
            waiting += [
                (child, depth + 1) for child in below[:_TOP][::-1] if total[child] >= _LEAST_CODE_US
            ]


def _children(result: ViewResult, row: int) -> list[int]:
    """The displayed rows directly below a row."""
    rows, child, end = [], row + 1, int(result.end[row]) if len(result) else 0
    while child < end:
        rows.append(child)
        child = int(result.end[child])
    return rows


def _mended(rules: Sequence[str]) -> Callable[[Views], list[str]]:
    def reports(views: Views) -> list[str]:
        from stepscope.findings.views import RULES

        subject = LensResult("views", "", "", views)
        found = [finding for rule in RULES if rule.name in rules for finding in rule.check(subject)]
        return [f"{finding.title}. {finding.advice}" for finding in found]

    return reports


def _largest(views: Views) -> list[str]:
    costs = largest_costs(LensResult("views", "", "", views))
    return [". ".join(text for text in (cost.title, cost.note) if text) for cost in costs]


_TFPROF: dict[str, Callable[[Views], list[str]]] = {
    "AcceleratorUtilizationChecker": _utilization,
    "OperationChecker": _operations,
    "ExpensiveOperationChecker": _expensive,
}
_MENDED = {
    "AcceleratorUtilizationChecker": _mended(UTILIZATION),
    "OperationChecker": _mended(OPERATIONS),
    "ExpensiveOperationChecker": _largest,
}
