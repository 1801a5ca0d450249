"""The figures that rows have in each view: their names, titles, units and meaning."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.lenses.views.accounting import DEFINITIONS
from stepscope.lenses.views.metrics import SELF_FIELDS


@dataclass(frozen=True)
class FieldSpec:
    """A figure of a row.

    Attributes:
        name: As in tfprof's protobuf messages and in documents.
        title: What a column is headed by.
        unit: `us`, `bytes` or '' for plain numbers.
        help: What it means and how it is computed.
        total: Whether it covers what is below the row.
        source: The figure of nodes that it is made of.
    """

    name: str
    title: str
    unit: str
    help: str
    total: bool
    source: str


_WORDS = {
    "run_count": ("runs", "", "How often it ran"),
    "exec_micros": ("time", "us", "Host time plus accelerator time, also where they overlap"),
    "accelerator_exec_micros": (
        "device time",
        "us",
        "Time of kernels and copies on accelerators, by the op that launched them",
    ),
    "cpu_exec_micros": (
        "host time",
        "us",
        "Time on the host; for an accelerator's op, of launching it",
    ),
    "requested_bytes": (
        "requested",
        "bytes",
        "Memory asked for. Added up it is not the peak: memory is given back and used again",
    ),
    "peak_bytes": ("peak", "bytes", "Most memory held at once, summed over executions"),
    "residual_bytes": ("residual", "bytes", "Memory still held when it ended"),
    "output_bytes": (
        "output",
        "bytes",
        "Memory of its outputs. An output may be an input passed on, which then counts twice",
    ),
    "parameters": ("parameters", "", "Number of parameters of the variables"),
    "float_ops": (
        "float ops",
        "",
        "Float operations of all runs; of one run where none is recorded",
    ),
}
_RESOURCE = {"accelerator_exec_micros": "device", "cpu_exec_micros": "host", "exec_micros": ""}
_UNIT = {"us": "(us)", "bytes": "(bytes)", "": ""}
_CALLS = {
    "min_micros": ("shortest call", "Duration of the shortest call, with what it called"),
    "p50_micros": ("median call", "Half of the calls last at most this long"),
    "p95_micros": ("95% of calls", "95 of 100 calls last at most this long"),
    "max_micros": ("longest call", "Duration of the longest call, with what it called"),
}
CALL_FIELDS = tuple(
    FieldSpec(name, title, "us", text, False, name) for name, (title, text) in _CALLS.items()
)


def _own(name: str) -> FieldSpec:
    title, unit, text = _WORDS[name]
    return FieldSpec(name, f"self {title}", unit, f"{text}. Of the row itself.", False, name)


OWN_FIELDS = tuple(_own(name) for name in SELF_FIELDS)


def fields(view: str, *, tfprof: bool, nested: bool) -> tuple[FieldSpec, ...]:
    """The figures of a view's rows: totals first, then own figures.

    tfprof's rows of the op and code views know no counts.
    """
    grouped = view in ("op", "code")
    names = [name for name in SELF_FIELDS if not (tfprof and grouped and name == "run_count")]
    specs = [_total(name) for name in names] + [_own(name) for name in names]
    if not (tfprof and grouped):
        text = "Number of graph nodes in the row and below it"
        specs.append(FieldSpec("total_definition_count", "nodes", "", text, True, DEFINITIONS))
    calls = CALL_FIELDS if nested and view == "op" and not tfprof else ()
    return (*specs, *calls)


def _total(name: str) -> FieldSpec:
    title, unit, text = _WORDS[name]
    return FieldSpec(
        f"total_{name}", title, unit, f"{text}. With all that belongs to the row.", True, name
    )


def table_title(name: str) -> str:
    """The head of a figure's column in tables for people: `device self (us)`, `total requested (bytes)`, `runs`."""
    base = name.removeprefix("total_")
    side = "self" if base == name else "total"
    if base in _CALLS:
        return f"{base.removesuffix('_micros')} call (us)"
    if base == DEFINITIONS:
        return "nodes"
    if base == "run_count":
        return "runs" if base == name else "total runs"
    if base in _RESOURCE:
        return f"{_RESOURCE[base]} {side} (us)".strip()
    title, unit, _ = _WORDS.get(base, (base, "", ""))
    return f"{side} {title} {_UNIT[unit]}".strip() if base in _WORDS else name


def share_title(resource: str) -> str:
    """The head of the share column, which names the whole."""
    return {"device": "% of device time", "host": "% of host time"}.get(resource, "% of time")
