"""Rules over device work that a fused or compiled form would not need."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.framework import cast_changes, layout_changes
from stepscope.findings.kernel_kinds import kernel_kind
from stepscope.findings.rules import LensResult, Rule
from stepscope.findings.step_facts import StepFacts, Views
from stepscope.findings.step_finding import change_finding, facts_of, times_a_step
from stepscope.lenses.trace.categories import Category
from stepscope.lenses.trace.replay import Change
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import NodeKind

KERNEL_FLOOR_PS = 1_800_000
"""What a kernel takes at least, however little it does; a merged kernel pays it once."""
KERNEL_GAP_PS = 1_000_000
"""The gap before a kernel that was queued in time, which goes with it."""
_LEAST_OPTIMIZER_OPS = 40
_LEAST_CHAIN = 2

_OPTIMIZER = re.compile(
    r"^Optimizer\.step#|optimizer[._ ]step|^## ?optimi[sz]er|\b(?:Adam|AdamW|SGD|RMSprop|Adagrad)\.step"
)
_FUSED = re.compile(r"foreach|_fused|multi_tensor|fused_adam|triton", re.IGNORECASE)
_LAYOUT_KERNEL = re.compile(
    r"nchw.?to.?nhwc|nhwc.?to.?nchw|batched_transpose|transpose_(?:readWrite|kernel)|permute_kernel|^copy(?:\.\d+|_bitcast)|^transpose(?:\.\d+)?|"
    r"^(?:wrapped|loop|input)?_?(?:copy|transpose)_fusion|^bitcast_transpose",
    re.IGNORECASE,
)
_LAYOUT_OP = re.compile(r"^aten::(?:contiguous|clone)$")
_CAST_OP = re.compile(r"^aten::(?:_to_copy|to|type|float|half|bfloat16|autocast)")
_CAST_KERNEL = re.compile(
    r"^(?:wrapped_|loop_)?convert(?:_fusion)?(?:\.\d+)?|(?:b?float16|float8|half)_?copy_kernel|direct_copy|unrolled_elementwise",
    re.IGNORECASE,
)
_ATEN = re.compile(r"^aten::")


def unfused_optimizer(result: LensResult[Views]) -> Iterator[Finding]:
    """Optimizer steps that launch their kernels parameter by parameter."""
    facts = facts_of(result)
    if facts is None:
        return
    ranges = np.flatnonzero(
        facts.named(_OPTIMIZER) & (facts.kind == NodeKind.SCOPE) & facts.in_steps & facts.on_host
    )
    ranges = _outermost(facts, ranges)
    if not len(ranges):
        return
    ops = _ops_in(facts, ranges)
    single = ops[~facts.named(_FUSED)[ops]]
    if len(single) < _LEAST_OPTIMIZER_OPS * facts.step_count or len(single) < 0.8 * len(ops):
        return
    change = _merged(facts, ranges, single)
    name = facts.most_common(ranges.tolist())
    finding = change_finding(
        result,
        facts,
        rule="unfused-optimizer",
        cause=f"{name} runs {len(single) / max(len(ranges), 1):,.0f} small ops, parameter by parameter",
        change=change,
        cost_us=facts.covered_us(ranges),
        example=int(ranges[facts.duration[ranges].argmax()]),
        advice="Each parameter costs several launches: let one call update them all",
        changes=(
            "fused=True in the optimizer's constructor, such as torch.optim.AdamW(..., fused=True)",
            "foreach=True where fused is not supported",
            "optimizer.zero_grad(set_to_none=True)",
        ),
        key=name,
    )
    if finding is not None:
        yield finding


def _outermost(facts: StepFacts, rows: Ints) -> Ints:
    """Ranges that are in no other of them."""
    if not len(rows):
        return rows
    order = rows[np.lexsort((-facts.end[rows], facts.start[rows], facts.lane[rows]))]
    kept: list[int] = []
    for row in order.tolist():
        inside = (
            kept
            and facts.lane[kept[-1]] == facts.lane[row]
            and facts.end[kept[-1]] >= facts.end[row]
        )
        if not inside:
            kept.append(row)
    return np.array(kept, np.int64)


def _ops_in(facts: StepFacts, ranges: Ints) -> Ints:
    """The outermost ops in ranges that lie one after the other."""
    inside = _inside(facts, ranges, facts.start) & facts.on_host & (facts.kind == NodeKind.OP)
    ops = np.flatnonzero(inside)
    above = facts.callers(ops)
    in_op = (above >= 0) & (facts.kind[above] == NodeKind.OP)
    outermost: Ints = ops[~in_op]
    return outermost


def _inside(facts: StepFacts, ranges: Ints, moment: Ints) -> Array:
    """Which executions begin in a range, on its thread."""
    inside = np.zeros(len(moment), bool)
    for lane in np.unique(facts.lane[ranges]).tolist():
        chosen = ranges[facts.lane[ranges] == lane]
        order = chosen[np.argsort(facts.start[chosen])]
        place = np.searchsorted(facts.start[order], moment, side="right") - 1
        row = order[np.maximum(place, 0)]
        inside |= (facts.lane == lane) & (place >= 0) & (moment < facts.end[row])
    return inside


def _merged(facts: StepFacts, ranges: Ints, ops: Ints) -> Change:
    """One op of each name is left in each range, whose kernels do the work of all."""
    name = facts.profile.nodes.name[facts.profile.executions.node[ops]]
    which = np.searchsorted(np.sort(facts.start[ranges]), facts.start[ops], side="right")
    _, first = np.unique(which * (int(name.max(initial=0)) + 1) + name, return_index=True)
    repeated = np.ones(len(ops), bool)
    repeated[first] = False
    extra = ops[repeated]
    works = np.flatnonzero(facts.is_work & (facts.launch >= 0))
    works = works[np.isin(facts.outermost(facts.launch[works], _ATEN), extra)]
    tick = facts.profile.tick_ps
    floor = np.minimum(facts.duration[works], KERNEL_FLOOR_PS // tick) + KERNEL_GAP_PS // tick
    return Change(
        host=facts.spans_without(ranges, ops[~repeated]),
        shorter=((works, floor),),
        unwaited=np.unique(facts.launch[works]),
    )


def layout_copies(result: LensResult[Views]) -> Iterator[Finding]:
    """Kernels that only change the layout of a tensor."""
    facts = facts_of(result)
    if facts is None:
        return
    works = facts.category_rows(Category.KERNEL)
    by_name = facts.named(_LAYOUT_KERNEL)[works]
    ops = facts.ops_of(works)
    of_layout_op = (ops >= 0) & facts.named(_LAYOUT_OP)[np.maximum(ops, 0)]
    copies = works[by_name | of_layout_op | _in_op(facts, works, _LAYOUT_OP)]
    yield from _gone(
        result,
        facts,
        copies,
        rule="layout-copies",
        cause="Copies that change the layout of tensors run",
        advice="Producer and consumer want different memory formats: keep one through the model",
        changes=layout_changes(facts),
    )


def upcasts(result: LensResult[Views]) -> Iterator[Finding]:
    """Kernels that only convert a tensor to another type."""
    facts = facts_of(result)
    if facts is None:
        return
    works = facts.category_rows(Category.KERNEL)
    casts = works[_in_op(facts, works, _CAST_OP) & ~facts.named(_LAYOUT_KERNEL)[works]]
    by_name = works[
        facts.named(
            re.compile(r"^(?:wrapped_|loop_)?convert(?:_fusion)?(?:\.\d+)?", re.IGNORECASE)
        )[works]
    ]
    yield from _gone(
        result,
        facts,
        np.union1d(casts, by_name),
        rule="upcasts",
        cause="Conversions between number types run",
        advice="Tensors are converted again and again: keep them in the type in which they are used",
        changes=cast_changes(facts),
    )


def _in_op(facts: StepFacts, works: Ints, pattern: re.Pattern[str]) -> Array:
    """Which work is launched in an op of a name, or in an ATen op that it calls."""
    calls = facts.launch[works]
    hits = np.zeros(len(works), bool)
    known = np.flatnonzero(calls >= 0)
    named = facts.named(pattern)
    aten = facts.named(_ATEN)
    reached = facts.callers(calls[known])
    while len(known):
        alive = (reached >= 0) & aten[np.maximum(reached, 0)]
        known, reached = known[alive], reached[alive]
        found = named[reached]
        hits[known[found]] = True
        known, reached = known[~found], reached[~found]
        reached = facts.callers(reached)
    return hits


def _gone(
    result: LensResult[Views],
    facts: StepFacts,
    works: Ints,
    *,
    rule: str,
    cause: str,
    advice: str,
    changes: tuple[str, ...],
) -> Iterator[Finding]:
    """The finding of device work that need not be."""
    if not len(works):
        return
    example = int(works[facts.duration[works].argmax()])
    change = _without_ops(facts, works)
    host_us = sum((facts.spans_us(spans) for _, spans in change.host), 0.0)
    finding = change_finding(
        result,
        facts,
        rule=rule,
        cause=f"{cause} {times_a_step(len(works), facts)}",
        change=change,
        cost_us=max(facts.covered_us(works), host_us),
        example=example,
        advice=advice,
        changes=changes,
    )
    if finding is not None:
        yield finding


def _without_ops(facts: StepFacts, works: Ints) -> Change:
    """The change in which device work, and the ATen ops that launch it, are gone."""
    calls = facts.launch[works]
    launched = np.unique(calls[calls >= 0])
    if not len(launched):
        return Change(removed=works)
    ops = np.unique(facts.outermost(launched, _ATEN))
    return Change(host=facts.spans(ops), removed=works, unwaited=launched)


def memory_bound_elementwise(result: LensResult[Views]) -> Iterator[Finding]:
    """Elementwise kernels one after the other, which one fused kernel would do in one pass over the memory."""
    facts = facts_of(result)
    if facts is None:
        return
    works = facts.category_rows(Category.KERNEL)
    chains, extra = _chains(facts, works)
    if not chains:
        return
    change = _without_ops(facts, extra)
    host_us = sum((facts.spans_us(spans) for _, spans in change.host), 0.0)
    if facts.covered_us(extra) < host_us:
        return  # The launches cost more than the memory: that is host-bound.
    finding = change_finding(
        result,
        facts,
        rule="memory-bound-elementwise",
        cause=f"{len(extra) + chains:,} elementwise kernels run in {chains:,} unfused chains",
        change=change,
        cost_us=facts.covered_us(extra),
        example=int(extra[facts.duration[extra].argmax()]),
        advice="Each kernel of a chain reads and writes the whole tensor: one fused kernel does it once",
        changes=(
            "torch.compile(model), or of the function with the chain",
            "A fused op, such as F.gelu or F.layer_norm, in place of single ones",
        ),
    )
    if finding is not None:
        yield finding


def _chains(facts: StepFacts, works: Ints) -> tuple[int, Ints]:
    """How many chains there are, and all their kernels but the longest of each."""
    if not len(works):
        return 0, works
    order = works[np.lexsort((facts.start[works], facts.lane[works]))]
    names = facts.profile.nodes.name[facts.profile.executions.node[order]]
    used, place = np.unique(names, return_inverse=True)
    kinds = [kernel_kind(facts.profile.strings[name]) for name in used.tolist()]
    fusible = np.array([kind == "elementwise" for kind in kinds], bool)
    fused = np.array(
        [_FUSED.search(facts.profile.strings[name]) is not None for name in used.tolist()], bool
    )
    elementwise = (
        (fusible & ~fused)[place]
        & ~_in_op(facts, order, _CAST_OP)
        & ~_in_op(facts, order, _LAYOUT_OP)
    )
    elementwise &= ~_in_optimizer(facts, order)
    lane = facts.lane[order]
    begins = elementwise & np.append(True, ~elementwise[:-1] | (lane[1:] != lane[:-1]))
    chain = np.cumsum(begins) - 1
    rows = np.flatnonzero(elementwise)
    count = np.bincount(chain[rows], minlength=int(begins.sum()))
    rows = rows[count[chain[rows]] >= _LEAST_CHAIN]
    by_length = rows[np.lexsort((-facts.duration[order[rows]], chain[rows]))]
    longest = (
        np.append(True, chain[by_length][1:] != chain[by_length][:-1])
        if len(by_length)
        else by_length
    )
    extra = order[by_length[~longest]] if len(by_length) else by_length
    return int((count >= _LEAST_CHAIN).sum()), extra


def _in_optimizer(facts: StepFacts, works: Ints) -> Array:
    """Which work is launched in a step of the optimizer."""
    ranges = np.flatnonzero(
        facts.named(_OPTIMIZER) & (facts.kind == NodeKind.SCOPE) & facts.on_host
    )
    if not len(ranges):
        return np.zeros(len(works), bool)
    inside = _inside(facts, _outermost(facts, ranges), facts.start)
    calls = facts.launch[works]
    return (calls >= 0) & inside[np.maximum(calls, 0)]


RULES: tuple[Rule[Views], ...] = (
    Rule(
        "unfused-optimizer",
        "views",
        "Optimizers that update parameter by parameter",
        unfused_optimizer,
        "derived",
    ),
    Rule(
        "memory-bound-elementwise",
        "views",
        "Chains of elementwise kernels that a compiler would fuse",
        memory_bound_elementwise,
        "derived",
    ),
    Rule(
        "layout-copies",
        "views",
        "Copies and transposes that only change the layout",
        layout_copies,
        "derived",
    ),
    Rule("upcasts", "views", "Conversions between number types that cost", upcasts, "derived"),
)
"""The rules of this module."""
