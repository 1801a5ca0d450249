"""Makes a big PyTorch trace of a small one: the same events again and again, later and with ids of their own.

    python benchmarks/scale_torch_trace.py TRACE OUT [EVENTS]

Nesting, correlation of launches and kernels, flows, Python parents and step numbers stay right in every copy, and times
stay exact. Metadata is written once.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

GAP_NS = 1_000_000
ARG_IDS = (
    "External id",
    "correlation",
    "Ev Idx",
    "Record function id",
    "Python id",
    "Python parent id",
)
ENCODE = msgspec.json.Encoder(decimal_format="number").encode
STEP = re.compile(r"ProfilerStep#(\d+)")


def nanoseconds(value: object) -> int:
    return int(Decimal(str(value)) * 1000)


def microseconds(value: int) -> msgspec.Raw:
    return msgspec.Raw(b"%d.%03d" % divmod(value, 1000))


class Copier:
    """Shifts events of one copy after another.

    Args:
        events: The events that are repeated.
    """

    def __init__(self, events: list[dict[str, Any]]) -> None:
        starts = [nanoseconds(event["ts"]) for event in events]
        ends = [
            start + nanoseconds(event.get("dur", 0))
            for start, event in zip(starts, events, strict=True)
        ]
        self.span_ns = max(ends) - min(starts) + GAP_NS
        ids = [value for event in events for value in self._ids(event)]
        self.stride = max(ids, default=0) + 1
        steps = [
            int(found[1]) for event in events if (found := STEP.fullmatch(str(event.get("name"))))
        ]
        self.step_stride = max(steps) - min(steps) + 1 if steps else 0

    def _ids(self, event: dict[str, Any]) -> list[int]:
        values = [(event.get("args") or {}).get(key) for key in ARG_IDS] + [event.get("id")]
        return [value for value in values if isinstance(value, int)]

    def copy(self, event: dict[str, Any], number: int) -> dict[str, Any]:
        """The event in a copy of that number."""
        out = {**event, "ts": microseconds(nanoseconds(event["ts"]) + number * self.span_ns)}
        if "dur" in event:
            out["dur"] = microseconds(nanoseconds(event["dur"]))
        if isinstance(event.get("id"), int):
            out["id"] = event["id"] + number * self.stride
        args = event.get("args") or {}
        moved = {
            k: args[k] + number * self.stride
            for k in ARG_IDS
            if isinstance(args.get(k), int) and args[k] > 0
        }
        if moved:
            out["args"] = {**args, **moved}
        if found := STEP.fullmatch(str(event.get("name"))):
            out["name"] = f"ProfilerStep#{int(found[1]) + number * self.step_stride}"
        return out


def scale(source: Path, target: Path, count: int) -> int:
    """Writes at least that many events, and tells how many."""
    data = source.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8", "replace")
    trace = json.loads(text, strict=False, parse_float=Decimal)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    once = [event for event in events if event.get("ph") == "M"]
    repeated = [
        event for event in events if event.get("ph") != "M" and event.get("cat", "Trace") != "Trace"
    ]
    copier = Copier(repeated)
    base = trace.get("baseTimeNanoseconds", 0) if isinstance(trace, dict) else 0
    written = len(once)
    with target.open("wb") as out:
        out.write(b'{"schemaVersion":1,"baseTimeNanoseconds":%d,"traceEvents":[\n' % base)
        out.write(b",\n".join(ENCODE(event) for event in once))
        number = 0
        while written < count:
            lines = [ENCODE(copier.copy(event, number)) for event in repeated]
            out.write((b",\n" if written else b"") + b",\n".join(lines))
            written += len(lines)
            number += 1
        out.write(b"\n]}\n")
    return written


if __name__ == "__main__":
    print(
        scale(
            Path(sys.argv[1]),
            Path(sys.argv[2]),
            int(float(sys.argv[3])) if len(sys.argv) > 3 else 5_000_000,
        )
    )
