"""Names of devices, threads, shapes and properties, in one spelling whatever the writer's."""

from __future__ import annotations

import json

import numpy as np

from stepscope.model.columns import Array
from stepscope.sources.torch_trace.args import PROPERTIES
from stepscope.sources.torch_trace.columns import EventColumns
from stepscope.sources.torch_trace.event import Id
from stepscope.sources.torch_trace.processes import is_ascend, python_process

HOST = "CPU"
GPU = "GPU"

_DEVICE_TYPES = {
    0: HOST,
    1: GPU,
    6: GPU,
    12: "XPU",
    13: "MPS",
    15: "HPU",
    19: "MTIA",
    20: "privateuseone:",
}
"""Of PyTorch's device types, by their numbers in `[memory]` events (`c10/core/DeviceType.h`)."""
_KINDS = {
    "mtia": "MTIA",
    "hpu": "HPU",
    "xpu": "XPU",
    "npu": "NPU",
    "privateuse1": "privateuseone:",
}
"""Of accelerators, by the first word of a category."""


def device_kind(columns: EventColumns) -> str:
    """The kind of accelerator that a trace is of, by the categories of its launches and its work."""
    if is_ascend(columns):
        return "NPU"
    used = np.concatenate([columns.launches["category"], columns.device["category"]])
    categories = columns.categories.values()
    for number in np.unique(used).tolist():
        kind = _KINDS.get(_first_word(categories[number]))
        if kind:
            return kind
    return GPU


def _first_word(category: str | None) -> str:
    return (category or "").lower().partition("_")[0]


def device_label(category: str | None, number: Id, kind: str) -> str:
    """The name of an accelerator, such as GPU0 or MTIA1. Some exports give it no number.

    Args:
        kind: The kind of the trace's accelerator, where the category names none.
    """
    known = _KINDS.get(_first_word(category), kind)
    return f"{known}{number}" if str(number).isdecimal() else known.rstrip(":")


def memory_label(kind: int, number: int) -> str:
    """The name of a device that memory lies on: CPU, GPU0, or device21:1 for an unknown kind."""
    known = _DEVICE_TYPES.get(kind)
    if known is None:
        return f"device{kind}:{number}"
    if number < 0 or known == HOST:
        return known.rstrip(":")
    return f"{known}{number}"


def stream_label(stream: Id) -> str:
    """The name of a lane of a device. Streams have numbers, or names of their own."""
    text = str(stream)
    return f"stream {text}" if text.lstrip("-").isdecimal() or stream is None else text


def threads(columns: EventColumns) -> tuple[Array, list[str]]:
    """The thread of each (process, thread) as written, and the name of each thread.

    Numbers and their texts are the same.
    """
    same_process = python_process(columns)
    index: dict[tuple[str, str], int] = {}
    numbers = []
    for process, thread in columns.threads.values():
        key = str(same_process.get(process, process)), str(thread)
        numbers.append(index.setdefault(key, len(index)))
    names: dict[int, str] = {}
    for (process, thread), name in columns.thread_names.items():
        names[index.get((str(process), str(thread)), -1)] = name
    labels = []
    for (_, thread_text), number in index.items():
        labels.append(names.get(number, f"thread {thread_text}"))
    return np.array(numbers, np.int64), labels


def list_text(raw: bytes) -> str:
    """A list, such as input shapes, as `[[8, 16], []]` whatever the writer's spaces; else the text."""
    text = raw.decode("utf-8", "replace")
    if raw[:1] != b"[":
        return text
    try:
        return json.dumps(json.loads(raw))
    except (ValueError, RecursionError):
        return text


def shape_text(raw: bytes) -> str:
    """Input shapes in one spelling. torch_npu writes `"8,16;16,32"` for `[[8, 16], [16, 32]]`."""
    if raw[:1] != b'"':
        return list_text(raw)
    try:
        return json.dumps([_sizes(part) for part in json.loads(raw).split(";")])
    except ValueError:
        return list_text(raw)


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",") if size.strip()]


def property_texts(joined_values: bytes) -> dict[str, str]:
    """The properties of a kernel or collective by key.

    Args:
        joined_values: Their texts joined by NUL, in the order of `PROPERTIES`.
    """
    properties = {}
    for key, raw in zip(PROPERTIES, joined_values.split(b"\0"), strict=False):
        if raw and raw != b"null":
            text = list_text(raw)
            properties[key] = json.loads(text) if text.startswith('"') else text
    return properties
