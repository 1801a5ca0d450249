"""Events of the Chrome trace format, as chrome://tracing and Perfetto read them. Times are microseconds.

Source: "Trace Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
"""

from __future__ import annotations

from typing import Any

Event = dict[str, Any]
Micros = int | float


def process_name(pid: int, name: str) -> Event:
    """Names a process."""
    return {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}


def thread_name(pid: int, tid: int, name: str) -> Event:
    """Names a thread."""
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def span(
    name: str, start: Micros, duration: Micros, pid: int, tid: int, args: dict[str, Any]
) -> Event:
    """Something that lasts."""
    return {
        "ph": "X",
        "cat": "Op",
        "name": name,
        "ts": start,
        "dur": duration,
        "pid": pid,
        "tid": tid,
        "args": args,
    }


def flow(name: str, phase: str, number: int, at: Micros, pid: int, tid: int) -> Event:
    """One end of an arrow: phase `s` where it starts, `t` where it ends."""
    return {
        "ph": phase,
        "cat": "DataFlow",
        "name": f"{name}_flow",
        "id": number,
        "ts": at,
        "pid": pid,
        "tid": tid,
    }


def counter(name: str, at: Micros, pid: int, values: dict[str, Any]) -> Event:
    """Values at a time."""
    return {
        "ph": "C",
        "cat": "Memory",
        "name": name,
        "ts": at,
        "pid": pid,
        "tid": 0,
        "args": values,
    }
