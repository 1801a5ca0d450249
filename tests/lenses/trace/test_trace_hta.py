"""Kernels and kinds of device time against HTA's breakdowns, by the rules that HTA has; what differs is listed."""

from __future__ import annotations

import functools
import gzip
import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from torch_traces import GOLDEN, TRACES, read_golden

from paths import SHARED
from stepscope.lenses.trace.categories import Category, execution_categories
from stepscope.lenses.trace.spans import Spans
from stepscope.model.profile import NodeKind

ANSWERS = {path.parent.name: path for path in sorted(GOLDEN.glob("*/hta*.json.gz"))} or {
    "absent": Path()
}
KINDS = {
    "COMPUTATION": (Category.KERNEL,),
    "COMMUNICATION": (Category.COMMUNICATION,),
    "MEMORY": (Category.MEMCPY, Category.MEMSET),
}
_BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d+)')

OPS_AS_KERNELS = "HTA takes ops with a `stream` argument, which Inductor writes, for kernels"
NO_STREAM = "HTA leaves device events without a `stream` argument out"
BACKWARDS = (
    "HTA rounds an event within one microsecond to -1 us, and counts that against the others"
)
COUNTED_ELSE = {
    "hta~large_integer_trace~rank-70.Mar_25_20_48_12.2861.pt.trace": NO_STREAM,
    "hta~mtia_trace_single_rank~mtia_rank_0": NO_STREAM,
    "hta~triton_example~triton_example": OPS_AS_KERNELS,
    "tracelens~b200~eager_trace": OPS_AS_KERNELS,
    "tracelens~torch_compile_triton~trace": OPS_AS_KERNELS,
}
"""Traces of which HTA counts other events than ours."""
KINDS_DIFFER = {**COUNTED_ELSE, "hta~mtia_inference_trace~mtia_inference_rank_0": BACKWARDS}
"""Traces of which the kinds of device time differ."""
BUSY_DIFFERS = {
    **KINDS_DIFFER,
    "tracelens~h100~facebook_timesformer-base-finetuned-k400__1016002": BACKWARDS,
}
"""Traces of which busy and idle time differ: there such an event stands alone."""


@dataclass
class Work:
    """Device events as HTA counts them.

    It rounds to whole microseconds of the file's own time, inwards. Of a trace with several steps it leaves out what
    was launched in the last one or has no launch in the file.
    """

    rank: int
    name: list[str]
    category: np.ndarray
    start: np.ndarray
    end: np.ndarray


@functools.cache
def _work(name: str) -> Work:
    profile = read_golden(name)
    runs, steps = profile.executions, profile.steps
    kept = profile.nodes.kind[runs.node] == NodeKind.DEVICE
    if len(steps) > 1:
        kept &= (runs.launch >= 0) & (runs.start_ticks[runs.launch] < steps.start_ticks.max())
    first = profile.header.wall_anchor_ns - _base_ns(name) if profile.header.wall_anchor_ns else 0
    start = first + runs.start_ticks[kept]
    names = [profile.strings[i] for i in profile.nodes.name[runs.node[kept]].tolist()]
    end = (start + runs.duration_ticks[kept]) // 1000
    return Work(
        profile.header.rank, names, execution_categories(profile)[kept], -(-start // 1000), end
    )


def _text(name: str) -> bytes:
    path = SHARED / "data" / "torch" / (name.replace("~", "/") + ".json.gz")
    return (
        gzip.decompress(path.read_bytes()) if path.exists() else path.with_suffix("").read_bytes()
    )


def _base_ns(name: str) -> int:
    found = _BASE.search(_text(name))
    return int(found[1]) if found else 0


def _ranks(name: str) -> list[str]:
    """The traces that an answer is about: of a set all those of a job."""
    if "set" not in ANSWERS[name].name:
        return [name]
    return [other for other in TRACES if other.rpartition("~")[0] == name.rpartition("~")[0]]


def _answer(name: str, question: str) -> Any:
    """What HTA answered; None where it failed."""
    return json.loads(gzip.decompress(ANSWERS[name].read_bytes())).get(question, {}).get("value")


def _breakdown(name: str) -> list[dict[str, Any]]:
    return [table["df"] for table in _answer(name, "get_gpu_kernel_breakdown") or ()]


def _by_rank(name: str, question: str) -> dict[int, dict[str, Any]]:
    answer = _answer(name, question)
    if not answer:
        pytest.skip("HTA could not answer this")
    columns, rows = answer["df"]["columns"], answer["df"]["data"]
    return {row[0]: dict(zip(columns, row, strict=True)) for row in rows}


def _rank(name: str, trace: str, theirs: dict[int, dict[str, Any]]) -> dict[str, Any]:
    first = next(iter(theirs.values()))
    return theirs.get(_work(trace).rank, first) if len(_ranks(name)) > 1 else first


def _sums(name: str) -> tuple[Counter[tuple[int, str]], dict[tuple[int, str], list[int]]]:
    """Microseconds of each kernel of each rank, and the single durations."""
    each: dict[tuple[int, str], list[int]] = defaultdict(list)
    for place, trace in enumerate(_ranks(name)):
        work = _work(trace)
        rank = work.rank if len(_ranks(name)) > 1 else place
        for kernel, duration in zip(work.name, (work.end - work.start).tolist(), strict=True):
            each[rank, kernel].append(duration)
    return Counter({key: sum(durations) for key, durations in each.items()}), each


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", [name for name in ANSWERS if name not in COUNTED_ELSE])
def test_time_of_every_kernel_is_that_of_hta(name: str) -> None:
    tables = _breakdown(name)
    if not tables:
        pytest.skip("HTA could not load this trace")
    rows = [dict(zip(tables[1]["columns"], row, strict=True)) for row in tables[1]["data"]]
    several = len(_ranks(name)) > 1
    sums, each = _sums(name)
    summed_up = 0
    for row in rows:
        key = (row["rank"] if several else 0, row["name"])
        if row["name"] == "others":
            continue
        assert sums.pop(key) == row["sum (us)"]
        # HTA sums some kernels up before it looks for the longest and the shortest.
        as_one = row["max (us)"] == row["min (us)"] == row["sum (us)"]
        summed_up += as_one
        assert as_one or (max(each[key]), min(each[key])) == (row["max (us)"], row["min (us)"])
    print(f"{name}: {len(rows)} kernels are those of HTA, {summed_up} of which it gives as one")
    assert sum(sums.values()) == sum(row["sum (us)"] for row in rows if row["name"] == "others")


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", [name for name in ANSWERS if name not in KINDS_DIFFER])
def test_kinds_of_device_time_are_those_of_hta(name: str) -> None:
    tables = _breakdown(name)
    if not tables:
        pytest.skip("HTA could not load this trace")
    found: Counter[frozenset[str]] = Counter()
    for trace in _ranks(name):
        found += _exclusive(_work(trace))
    expected = {
        frozenset(kind.split(" overlapping ")): time for kind, time, _ in tables[0]["data"] if time
    }
    print(f"{name}: {len(expected)} kinds of device time are those of HTA")
    assert found == expected


def _exclusive(work: Work) -> Counter[frozenset[str]]:
    """Microseconds in which exactly these kinds of work ran."""
    edges = np.unique(np.concatenate((work.start, work.end)))
    if len(edges) < 2:
        return Counter()
    running = np.zeros(len(edges) - 1, np.int64)
    for bit, categories in enumerate(KINDS.values()):
        rows = np.isin(work.category, categories) & (work.end > work.start)
        covered = Spans.union(work.start[rows], work.end[rows]).within(edges[:-1], edges[1:])
        running += (covered > 0) << bit
    found: Counter[frozenset[str]] = Counter()
    for code in np.unique(running[running > 0]).tolist():
        kinds = frozenset(kind for bit, kind in enumerate(KINDS) if code >> bit & 1)
        found[kinds] = int(np.diff(edges)[running == code].sum())
    return found


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", [name for name in ANSWERS if name not in BUSY_DIFFERS])
def test_computing_other_and_idle_time_are_those_of_hta(name: str) -> None:
    theirs = _by_rank(name, "get_temporal_breakdown")
    for trace in _ranks(name):
        work, row = _work(trace), _rank(name, trace, theirs)
        parts = _exclusive(work)
        busy, computing = (
            parts.total(),
            sum(time for kinds, time in parts.items() if "COMPUTATION" in kinds),
        )
        span = int(work.end.max() - work.start.min())
        mine = (span - busy, computing, busy - computing)
        assert mine == (row["idle_time(us)"], row["compute_time(us)"], row["non_compute_time(us)"])


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", ANSWERS)
def test_the_share_of_communication_that_overlaps_is_that_of_hta(name: str) -> None:
    theirs = _by_rank(name, "get_comm_comp_overlap")
    for trace in _ranks(name):
        parts = _exclusive(_work(trace))
        communicating = {kinds: time for kinds, time in parts.items() if "COMMUNICATION" in kinds}
        both = sum(time for kinds, time in communicating.items() if "COMPUTATION" in kinds)
        share = _rank(name, trace, theirs)["comp_comm_overlap_pctg"]
        if share is not None:
            assert round(100 * both / sum(communicating.values()), 2) == share


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(("name", "why"), COUNTED_ELSE.items())
def test_what_hta_counts_else_is_as_much_as_it_differs(name: str, why: str) -> None:
    more = sum(row[1] for row in _breakdown(name)[1]["data"]) - sum(_sums(name)[0].values())
    events = [
        event for event in msgspec.json.decode(_text(name))["traceEvents"] if event["ph"] == "X"
    ]
    streams = {kind: "stream" in event.get("args", {}) for kind, event in enumerate(events)}
    ops = [e for i, e in enumerate(events) if streams[i] and e["cat"] == "cpu_op"]
    lone = [
        e
        for i, e in enumerate(events)
        if not streams[i] and e["cat"] in ("kernel", "mtia_ccp_events")
    ]
    print(f"{name}: HTA counts {more} us more")
    assert more == sum(map(_rounded, ops)) - sum(map(_rounded, lone)) != 0
    assert bool(ops) == (why == OPS_AS_KERNELS)


def _rounded(event: dict[str, Any]) -> int:
    return math.floor(event["ts"] + event["dur"]) - math.ceil(event["ts"])
