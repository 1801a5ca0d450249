"""PyTorch traces for tests: written here, or real ones."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from paths import SHARED
from stepscope.model.profile import Profile
from stepscope.sources import torch_trace

GOLDEN = SHARED / "golden" / "torch"
TRACES = sorted(p.name for p in GOLDEN.iterdir()) if GOLDEN.is_dir() else ["absent"]


def range_(
    name: str,
    start: float,
    duration: float,
    *,
    cat: str = "user_annotation",
    pid: int = 1,
    tid: int = 1,
    **args: Any,
) -> dict[str, Any]:
    """An event, in us."""
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": start,
        "dur": duration,
        "args": args,
    }


def step(number: int, start: float, duration: float) -> dict[str, Any]:
    """A profiler step."""
    return range_(f"ProfilerStep#{number}", start, duration)


def profile_of(*events: dict[str, Any], **top: Any) -> Profile:
    """The profile of a trace with these events."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "worker0.pt.trace.json"
        path.write_text(json.dumps({"schemaVersion": 1, **top, "traceEvents": events}))
        return read(path)


def read(path: Path) -> Profile:
    """The profile of a trace file."""
    profile = torch_trace.read(path).records[0].record
    assert isinstance(profile, Profile)
    profile.validate()
    return profile


@functools.lru_cache(4)
def read_golden(name: str) -> Profile:
    """The profile of the trace that a folder of right answers is named after."""
    path = SHARED / "data" / "torch" / (name.replace("~", "/") + ".json.gz")
    return read(path if path.exists() else path.with_suffix(""))
