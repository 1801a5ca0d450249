"""Rules over what the host does while the device waits for it: synchronisation, allocations, copies, input, garbage."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from stepscope.findings.compilation import autotuning_calls
from stepscope.findings.finding import Finding
from stepscope.findings.rules import LensResult, Rule
from stepscope.findings.step_facts import StepFacts, Views
from stepscope.findings.step_finding import change_finding, facts_of, times_a_step
from stepscope.lenses.trace.categories import Category
from stepscope.lenses.trace.replay import Change
from stepscope.lenses.trace.replay_graph import WAITING_CALL, PointKind
from stepscope.model.columns import Ints
from stepscope.model.profile import NodeKind

_ALLOCATION = re.compile(
    r"^(?:cuda|hip|mu)(?:Malloc|Free|MallocHost|HostAlloc|FreeHost|HostFree|HostMalloc)$"
    r"|^cuMem(?:Alloc|Free)(?:_v2)?$|^cuMem(?:Create|Map|Unmap|Release|SetAccess)$|^aclrt(?:Malloc|Free)|^ze?MemAlloc|^zeMemFree"
)
_FREE = re.compile(r"Free|Unmap|Release", re.IGNORECASE)
_ATEN = re.compile(r"^aten::")
_TO_DEVICE = re.compile(r"HtoD|HostToDevice|Host -> Device", re.IGNORECASE)
_PAGEABLE = re.compile(r"Pageable -> Device")
_TO_HOST = re.compile(r"DtoH|DeviceToHost|Device -> (?:Host|Pageable)", re.IGNORECASE)
_COLLECTOR = re.compile(r"^Python GC|^gc\.collect|garbage.?collect", re.IGNORECASE)
_BLOCKING_COPY = re.compile(r"Memcpy", re.IGNORECASE)

_SYNC_CHANGES = {
    "aten::item": (
        "Log the loss every n steps instead of calling .item() in each",
        "Keep the value on the device: total_loss += loss.detach()",
    ),
    "aten::nonzero": (
        "Replace nonzero() and boolean indexing by torch.where(condition, a, b) or a multiplication with the mask",
    ),
    "aten::is_nonzero": ("Replace `if tensor:` by torch.where, or test it every n steps",),
    "aten::copy_": ("tensor.to('cpu', non_blocking=True), and read it a step later",),
}
_ITEM = re.compile(r"item|_local_scalar_dense|is_nonzero")
_ASKS = re.compile(r"item|_local_scalar_dense|is_nonzero|equal|allclose|Synchronize", re.IGNORECASE)
_SELECTION = re.compile(r"nonzero|masked_select|index|unique")


def host_sync(result: LensResult[Views]) -> Iterator[Finding]:
    """Waits of the host after which the device stands idle, by the op that makes them."""
    facts = facts_of(result)
    if facts is None or not facts.has_device:
        return
    for name, calls in _waits_by_op(facts).items():
        ops = np.unique(facts.outermost(calls, _ATEN))
        change = _without_waits(facts, name, ops, calls)
        finding = change_finding(
            result,
            facts,
            rule="host-sync",
            cause=f"{name} waits for the device {times_a_step(len(ops), facts)}, which then stands idle",
            change=change,
            cost_us=facts.covered_us(calls),
            example=int(calls[facts.duration[calls].argmax()]),
            advice="The host launches nothing while it waits, so that the device runs dry: wait less often, or later",
            changes=_sync_changes(name),
            key=name,
        )
        if finding is not None:
            yield finding


def _without_waits(facts: StepFacts, name: str, ops: Ints, calls: Ints) -> Change:
    """The change in which ops that only ask the device are gone, and others do not wait."""
    if not _ASKS.search(name):
        return facts.without_host(calls)
    return facts.without_host(np.union1d(ops, calls)) | facts.without_work(_copies_in(facts, ops))


def _sync_changes(name: str) -> tuple[str, ...]:
    if name in _SYNC_CHANGES:
        return _SYNC_CHANGES[name]
    if _ITEM.search(name):
        return _SYNC_CHANGES["aten::item"]
    if _SELECTION.search(name):
        return _SYNC_CHANGES["aten::nonzero"]
    if name.startswith("aten::"):
        return _SYNC_CHANGES["aten::copy_"]
    return (
        "Remove torch.cuda.synchronize() from the loop",
        "Time with torch.cuda.Event(enable_timing=True), and read the events at the end",
    )


def _waits_by_op(facts: StepFacts) -> dict[str, Ints]:
    """The calls in complete steps that wait for the device, by the outermost ATen op around them, else their own name.

    Without those that other rules tell: frees, copies to the device, autotuning, and launches into a full queue.
    """
    graph = facts.graph
    calls = np.unique(graph.run[(graph.kind == PointKind.RETURN) & (graph.wait >= 0)])
    calls = calls[facts.in_steps[calls]]
    waits = facts.named(WAITING_CALL) | facts.named(_BLOCKING_COPY)
    calls = calls[waits[calls] & ~facts.named(_ALLOCATION)[calls]]
    calls = calls[~np.isin(calls, _calls_of_uploads(facts))]
    calls = calls[~np.isin(calls, autotuning_calls(facts))]
    groups: dict[str, list[int]] = {}
    for call, op in zip(calls.tolist(), facts.outermost(calls, _ATEN).tolist(), strict=True):
        groups.setdefault(facts.name(op), []).append(call)
    return {name: np.array(rows, np.int64) for name, rows in groups.items()}


def _copies_in(facts: StepFacts, ops: Ints) -> Ints:
    """The copies to the host that ops launch."""
    works = facts.category_rows(Category.MEMCPY)
    works = works[(facts.launch[works] >= 0) & facts.named(_TO_HOST)[works]]
    inside = np.isin(facts.outermost(facts.launch[works], _ATEN), ops)
    return works[inside]


def device_allocations(result: LensResult[Views]) -> Iterator[Finding]:
    """Calls of the driver that allocate or free device memory in steps."""
    facts = facts_of(result)
    if facts is None:
        return
    calls = np.flatnonzero(
        facts.named(_ALLOCATION) & (facts.kind == NodeKind.RUNTIME) & facts.in_steps
    )
    if not len(calls) or _only_in_first_step(facts, calls):
        return
    frees = facts.named(_FREE)[calls]
    name = facts.most_common(calls.tolist())
    retries = f", {times_a_step(int(frees.sum()), facts)} to free" if frees.any() else ""
    finding = change_finding(
        result,
        facts,
        rule="device-allocations",
        cause=f"{name} and the like are called {times_a_step(len(calls), facts)}{retries}",
        change=facts.without_host(calls),
        cost_us=facts.covered_us(calls),
        example=int(calls[facts.duration[calls].argmax()]),
        advice="The caching allocator goes to the driver, which waits for the device. "
        "A free before an allocation means that the allocator retried since memory was nearly out",
        changes=(
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            "Keep input shapes the same, or bucket them, so that cached blocks fit",
            "Remove torch.cuda.empty_cache() from the loop",
        ),
        key=name,
    )
    if finding is not None:
        yield finding


def _only_in_first_step(facts: StepFacts, rows: Ints) -> bool:
    """Whether executions are in the first step only, so that they are part of the warm-up."""
    return facts.step_count > 1 and bool((facts.step[rows] == 0).all())


def pageable_copies(result: LensResult[Views]) -> Iterator[Finding]:
    """Copies to the device that the host waits for."""
    facts = facts_of(result)
    if facts is None:
        return
    copies = _uploads(facts)
    if not len(copies):
        return
    calls = _calls_of_uploads(facts)
    change = Change(host=facts.spans(calls), removed=copies, unwaited=calls)
    name = facts.most_common(copies.tolist())
    finding = change_finding(
        result,
        facts,
        rule="pageable-copies",
        cause=f"{name} blocks the host {times_a_step(len(copies), facts)}",
        change=change,
        cost_us=facts.covered_us(copies),
        example=int(copies[facts.duration[copies].argmax()]),
        advice="The host waits for copies from pageable memory, and nothing runs beside them: "
        "pin the memory, and copy the next batch while this one is computed",
        changes=(
            "DataLoader(..., pin_memory=True), and batch.to(device, non_blocking=True)",
            "Copy the next batch on a stream of its own: with torch.cuda.stream(prefetch_stream)",
        ),
        key=name,
    )
    if finding is not None:
        yield finding


def _uploads(facts: StepFacts) -> Ints:
    """The copies to the device that their calls wait for."""
    works = facts.category_rows(Category.MEMCPY)
    works = works[(facts.launch[works] >= 0) & facts.named(_TO_DEVICE)[works]]
    waited = facts.end[facts.launch[works]] >= facts.end[works]
    pageable = facts.named(_PAGEABLE)[works]
    return works[waited | pageable]


def _calls_of_uploads(facts: StepFacts) -> Ints:
    """The calls of such copies, and the waits that the same op makes after them."""
    copies = _uploads(facts)
    calls = np.unique(facts.launch[copies])
    ops = facts.callers(calls)
    waits = np.flatnonzero(
        facts.named(WAITING_CALL) & (facts.kind == NodeKind.RUNTIME) & facts.in_steps
    )
    beside = waits[np.isin(facts.callers(waits), ops[ops >= 0])]
    return np.union1d(calls, beside)


def data_loader_wait(result: LensResult[Views]) -> Iterator[Finding]:
    """Time in which the training loop waits for its next batch."""
    facts = facts_of(result)
    if facts is None:
        return
    rows = facts.category_rows(Category.DATA_LOADER)
    rows = rows[facts.lane[rows] == facts.main_lane]
    if not len(rows):
        return
    name = facts.most_common(rows.tolist())
    single = "SingleProcess" in name
    first = "DataLoader(num_workers=4, persistent_workers=True): today the loop loads the batches itself"
    more = "DataLoader with more workers and a larger prefetch_factor"
    finding = change_finding(
        result,
        facts,
        rule="data-loader-wait",
        cause=f"The loop waits {times_a_step(len(rows), facts)} for the data loader",
        change=facts.without_host(rows),
        cost_us=facts.covered_us(rows),
        example=int(rows[facts.duration[rows].argmax()]),
        advice="The next batch is not ready in time: load it beside the step",
        changes=(
            first if single else more,
            "Move decoding and augmentation to a preparing job or to the device",
        ),
        key=name,
    )
    if finding is not None:
        yield finding


def garbage_collection(result: LensResult[Views]) -> Iterator[Finding]:
    """Runs of Python's garbage collector in steps."""
    facts = facts_of(result)
    if facts is None:
        return
    rows = np.flatnonzero(facts.named(_COLLECTOR) & facts.in_steps & facts.on_host)
    if not len(rows):
        return
    finding = change_finding(
        result,
        facts,
        rule="garbage-collection",
        cause=f"Python's garbage collector runs {times_a_step(len(rows), facts)}",
        change=facts.without_host(rows),
        cost_us=facts.covered_us(rows),
        example=int(rows[facts.duration[rows].argmax()]),
        advice="The collector stops the loop and looks at every object: let it run every n steps, in all ranks at once",
        changes=(
            "gc.disable() before the loop, and gc.collect(1) every n steps",
            "gc.freeze() after the model is built",
        ),
    )
    if finding is not None:
        yield finding


RULES: tuple[Rule[Views], ...] = (
    Rule(
        "host-sync",
        "views",
        "Waits of the host that leave the device idle: .item(), nonzero, blocking copies, synchronize",
        host_sync,
        "derived",
    ),
    Rule(
        "device-allocations",
        "views",
        "Memory of the device taken from or given back to the driver in steps",
        device_allocations,
        "derived",
    ),
    Rule(
        "pageable-copies",
        "views",
        "Copies to the device that the host waits for",
        pageable_copies,
        "derived",
    ),
    Rule(
        "data-loader-wait", "views", "Steps that wait for their batch", data_loader_wait, "derived"
    ),
    Rule(
        "garbage-collection",
        "views",
        "Python's garbage collector in steps",
        garbage_collection,
        "derived",
    ),
)
"""The rules of this module."""
