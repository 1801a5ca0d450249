"""How long views of a large profile take: first, sorted anew, with a new regex, searched; and what memory they need.

    python benchmarks/views_scale.py [NODES]

Builds a profile of NODES (1,000,000) graph nodes as columns, alike in shape to a large TensorFlow training graph: name
scopes of 5 to 7 levels, 200 op types, call stacks of 11 frames, four devices, three steps and up to three inputs a
node. Prints wall and processor milliseconds, and the peak of memory in MB. The race with tfprof's C++, on files that it
can load, is benchmarks/views_race.py.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import numpy as np

from stepscope.lenses.views import ViewEngine, ViewResult, ViewsOptions
from stepscope.model.columns import Ints, Strings
from stepscope.model.profile import (
    Frames,
    Inputs,
    Nodes,
    NodeSteps,
    OpTypes,
    Profile,
    Scopes,
    Steps,
    Traces,
)

OPS = 200
DEVICES = 4
STEPS = 3
NODES_PER_SCOPE = 20
FRAMES = 400


class Texts:
    """Strings with an index each, in order of use."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, texts: list[str]) -> Ints:
        """The indices of more texts."""
        start = len(self.texts)
        self.texts += texts
        return np.arange(start, len(self.texts))


def scope_rows(nodes: int, texts: Texts) -> tuple[Scopes, Ints, list[str]]:
    """A tree of scopes in which each innermost one holds twenty nodes; the entry and full name of each node."""
    parents: list[int] = []
    names: list[str] = []
    paths: list[str] = []
    seen: dict[str, int] = {}

    def entry(parent: int, name: str) -> int:
        path = f"{paths[parent]}/{name}" if parent >= 0 else name
        if path not in seen:
            seen[path] = len(parents)
            parents.append(parent)
            names.append(name)
            paths.append(path)
        return seen[path]

    own = np.empty(nodes, np.int64)
    for leaf in range(-(-nodes // NODES_PER_SCOPE)):
        at = -1
        rest = leaf // 4
        levels = [
            f"tower_{leaf % 4}",
            f"stage_{rest % 6}",
            f"block_{rest // 6 % 12}",
            f"unit_{rest // 72 % 10}",
        ]
        for name in [*levels, f"layer_{rest // 72}", *(["inner"] if leaf % 2 else [])]:
            at = entry(at, name)
        for node in range(leaf * NODES_PER_SCOPE, min((leaf + 1) * NODES_PER_SCOPE, nodes)):
            own[node] = entry(at, f"op{node * 7 % OPS}_{node % NODES_PER_SCOPE}")
    distinct = sorted(set(names))
    index = dict(zip(distinct, texts.add(distinct).tolist(), strict=True))
    rows = Scopes(parent=np.array(parents), name=np.array([index[name] for name in names]))
    return rows, own, [paths[i] for i in own.tolist()]


def trace_rows(
    nodes: int, texts: Texts, random: np.random.Generator
) -> tuple[Frames, Traces, Ints]:
    """A tree of call stacks, and the innermost call of each node."""
    files = texts.add([f"/home/me/model/part_{i}.py" for i in range(FRAMES)])
    functions = texts.add([f"function_{i}" for i in range(FRAMES)])
    frames = Frames(file=files, line=np.arange(FRAMES), function=functions)
    parents: list[int] = []
    frame: list[int] = []
    level = [-1]
    for depth, width in enumerate((1, 1, 2, 8, 64, 256, 512, 1024, 2048, 4096, 8192)):
        start = len(parents)
        parents += [level[i * len(level) // width] for i in range(width)]
        frame += [(depth * 31 + i) % FRAMES for i in range(width)]
        level = list(range(start, start + width))
    return (
        frames,
        Traces(parent=np.array(parents), frame=np.array(frame)),
        random.choice(level, nodes),
    )


def input_rows(nodes: int, random: np.random.Generator) -> tuple[Inputs, Ints]:
    """One to three inputs a node, from the nodes some levels before it."""
    width = max(nodes // 2000, 1)
    counts = random.integers(1, 4, nodes)
    counts[:width] = 0
    end = np.cumsum(counts)
    owner = np.repeat(np.arange(nodes), counts)
    source = np.maximum(owner - random.integers(1, 50 * width, len(owner)), 0)
    return Inputs(source=source), end


def build(nodes: int, seed: int = 1) -> Profile:
    """A profile of so many nodes."""
    random = np.random.default_rng(seed)
    texts = Texts()
    scopes, scope, names = scope_rows(nodes, texts)
    frames, traces, trace = trace_rows(nodes, texts, random)
    inputs, input_end = input_rows(nodes, random)
    ops, devices = (
        texts.add([f"Op{i:03}" for i in range(OPS)]),
        texts.add([f"/device:gpu:{i}" for i in range(DEVICES)]),
    )
    op, device = ops[np.arange(nodes) * 7 % OPS], devices[random.integers(0, DEVICES, nodes)]
    runs = np.flatnonzero(random.random(nodes * STEPS) < 0.5)
    sizes = random.integers(0, 1 << 20, len(runs))
    node_steps = NodeSteps(
        node=runs // STEPS,
        step=runs % STEPS,
        run_count=np.ones(len(runs), np.int64),
        host_ticks=random.integers(1, 60, len(runs)),
        accelerator_ticks=random.integers(0, 900, len(runs)),
        requested_bytes=sizes,
        peak_bytes=sizes - sizes // 4,
        residual_bytes=sizes // 2,
        output_bytes=sizes // 3,
    )
    return Profile(
        tick_ps=1_000_000,
        has_traces=True,
        nodes=Nodes(
            name=texts.add(names),
            op=op,
            scope=scope,
            device=device,
            trace=trace,
            op_type_end=np.arange(1, nodes + 1) * 2,
            input_end=input_end,
            parameters=random.integers(0, 1000, nodes),
            float_ops=random.integers(0, 2_000_000, nodes),
            output_end=np.zeros(nodes, np.int64),
        ),
        op_types=OpTypes(type=np.stack((op, device), 1).reshape(-1)),
        inputs=inputs,
        scopes=scopes,
        frames=frames,
        traces=traces,
        steps=Steps(id=np.arange(STEPS)),
        node_steps=node_steps,
        strings=Strings.of(texts.texts),
    )


def shown(result: ViewResult) -> None:
    """What the panel asks of a view first: the figures and names of some rows, and which rows hold others."""
    rows = np.flatnonzero(result.depth <= 1)[:500]
    result.figures(rows)
    result.names(rows)


def timed(title: str, work: Callable[[], object]) -> None:
    began, began_cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    print(f"{title:32}{wall * 1000:8.0f} ms wall{cpu * 1000:8.0f} ms processor")


def main() -> None:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    profile = build(nodes)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    engine = ViewEngine(profile)
    for view in ("op", "scope", "code", "graph"):

        def ask(view: str = view, **options: object) -> ViewResult:
            result = engine.analyze(ViewsOptions(view=view, **options))  # type: ignore[arg-type]
            shown(result)
            return result

        timed(f"{view}: first", ask)
        timed(f"{view}: again, by bytes", lambda ask=ask: ask(order_by="bytes"))
        timed(f"{view}: again, by name", lambda ask=ask: ask(order_by="name"))
        timed(f"{view}: at least 100 us", lambda ask=ask: ask(min_micros=100))
        timed(f"{view}: first regex", lambda ask=ask: ask(hide_name_regexes=(".*block_7/.*op1.*",)))
        timed(f"{view}: new regex", lambda ask=ask: ask(hide_name_regexes=(".*block_8/.*op2.*",)))
        timed(f"{view}: one op", lambda ask=ask: ask(account_type_regexes=("Op01.",)))
        result = ask()
        timed(f"{view}: first search", lambda result=result: result.search("op17"))
        timed(f"{view}: further search", lambda result=result: result.search("op_8"))
        timed(f"{view}: search by regex", lambda result=result: result.search("op1.*9", regex=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"peak memory {peak} MB, of which the profile as it was built {before} MB")


if __name__ == "__main__":
    main()
