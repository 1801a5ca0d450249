"""Chrome traces of other tools, told by their categories, processes and names.

Source: the Trace Event Format of Chrome ("traceEvents", "cat", "ph"), which many tools write.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from stepscope.sources.unsupported.kind import TORCH_REMEDY, Unsupported

MOST_LISTED = 5
_STRING = rb'"((?:[^"\\]|\\.){0,80})"'
_CATEGORY = re.compile(rb'"cat"\s*:\s*' + _STRING)
_NAME = re.compile(rb'"name"\s*:\s*' + _STRING)
_PROCESS = re.compile(rb'"args"\s*:\s*\{\s*"name"\s*:\s*' + _STRING)
_EVENT = re.compile(rb'"(?:traceEvents"\s*:\s*\[|ph"\s*:\s*")')
_NOT_PYTORCH = "Chrome trace without PyTorch's categories"


@dataclass(frozen=True)
class Labels:
    """What the events of a trace are called, as far as its first 64 KiB go."""

    categories: Counter[str]
    names: Counter[str]
    processes: Counter[str]


def chrome_kind(head: bytes) -> Unsupported | None:
    """The kind of a Chrome trace, None for a JSON that is none."""
    if not _EVENT.search(head):
        return None
    labels = Labels(
        categories=_counted(_CATEGORY, head),
        names=_counted(_NAME, head),
        processes=_counted(_PROCESS, head),
    )
    for belongs, title, remedy in _TOOLS:
        if belongs(head, labels):
            return Unsupported(f"{title}, a {_NOT_PYTORCH}{_listed(labels)}", remedy)
    return Unsupported(
        f"{_NOT_PYTORCH}{_listed(labels)}",
        "Record with torch.profiler and " + TORCH_REMEDY[0].lower() + TORCH_REMEDY[1:],
    )


def _counted(pattern: re.Pattern[bytes], head: bytes) -> Counter[str]:
    return Counter(match[1].decode("utf-8", "replace") for match in pattern.finditer(head))


def _listed(labels: Labels) -> str:
    """The categories of a trace, or the names of its processes or events where it has none."""
    for word, counter in (
        ("categories", labels.categories),
        ("processes", labels.processes),
        ("events", labels.names),
    ):
        if counter:
            most = [name for name, _ in counter.most_common(MOST_LISTED)]
            more = ", …" if len(counter) > MOST_LISTED else ""
            return f" ({word}: {', '.join(most)}{more})"
    return " (no events)"


def _has_category(*names: str) -> Callable[[bytes, Labels], bool]:
    def belongs(head: bytes, labels: Labels) -> bool:
        return not labels.categories.keys().isdisjoint(names)

    return belongs


def _mentions(*words: bytes) -> Callable[[bytes, Labels], bool]:
    def belongs(head: bytes, labels: Labels) -> bool:
        return any(word in head for word in words)

    return belongs


def _is_onnx_runtime(head: bytes, labels: Labels) -> bool:
    is_session = {"Session", "Node"} <= labels.categories.keys()
    return is_session or b"_kernel_time" in head or b"session_initialization" in head


def _is_trace_viewer_export(head: bytes, labels: Labels) -> bool:
    planes = ("/device:TPU", "/device:GPU", "/host:", "/host")
    return b'"highres-ticks"' in head or any(p.startswith(planes) for p in labels.processes)


_TOOLS: tuple[tuple[Callable[[bytes, Labels], bool], str, str], ...] = (
    (
        _has_category("dynamo_timed"),
        "compile-time events of PyTorch (TORCH_TRACE, tlparse)",
        "View it at https://ui.perfetto.dev. For run times, " + TORCH_REMEDY.lower(),
    ),
    (
        _is_onnx_runtime,
        "ONNX Runtime profile",
        "StepScope reads traces of torch.profiler, JAX and TensorFlow",
    ),
    (
        lambda head, labels: (
            b"viztracer_metadata" in head or "fee" in map(str.lower, labels.categories)
        ),
        "VizTracer trace",
        "View it with `vizviewer FILE`. For StepScope, record with torch.profiler and export_chrome_trace",
    ),
    (
        _is_trace_viewer_export,
        "trace viewer export of JAX, TensorFlow or XProf (trace.json.gz)",
        "Give the *.xplane.pb file of the same folder, plugins/profile/<time>",
    ),
    (
        lambda head, labels: {"Op", "Tensor"} <= labels.categories.keys() or b"/job:" in head,
        "timeline of TensorFlow or tfprof",
        "Give the RunMetadata, the ProfileProto or the *.xplane.pb that it was made from",
    ),
    (_has_category("py-spy"), "py-spy trace", TORCH_REMEDY),
    (_mentions(b"NEGOTIATE_ALLREDUCE"), "Horovod timeline", TORCH_REMEDY),
    (
        _mentions(b'"devtools.timeline', b'"blink', b'"toplevel"', b'"CrBrowserMain"'),
        "trace of a Chrome browser",
        "View it in Chrome's DevTools",
    ),
    (
        _mentions(b"ExecuteCompiler", b'"beginningOfTime"'),
        "clang time trace",
        "View it at https://ui.perfetto.dev",
    ),
)
