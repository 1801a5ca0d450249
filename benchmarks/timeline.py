"""How fast windows of a timeline are answered, beside a bare JSON parse of the trace, which a viewer of it needs first.

    python benchmarks/timeline.py TRACE

Times are the best of three; sizes are of the JSON that travels.
"""

from __future__ import annotations

import gzip
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import orjson

from stepscope.lenses.trace.executions import Executions
from stepscope.model.profile import Profile
from stepscope.sources import torch_trace

WIDTH_PX = 1600


def best(ask: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the fastest of three, and the answer."""
    times, answer = [], None
    for _ in range(3):
        begin = time.perf_counter()
        answer = ask()
        times.append(time.perf_counter() - begin)
    return min(times), answer


def main(path: Path) -> None:
    packed = path.read_bytes()
    text = gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed
    parse_s, _ = best(lambda: orjson.loads(text))
    print(f"bare parse: {parse_s:.3f} s of {len(text) / 1e6:,.0f} MB")
    profile = torch_trace.read(path).records[0].record
    assert isinstance(profile, Profile)
    begin = time.perf_counter()
    asked = Executions(profile)
    whole = asked.timeline(width_px=WIDTH_PX)
    first_s = time.perf_counter() - begin
    print(
        f"{len(profile.executions):,} executions; first answer {first_s:.3f} s, {first_s / parse_s:.3f} of the parse"
    )
    span = whole["last_ps"] - whole["first_ps"]
    for part in (1, 2, 20, 1000):
        start = whole["first_ps"] + span // 2 if part > 1 else whole["first_ps"]
        seconds, answer = best(
            lambda start=start, part=part: asked.timeline(start, start + span // part, WIDTH_PX)
        )
        size = len(msgspec.json.encode(answer))
        print(
            f"1/{part} of it: {1000 * seconds:.0f} ms, {size / 1000:,.0f} kB, {seconds / parse_s:.4f} of the parse"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
