"""Right answers for real traces: the reference tables of `golden/torch`, corrected where they are not to be trusted.

The reference gives work launched in a named range to the op around it, or to no op, and lets ranges that cross count
time twice. `walk` works both ways out from the trace, event by event and without numpy. A test of its own holds that it
finds what the reference says, by the reference's rules.
"""

from __future__ import annotations

import functools
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from paths import SHARED

GOLDEN = SHARED / "golden" / "torch"
OPS = ("cpu_op", "operator", "user_annotation")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events", "hpu_op")
NO_LAUNCH, OUTSIDE_OP = "not in the trace", "outside every op"
STEP = re.compile(r"ProfilerStep#\d+")
ITERATION = re.compile(r"execute_(\d+_)?context_.*_generation_.*|step\[[A-Z]+ .*\]")
COMMUNICATION = re.compile(r"(nccl|hccl|gloo|xccl|mpi|ucc):")


def trace_path(name: str) -> Path:
    path = SHARED / "data" / "torch" / (name.replace("~", "/") + ".json.gz")
    return path if path.exists() else path.with_suffix("")


def events_of(path: Path) -> list[dict[str, Any]]:
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    found = json.loads(text, parse_float=Decimal, strict=False)
    return found if isinstance(found, list) else found["traceEvents"]


def ns(value: Any) -> int:
    return round(Decimal(str(value)) * 1000)


@dataclass
class Row:
    """One range of the host, with all that was launched in it."""

    category: str
    name: str
    shape: str
    start: int
    end: int
    parent: Row | None = None
    duration: int = 0
    inside: int = 0
    device_self: int = 0
    device_total: int = 0

    def is_outermost(self) -> bool:
        above = self.parent
        while above is not None:
            if (above.category, above.name) == (self.category, self.name):
                return False
            above = above.parent
        return True

    @property
    def is_step(self) -> bool:
        return STEP.fullmatch(self.name) is not None


@dataclass
class Walk:
    """What a trace holds, by one of the two rules."""

    rows: list[Row] = field(default_factory=list)
    kernel_by_op: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    unattributed: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))

    def table(
        self, *, by_shape: bool = False, outermost: bool = False
    ) -> dict[tuple[str, ...], tuple[int, ...]]:
        """Calls, total, self, device self and device total of each name.

        With `outermost`, a call inside a call of the same name is in the totals once.
        """
        sums: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0] * 5)
        for row in self.rows:
            key = (row.category, row.name, row.shape) if by_shape else (row.category, row.name)
            is_whole = not outermost or row.is_outermost()
            total, device_total = (row.duration, row.device_total) if is_whole else (0, 0)
            figures = (1, total, row.duration - row.inside, row.device_self, device_total)
            sums[key] = [a + b for a, b in zip(sums[key], figures, strict=True)]
        return {key: tuple(figures) for key, figures in sums.items()}


def walk(path: Path, *, as_reference: bool = False) -> Walk:
    """Walks each thread's ranges and launches in order of time."""
    found = Walk()
    launches: dict[int, Row | None] = {}
    for _, items in _by_thread(path):
        _walk_thread(items, found, launches, as_reference)
    for event in events_of(path):
        if event.get("ph") != "X" or (event.get("cat") or "").lower() not in DEVICE:
            continue
        correlation = (event.get("args") or {}).get("correlation")
        _attribute(found, event["name"], ns(event["dur"]), correlation, launches)
    return found


def _by_thread(
    path: Path,
) -> Iterator[tuple[tuple[str, str], list[tuple[int, int, int, dict[str, Any]]]]]:
    threads: dict[tuple[str, str], list[tuple[int, int, int, dict[str, Any]]]] = defaultdict(list)
    for place, event in enumerate(events_of(path)):
        category = (event.get("cat") or "").lower()
        is_launch = category.endswith(("runtime", "_driver"))
        if event.get("ph") == "X" and (category in OPS or is_launch):
            start, end = ns(event["ts"]), ns(event["ts"]) + max(ns(event.get("dur", 0)), 0)
            # A launch comes after the ranges that start with it.
            order = (start, 1, place) if is_launch else (start, 0, place - (end << 32))
            threads[str(event["pid"]), str(event["tid"])].append((*order, event))
    for thread, items in threads.items():
        yield thread, sorted(items, key=lambda item: item[:3])


def _walk_thread(
    items: list[Any], found: Walk, launches: dict[int, Row | None], as_reference: bool
) -> None:
    open_rows: list[Row] = []
    for start, is_launch, _, event in items:
        while open_rows and open_rows[-1].end <= start:
            open_rows.pop()
        if is_launch:
            correlation = (event.get("args") or {}).get("correlation")
            if correlation:
                launches[correlation] = _owner(open_rows, as_reference)
            continue
        row = _row(event, start)
        row.parent = open_rows[-1] if open_rows else None
        row.duration = row.end - start
        above = row.parent
        if above is not None and not as_reference:
            if COMMUNICATION.match(row.name):
                row.end = min(row.end, above.end)
            row.duration = max(min(row.end, above.start + above.duration) - start, 0)
        if above is not None:
            above.inside += row.duration
        found.rows.append(row)
        open_rows.append(row)


def _row(event: dict[str, Any], start: int) -> Row:
    category = event["cat"].lower()
    name = event["name"]
    args = event.get("args") or {}
    dims = args.get("Input Dims", args.get("Input dims"))
    is_range = category == "user_annotation" or STEP.fullmatch(name) is not None
    return Row(
        category="user_annotation" if is_range else "cpu_op",
        name=name,
        shape="[]" if dims is None else json.dumps(dims),
        start=start,
        end=start + max(ns(event.get("dur", 0)), 0),
    )


def _owner(open_rows: list[Row], as_reference: bool) -> Row | None:
    for row in reversed(open_rows):
        if row.category == "cpu_op" or (not as_reference and not row.is_step):
            return row
    return None


def _attribute(
    found: Walk, name: str, spent: int, correlation: Any, launches: dict[int, Row | None]
) -> None:
    owner = launches.get(correlation) if correlation else None
    if owner is None:
        why = found.unattributed[OUTSIDE_OP if correlation in launches else NO_LAUNCH]
        why[0] += 1
        why[1] += spent
        return
    owner.device_self += spent
    found.kernel_by_op[name][owner.name] += spent
    row: Row | None = owner
    while row is not None:
        row.device_total += spent
        row = row.parent


@functools.lru_cache(2)
def right_walk(name: str) -> Walk:
    """What the trace of a folder of right answers holds."""
    return walk(trace_path(name))


@functools.lru_cache(2)
def reference(name: str) -> dict[str, Any]:
    """The reference as it is."""
    return json.loads(gzip.decompress((GOLDEN / name / "ref.json.gz").read_bytes()))
