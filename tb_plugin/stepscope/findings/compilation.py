"""Rules over compilation and warm-up: recompilation, graph breaks, initialisation."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from stepscope.findings.finding import Finding
from stepscope.findings.format_time import time_words
from stepscope.findings.rules import LensResult, Rule
from stepscope.findings.step_facts import StepFacts, Views
from stepscope.findings.step_finding import change_finding, facts_of, trace_place
from stepscope.lenses.trace.replay import Change
from stepscope.lenses.trace.spans import Spans
from stepscope.model.columns import Ints
from stepscope.model.profile import NodeKind

_COMPILATION = re.compile(
    r"_compile\.compile_inner|_compile\.<locals>|dynamo_timed|compile_fx|inductor_compile|fx_codegen_and_compile"
    r"|backend_compile|XlaCompile|XLA.*[Cc]ompil|PjRt.*Compile|aot_(?:dispatch|compile)|async_compile|triton.*compile|torch\.jit.*compile"
)
_REGION = re.compile(r"^Torch-Compiled Region: (\d+)/\d+")
_SETUP = re.compile(
    r"ModuleLoad|LibraryLoad|ModuleGetFunction|FuncGetAttributes|LazyLoad|cudaGetDeviceProperties|hipGetDeviceProp|"
    r"StreamCreate|cublasCreate|cudnnCreate|hipInit|cuInit|DevicePrimaryCtx|HostAlloc|PointerGetAttributes|"
    r"autotun|benchmark|cudnn.*find|miopenFind|Find[A-Z]\w*Algorithm",
    re.IGNORECASE,
)
_EVENTS = re.compile(r"^(?:cuda|hip)Event(?:Synchronize|ElapsedTime|Record)")
_ELAPSED = re.compile(r"EventElapsedTime")
_LEAST_SETUP_SHARE = 0.1
_OTHER_PARTS = re.compile(
    r"Backward|autograd::engine|Optimizer\.|optimizer|DataLoader|nccl:|gloo:|ProfilerStep"
)


def recompilation(result: LensResult[Views]) -> Iterator[Finding]:
    """Compilation in a step that is not the first."""
    facts = facts_of(result)
    if facts is None:
        return
    rows = _compilations(facts)
    rows = rows[facts.step[rows] > 0] if facts.step_count > 1 else rows[:0]
    if not len(rows):
        return
    longest = int(rows[facts.duration[rows].argmax()])
    steps = np.unique(facts.step[rows])
    step = facts.step_id(int(facts.step[longest]))
    which = f"step {step}" if len(steps) == 1 else f"{len(steps)} steps, most of it in step {step}"
    finding = change_finding(
        result,
        facts,
        rule="recompilation",
        cause=f"A compilation lies in {which}",
        change=facts.without_host(rows),
        cost_us=facts.covered_us(rows),
        example=longest,
        advice="Something that the compiler took as constant has changed, mostly a shape. "
        "The other steps are not slower",
        changes=(
            "TORCH_LOGS=recompiles tells which guard failed",
            "torch._dynamo.mark_dynamic(tensor, dim), or torch.compile(dynamic=True)",
            "Pad the last batch, or drop_last=True in the DataLoader",
        ),
        step=step,
    )
    if finding is not None:
        yield finding


def _compilations(facts: StepFacts) -> Ints:
    """The compilations in complete steps."""
    return np.flatnonzero(facts.named(_COMPILATION) & facts.on_host & facts.in_steps)


def graph_breaks(result: LensResult[Views]) -> Iterator[Finding]:
    """Steps that go in and out of compiled regions, with Python between them."""
    facts = facts_of(result)
    if facts is None:
        return
    regions = np.flatnonzero(facts.named(_REGION) & facts.on_host & facts.in_steps)
    before, after = _breaks(facts, regions)
    if not len(before):
        return
    gaps = []
    for lane in np.unique(facts.lane[before]).tolist():
        of_lane = facts.lane[before] == lane
        gaps.append(
            (int(lane), Spans.union(facts.end[before[of_lane]], facts.start[after[of_lane]]))
        )
    length = facts.start[after] - facts.end[before]
    finding = change_finding(
        result,
        facts,
        rule="graph-breaks",
        cause=f"The compiled model is left and entered again {len(before) / facts.step_count:,.0f} times a step",
        change=Change(host=tuple(gaps)),
        cost_us=facts.per_step_us(int(length.sum())),
        example=int(after[length.argmax()]),
        advice="At a graph break the device waits for Python and for the guards of the next region",
        changes=(
            "TORCH_LOGS=graph_breaks tells where and why",
            "torch.compile(model, fullgraph=True) makes a break an error",
            "Move print, .item() and logging out of the compiled function",
        ),
    )
    if finding is not None:
        yield finding


def _breaks(facts: StepFacts, regions: Ints) -> tuple[Ints, Ints]:
    """Pairs of compiled regions of one step that follow each other, with nothing but Python and small ops between."""
    order = regions[np.lexsort((facts.start[regions], facts.lane[regions]))]
    if len(order) < 2:
        return order[:0], order[:0]
    before, after = order[:-1], order[1:]
    names = facts.profile.nodes.name[facts.profile.executions.node[order]]
    together = (facts.lane[before] == facts.lane[after]) & (facts.step[before] == facts.step[after])
    together &= (names[:-1] != names[1:]) & (facts.end[before] <= facts.start[after])
    other = np.sort(facts.start[np.flatnonzero(facts.named(_OTHER_PARTS) & facts.on_host)])
    begun = np.searchsorted(other, facts.start[after]) - np.searchsorted(other, facts.end[before])
    together &= begun == 0
    return before[together], after[together]


def autotuning_calls(facts: StepFacts) -> Ints:
    """The calls with which a library times its own kernels to choose one: events that are waited for and read."""
    calls = np.flatnonzero(facts.named(_EVENTS) & (facts.kind == NodeKind.RUNTIME))
    ops = facts.callers(calls)
    timed = np.unique(ops[facts.named(_ELAPSED)[calls] & (ops >= 0)])
    return calls[np.isin(ops, timed)]


def initialisation(result: LensResult[Views]) -> Iterator[Finding]:
    """First calls of the accelerator's library, autotuning and first compilations: the warm-up of the first step."""
    facts = facts_of(result)
    if facts is None:
        return
    rows = _setup(facts)
    if not len(rows):
        return
    union = Spans.union(facts.start[rows], facts.end[rows])
    first = int(facts.graph.steps.end[0] - facts.graph.steps.start[0])
    if union.total < _LEAST_SETUP_SHARE * first:
        return
    longest = int(rows[facts.duration[rows].argmax()])
    took = time_words(union.total * facts.tick_us)
    yield Finding(
        rule="initialisation",
        title=f"The first step holds {took} of warm-up, such as {facts.name(longest)}",
        cost_share=None,
        cost=union.total * facts.tick_us,
        unit="us",
        evidence=(trace_place(result, facts, longest),),
        advice="It happens once and says nothing of the later steps: leave the first step out when you read averages",
        certainty="measured",
        whole=first * facts.tick_us,
        step=facts.step_id(0),
        changes=("torch.profiler.schedule(wait=1, warmup=1, active=3)",),
        change=facts.without_host(rows),
    )


def _setup(facts: StepFacts) -> Ints:
    """Calls of the first step that happen once, and autotuning wherever it happens."""
    setup = facts.named(_SETUP) & (facts.kind == NodeKind.RUNTIME)
    if facts.step_count > 1:
        setup |= facts.named(_COMPILATION)
    rows = np.flatnonzero(setup & facts.on_host & facts.in_steps & (facts.step == 0))
    tuning = autotuning_calls(facts)
    return np.union1d(rows, tuning[facts.in_steps[tuning]])


RULES: tuple[Rule[Views], ...] = (
    Rule(
        "recompilation",
        "views",
        "Compilation in a step that is not the first",
        recompilation,
        "derived",
    ),
    Rule(
        "graph-breaks",
        "views",
        "Steps that leave and enter compiled code again and again",
        graph_breaks,
        "derived",
    ),
    Rule(
        "initialisation",
        "views",
        "First calls, autotuning and compilation in the first step: warm-up",
        initialisation,
    ),
)
"""The rules of this module."""
