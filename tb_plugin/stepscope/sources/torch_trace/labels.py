"""Names of devices, threads, shapes and properties, in one spelling whatever the writer's."""

from __future__ import annotations

import json

import numpy as np

from stepscope.sources.torch_trace.args import PROPERTIES
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.events import Id
from stepscope.sources.torch_trace.numbers import Ints

HOST = "CPU"
_DEVICE_TYPES = {0: HOST, 1: "GPU", 6: "GPU", 12: "XPU", 17: "MTIA", 18: "HPU"}
"""Of PyTorch's device types, by their numbers in `[memory]` events."""


def device_label(category: str | None, number: Id) -> str:
    """The name of an accelerator: GPU0, MTIA1. A legacy export names no number."""
    kind = (category or "").lower().partition("_")[0]
    known = {"mtia": "MTIA", "hpu": "HPU", "xpu": "XPU"}.get(kind, "GPU")
    return f"{known}{number}" if str(number).isdecimal() else known


def memory_label(kind: int, number: int) -> str:
    """The name of a device that memory lies on: CPU, GPU0, device20:1 for a kind that is not known."""
    known = _DEVICE_TYPES.get(kind)
    if known is None:
        return f"device{kind}:{number}"
    return known if number < 0 or known == HOST else f"{known}{number}"


def threads(columns: EventColumns) -> tuple[Ints, list[str]]:
    """The thread of each (process, thread) as written, numbers and their texts being the same, and its name."""
    index: dict[tuple[str, str], int] = {}
    names: dict[int, str] = {}
    keys = columns.threads.values()
    of = np.fromiter((index.setdefault((str(p), str(t)), len(index)) for p, t in keys), np.int64, len(keys))
    for (process, thread), name in columns.thread_names.items():
        names[index.get((str(process), str(thread)), -1)] = name
    return of, [names.get(number, f"thread {thread}") for (_, thread), number in index.items()]


def list_text(raw: bytes) -> str:
    """A list, such as input shapes, in one spelling, `[[8, 16], []]`, whatever the writer's spaces; else the text."""
    try:
        return json.dumps(json.loads(raw)) if raw[:1] == b"[" else raw.decode("utf-8", "replace")
    except (ValueError, RecursionError):
        return raw.decode("utf-8", "replace")


def property_texts(joined_values: bytes) -> dict[str, str]:
    """The properties of a kernel or collective by key, from their texts joined by NUL in the order of `PROPERTIES`."""
    found = {}
    for key, raw in zip(PROPERTIES, joined_values.split(b"\0"), strict=False):
        if raw and raw != b"null":
            text = list_text(raw)
            found[key] = json.loads(text) if text.startswith('"') else text
    return found
