"""A scope costs what its calls took, whatever lies in what: modules, named ranges and ops."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paths import SHARED
from stepscope.lenses.views import ViewEngine, ViewResult, ViewsOptions
from stepscope.model.profile import Profile
from stepscope.sources import torch_trace

KINDS = ("cpu_op", "user_annotation", "module")


@dataclass
class Call:
    kind: str
    start: int
    end: int
    inner: list[Call] = field(default_factory=list)


def calls(rng: random.Random, start: int, end: int, depth: int = 0) -> list[Call]:
    """Calls one after the other in a time span, and calls in them; some touch. What they are in is longer."""
    made = []
    while start < end and len(made) < 4:
        until = end if rng.random() < 0.3 else rng.randint(start + 1, end)
        inner = calls(rng, start + 1, until - 1, depth + 1) if depth < 4 else []
        made.append(Call(rng.choice(KINDS), start, until, inner))
        start = until + rng.choice((0, 3))
    return made


def events(top: list[Call]) -> list[dict[str, Any]]:
    ids = itertools.count(1)
    made: list[dict[str, Any]] = []
    todo: list[tuple[Call, int | None]] = [(call, None) for call in top]
    while todo:
        call, frame = todo.pop()
        event = {
            "ph": "X",
            "pid": 1,
            "tid": 1,
            "ts": call.start,
            "dur": call.end - call.start,
            "name": name(call),
        }
        if call.kind == "module":
            number = next(ids)
            event |= {
                "cat": "python_function",
                "args": {"Python id": number, "Python parent id": frame},
            }
            frame = number
        else:
            event["cat"] = call.kind
        made.append(event)
        todo += [(inner, frame) for inner in call.inner]
    return made


def name(call: Call) -> str:
    return {"cpu_op": "aten::op", "user_annotation": "range", "module": "nn.Module: Net_0"}[
        call.kind
    ]


def scope_times(top: list[Call]) -> Counter[str]:
    """The time of every chain of scopes, in ns."""
    found: Counter[str] = Counter()
    todo = [(call, "") for call in top]
    while todo:
        call, path = todo.pop()
        if call.kind != "cpu_op":
            path += "/" + name(call).removeprefix("nn.Module: ")
            found[path] += 1000 * (call.end - call.start)
        todo += [(inner, path) for inner in call.inner]
    return found


def profile_of(made: list[dict[str, Any]]) -> Profile:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "worker0.pt.trace.json"
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": made}))
        profile = torch_trace.read(path).records[0].record
    assert isinstance(profile, Profile)
    return profile


def totals(result: ViewResult) -> Counter[str]:
    """The host time of every scope by its path; ops are left out."""
    found: Counter[str] = Counter()
    names = result.names(range(len(result)))
    paths: list[str] = []
    for row, (parent, total) in enumerate(
        zip(result.parent, result.exact("total_cpu_exec_micros"), strict=True)
    ):
        paths.append(f"{paths[parent]}/{names[row]}" if row else "")
        if row and names[row] != "aten::op":
            found[paths[row]] += int(total)
    return found


@given(st.integers(0, 2**32))
def test_a_scope_costs_what_its_calls_took(seed: int) -> None:
    top = calls(random.Random(seed), 0, 60)
    engine = ViewEngine(profile_of(events(top)))
    result = engine.analyze(ViewsOptions(view="scope"))
    assert totals(result) == scope_times(top)
    elapsed = sum(1000 * (call.end - call.start) for call in top)
    for view in ("scope", "op", "code", "graph"):
        assert (
            int(engine.analyze(ViewsOptions(view=view)).exact("total_cpu_exec_micros")[0])
            == elapsed
        )


@pytest.mark.usefixtures("shared")
def test_a_range_with_modules_in_it_costs_its_duration() -> None:
    path = SHARED / "data" / "torch" / "tracelens" / "b200" / "eager_trace.json.gz"
    profile = torch_trace.read(path).records[0].record
    assert isinstance(profile, Profile)
    result = ViewEngine(profile).analyze(ViewsOptions(view="scope"))
    assert result.exact("total_cpu_exec_micros")[:2].tolist() == [87_412_863, 87_412_863]
