"""Races the views of one ProfileProto file against TensorFlow's own tfprof in C++.

    python benchmarks/views_race.py [NODES] [--peer PYTHON] [--runs N]

Writes a profile of NODES (100,000) graph nodes, then loads it and asks each view twice, in a process of its own each
time: with StepScope, and with the C++ of the tensorflow that PYTHON (this one) has. The first answer includes laying
the view out. StepScope's answers are columns of every figure of every row; the peer's are serialized messages. Prints
the medians of processor seconds, which other work on the machine disturbs least, the peak of memory, and what
StepScope takes of the peer's.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

VIEWS = {"op": 10_000, "scope": 4, "code": 10_000, "graph": 10_000}
"""The views, with the depth that is shown: the whole scope view of a large profile is of no use to anyone."""

PEER = """
import json, os, resource, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from tensorflow.core.profiler import tfprof_options_pb2
from tensorflow.python.util import _pywrap_tfprof as tfprof
costs, clock = {}, time.process_time
began = clock(); tfprof.ProfilerFromFile(sys.argv[1]); costs["load"] = clock() - began
for view, depth in json.loads(sys.argv[2]).items():
    options = tfprof_options_pb2.OptionsProto(
        max_depth=depth, step=-1, order_by="micros", account_type_regexes=[".*"], start_name_regexes=[".*"],
        show_name_regexes=[".*"], select=["micros", "bytes"], output="none").SerializeToString()
    for turn in ("first", "again"):
        began = clock(); tfprof.Profile(view.encode(), options); costs[f"{view} {turn}"] = clock() - began
costs["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print("COSTS" + json.dumps(costs), flush=True)
os._exit(0)
"""


def write_profile(nodes: int, path: Path) -> None:
    """Writes the profile of views_scale.py as a ProfileProto, node by node."""
    from tensorboard.compat.proto import tfprof_log_pb2
    from views_scale import build

    profile = build(nodes)
    text = list(profile.strings)
    stacks = _stacks(profile)
    by_node = np.split(
        np.argsort(profile.node_steps.node, kind="stable"), _cuts(profile.node_steps.node, nodes)
    )
    with path.open("wb") as file:
        for i in range(nodes):
            node = tfprof_log_pb2.ProfileNode(
                name=text[profile.nodes.name[i]], op=text[profile.nodes.op[i]], id=i
            )
            node.op_types.extend(text[t] for t in profile.op_types.type[2 * i : 2 * i + 2])
            node.float_ops = int(profile.nodes.float_ops[i])
            node.canonical_device = node.op_types[1]
            start = int(profile.nodes.input_end[i - 1]) if i else 0
            for slot, source in enumerate(
                profile.inputs.source[start : int(profile.nodes.input_end[i])].tolist()
            ):
                node.inputs[slot] = source
                node.src_output_index[source] = 0
            for file_id, line in stacks[int(profile.nodes.trace[i])]:
                node.trace.traces.add(file_id=file_id, lineno=line, function_id=file_id + 1000)
            for row in by_node[i].tolist():
                _add_step(node, profile.node_steps, row)
            file.write(tfprof_log_pb2.ProfileProto(nodes={i: node}).SerializeToString())
        strings = {k: f"/home/me/model/part_{k}.py" for k in range(1000)}
        strings |= {k + 1000: f"function_{k}" for k in range(1000)}
        rest = tfprof_log_pb2.ProfileProto(has_trace=True, steps=[0, 1, 2], id_to_string=strings)
        file.write(rest.SerializeToString())


def _cuts(node: Any, nodes: int) -> Any:
    return np.cumsum(np.bincount(node, minlength=nodes))[:-1]


def _stacks(profile: Any) -> list[list[tuple[int, int]]]:
    stacks: list[list[tuple[int, int]]] = []
    for parent, frame in zip(
        profile.traces.parent.tolist(), profile.traces.frame.tolist(), strict=True
    ):
        stacks.append([*(stacks[parent] if parent >= 0 else []), (frame, frame)])
    return stacks


def _add_step(node: Any, rows: Any, row: int) -> None:
    step = node.execs[int(rows.step[row])]
    step.run_count, start = 1, 1_700_000_000_000_000
    step.all_start_micros, step.latest_end_micros = start, start + 1000
    host, accelerator = int(rows.host_ticks[row]), int(rows.accelerator_ticks[row])
    step.cpu_execs[node.canonical_device].times.add().int64_values.extend([start, host])
    stream = f"{node.canonical_device}/stream:all"
    step.accelerator_execs[stream].times.add().int64_values.extend([start + host, accelerator])
    memory = step.memory_execs.add(memory_micros=start)
    for name in ("requested", "peak", "residual", "output"):
        setattr(memory, f"{name}_bytes", int(getattr(rows, f"{name}_bytes")[row]))


def ours(path: str, views: dict[str, int]) -> None:
    """Loads and asks with StepScope; prints the costs."""
    from stepscope.lenses.views import ViewEngine, ViewsOptions
    from stepscope.sources.tfprof import FORMAT

    clock, costs = time.process_time, {}
    began = clock()
    engine = ViewEngine(FORMAT.read(Path(path), None).records[0].record)  # type: ignore[arg-type]
    costs["load"] = clock() - began
    for view, depth in views.items():
        for turn in ("first", "again"):
            began = clock()
            options = ViewsOptions(view=view, compat="tfprof", max_depth=depth, order_by="micros")
            result = engine.analyze(options)
            for field in result.fields:
                result.column(field.name)
            costs[f"{view} {turn}"] = clock() - began
    costs["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("COSTS" + json.dumps(costs))


def measured(command: list[str], runs: int) -> dict[str, float]:
    """The medians of the costs that a command prints."""
    costs = []
    for _ in range(runs):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        line = next((text for text in done.stdout.splitlines() if text.startswith("COSTS")), None)
        if line is None:
            raise SystemExit(f"{command[0]} failed: {done.stderr[-500:]}")
        costs.append(json.loads(line.removeprefix("COSTS")))
    return {name: median(cost[name] for cost in costs) for name in costs[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", nargs="?", type=int, default=100_000)
    parser.add_argument("--peer", default=sys.executable, help="a Python that has tensorflow")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--ours", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.ours:
        ours(chosen.ours, VIEWS)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.pb"
        write_profile(chosen.nodes, path)
        print(f"{chosen.nodes:,} nodes, {path.stat().st_size / 1e6:.0f} MB")
        own = measured([sys.executable, __file__, "--ours", str(path)], chosen.runs)
        peer = measured([chosen.peer, "-c", PEER, str(path), json.dumps(VIEWS)], chosen.runs)
    print(f"{'':16}{'stepscope':>12}{'tfprof C++':>12}{'share':>8}")
    for name, cost in own.items():
        print(f"{name:16}{cost:12.3f}{peer[name]:12.3f}{cost / peer[name]:8.3f}")


if __name__ == "__main__":
    main()
