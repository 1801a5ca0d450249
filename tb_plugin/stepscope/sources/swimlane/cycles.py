"""Swimlane captures in cycles: raw streams of stamps per core, scheduler and orchestrator.

Three layouts are known: five columns per core row (start and end), six (with the time from receive to start), and seven
(with the run's epoch, and scheduler rows in an object of their own).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from stepscope.errors import DamagedSource, UnsupportedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.incore_capture import Clock
from stepscope.sources.swimlane.draft import Activity, Draft
from stepscope.sources.swimlane.launches import (
    NO_STAMPS,
    boundaries_of,
    epochs_by_boundaries,
    epochs_by_restarts,
    join_stamps,
    restart_note,
)

Document = Mapping[str, Any]
LEVEL_KEYS = ("chip_swimlane_level", "l2_swimlane_level", "l2_perf_level")
_WIDTHS = (5, 6, 7)
_LIFECYCLE = (
    ("handshake", "handshake_start_cycles", "handshake_complete_cycles"),
    ("config", "config_start_cycles", "topology_complete_cycles"),
)


def read_cycles(document: Document, where: str) -> Draft:
    """The draft of a capture in cycles.

    Raises:
        DamagedSource: The level or the clock is missing or wrong, or orchestrators of two clocks are present.
        UnsupportedSource: Rows have a width that no known generation has.
    """
    metadata = document.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    rows = _rows(document, "aicore_tasks", where)
    width = _width(rows, where)
    draft = Draft(
        format=_format(document, width),
        level=level_of(document, where),
        clock_freq_hz=_clock(metadata, where),
        core_types=_core_types(metadata.get("core_types")),
    )
    if document.get("aicpu_orchestrator_phases") and document.get("host_orchestrator_phases"):
        raise DamagedSource(
            "both AICPU and host orchestrator phases, so the clock-domain source is ambiguous",
            where=where,
            remedy="Capture with one orchestrator, or remove one of the two streams",
        )
    _add_tasks(draft, rows, width)
    _add_epochs(draft, metadata)
    _join_scheduler(draft, _scheduler_rows(document, where), in_rows=width == 7)
    draft.activities += _scheduler_phases(document)
    draft.activities += _orchestrator_phases(document)
    draft.activities += _lifecycle(document)
    draft.losses += _capture_losses(document, metadata)
    return draft


def _core_types(kinds: Any) -> list[str]:
    return [str(kind) for kind in kinds] if isinstance(kinds, list) else []


def level_of(document: Document, where: str) -> int:
    """The capture level.

    Raises:
        DamagedSource: It is not 1 to 4.
    """
    key = next((k for k in LEVEL_KEYS if k in document), "chip_swimlane_level")
    level = document.get(key)
    if level not in (1, 2, 3, 4):
        raise DamagedSource(
            f"Unsupported {key}: {level!r:.40} (1, 2, 3 and 4 are known)",
            where=where,
            remedy="Capture again with a known level",
        )
    return int(level)


def _clock(metadata: Document, where: str) -> int:
    clock = metadata.get("clock_freq_hz")
    if type(clock) is not int or not 0 < clock < 1 << 50:
        raise DamagedSource(
            f"metadata missing/zero clock_freq_hz: {clock!r:.40}",
            where=where,
            remedy="Write the device's counter frequency into metadata; it is never assumed",
        )
    return clock


def _rows(document: Document, key: str, where: str) -> Sequence[Any]:
    rows = document.get(key)
    if rows is None:
        return []
    if not isinstance(rows, list):
        raise DamagedSource(f"{key} is no list", where=where, remedy="Capture again")
    return rows


def _width(rows: Sequence[Any], where: str) -> int:
    """The number of columns that most rows have."""
    widths = Counter(len(row) for row in rows if isinstance(row, list))
    width = widths.most_common(1)[0][0] if widths else _WIDTHS[1]
    if width not in _WIDTHS:
        raise UnsupportedSource(
            f"aicore_tasks rows of {width} columns, where {', '.join(map(str, _WIDTHS))} are known",
            where=where,
            remedy="Update StepScope, or report the writer and its version",
        )
    return width


def _format(document: Document, width: int) -> str:
    name = "chip swimlane" if "chip_swimlane_level" in document else "l2 swimlane"
    return f"{name}, {width} columns, in cycles"


def _is_row(row: Any, width: int) -> bool:
    """Whether a row has its integers, and a kernel that ends after it starts."""
    if not isinstance(row, list) or len(row) != width or not all(type(value) is int for value in row):
        return False
    core, task, *others = row
    start, end = row[3:5]
    small = all(-(1 << 62) < value < 1 << 62 for value in others)
    return bool(small and 0 < start <= end and 0 <= task < 1 << 64 and 0 <= core < 1 << 20)


def _add_tasks(draft: Draft, rows: Sequence[Any], width: int) -> None:
    good = [row for row in rows if _is_row(row, width)]
    if len(good) < len(rows):
        what = "rows are not the integers core, task, dispatch, start <= end, or have another number of columns"
        draft.losses.append(Diagnostic("aicore_tasks", what, len(rows) - len(good), "Capture again if they matter"))
    columns = list(zip(*good, strict=True)) or [()] * width
    draft.tasks = {
        "core": list(columns[0]),
        "task": list(columns[1]),
        "dispatch_id": list(columns[2]),
        "start": list(columns[3]),
        "end": list(columns[4]),
        "receive": [s - r if r >= 0 else 0 for s, r in zip(columns[3], columns[5], strict=True)] if width > 5 else [],
        "epoch": list(columns[6]) if width > 6 else [],
        "function": [-1] * len(good),
    }
    draft.tasks = {name: column for name, column in draft.tasks.items() if column or not good}


def _scheduler_rows(document: Document, where: str) -> Sequence[Any]:
    tasks = document.get("scheduler_tasks")
    if isinstance(tasks, Mapping):
        return _rows(tasks, "records", where)
    return _rows(document, "aicpu_tasks", where)


def _join_scheduler(draft: Draft, rows: Sequence[Any], *, in_rows: bool) -> None:
    """Gives tasks their dispatch and finish by core and dispatch number, and epoch where rows have one."""
    good = [row for row in rows if _is_scheduler_row(row)]
    if len(good) < len(rows):
        what = "scheduler rows are not the integers core, dispatch, start, end"
        draft.losses.append(Diagnostic("aicpu_tasks", what, len(rows) - len(good), "Capture again if they matter"))
    has_epochs = in_rows and any(len(row) == 5 for row in good)
    stamps = [((row[0], row[1], *row[4:]), (row[2], row[3])) for row in good if not has_epochs or len(row) == 5]
    tasks = draft.tasks
    columns = [tasks["core"], tasks["dispatch_id"]]
    if has_epochs:
        columns.append(tasks["epoch"])
    keys = list(zip(*columns, strict=True))
    spans = list(zip(tasks["start"], tasks["end"], strict=True))
    joined, lost = join_stamps(keys, spans, stamps)
    tasks["dispatch"] = [dispatch for dispatch, _ in joined]
    tasks["finish"] = [finish for _, finish in joined]
    draft.lost_stamps = [stamp for _, pair in lost for stamp in pair]
    draft.losses += _join_losses(draft, joined.count(NO_STAMPS))
    draft.losses += _lost_rows(lost)


def _lost_rows(lost: Sequence[tuple[tuple[int, ...], tuple[int, int]]]) -> Iterator[Diagnostic]:
    """Rows of the scheduler without a kernel."""
    unmatched = Counter(key[0] for key, _ in lost)
    if not unmatched:
        return
    worst = ", ".join(f"core {core}: {count}" for core, count in unmatched.most_common(3))
    yield Diagnostic(
        "aicpu_tasks",
        f"scheduled tasks have no row of a core ({worst}); the core's buffer was dropped",
        unmatched.total(),
        "Capture with more AICore buffers per core",
    )


def _join_losses(draft: Draft, undispatched: int) -> Iterator[Diagnostic]:
    """Rows that the join cannot tell apart, and rows that a scheduler should have had."""
    tasks = draft.tasks
    columns = [tasks["core"], tasks["dispatch_id"]]
    if "epoch" in tasks:
        columns.append(tasks["epoch"])
    keys = list(zip(*columns, strict=True))
    repeated = len(keys) - len(set(keys))
    if repeated:
        what = "rows repeat a core's dispatch number in one launch: their dispatch may be another row's"
        yield Diagnostic("aicore_tasks", what, repeated, "Check that the run boundaries are right")
    if draft.level > 1 and undispatched:
        yield Diagnostic(
            "aicore_tasks", "rows have no dispatch and finish", undispatched, "Use larger scheduler buffers"
        )


def _add_epochs(draft: Draft, metadata: Document) -> None:
    """Gives each row its launch, by the stated boundaries or by restarts of the dispatch numbers."""
    tasks = draft.tasks
    if tasks.get("epoch") or not tasks["start"]:
        return
    boundaries = boundaries_of(metadata)
    if boundaries:
        tasks["epoch"] = epochs_by_boundaries(boundaries, tasks["start"])
        return
    epochs = epochs_by_restarts(
        cores=tasks["core"],
        dispatch_ids=tasks["dispatch_id"],
        starts=tasks["start"],
        ends=tasks["end"],
    )
    note = restart_note(epochs)
    if note is not None:
        tasks["epoch"] = epochs
        draft.losses.append(note)


def _is_scheduler_row(row: Any) -> bool:
    if not isinstance(row, list) or len(row) not in (4, 5):
        return False
    return all(type(value) is int and -(1 << 62) < value < 1 << 62 for value in row)


def _scheduler_phases(document: Document) -> Iterator[Activity]:
    for thread, phases in enumerate(threads_of(document.get("aicpu_scheduler_phases"))):
        yield from _spans(phases, f"scheduler {thread}", "kind")
    for stream in _streams(document):
        lane = f"scheduler {stream.get('scheduler_id', '?')} worker {stream.get('worker_id', '?')}"
        yield from _spans(stream.get("records") or (), lane, "kind")


def _orchestrator_phases(document: Document) -> Iterator[Activity]:
    for thread, phases in enumerate(threads_of(document.get("aicpu_orchestrator_phases"))):
        yield from _spans(phases, f"orchestrator {thread}", "phase")
    for thread, phases in enumerate(threads_of(document.get("host_orchestrator_phases"))):
        yield from _spans(phases, f"host orchestrator {thread}", "phase", Clock.HOST_NS)
    yield from _spans(document.get("host_device_uploads") or (), "host upload", "phase", Clock.HOST_NS)


def _lifecycle(document: Document) -> Iterator[Activity]:
    """What the AICPU threads did before the first task: the handshake and the set-up."""
    rows = document.get("aicpu_lifecycle_records")
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, Mapping):
            continue
        lane = f"aicpu {row.get('aicpu_thread_id', '?')} lifecycle"
        for kind, first, last in _LIFECYCLE:
            start, end = row.get(first), row.get(last)
            if _is_time(start) and _is_time(end):
                yield Activity(lane, kind, start, end)


def _streams(document: Document) -> list[Document]:
    records = document.get("scheduler_records")
    streams = records.get("streams") if isinstance(records, Mapping) else None
    return [stream for stream in streams if isinstance(stream, Mapping)] if isinstance(streams, list) else []


def _count(value: Any) -> int:
    return value if type(value) is int and 0 < value < 1 << 62 else 0


def threads_of(phases: Any) -> list[Any]:
    """Phases per thread; a flat list is one thread."""
    if not isinstance(phases, list):
        return []
    return phases if any(isinstance(part, list) for part in phases) else [phases]


def _spans(rows: Any, lane: str, kind: str, clock: Clock = Clock.DEVICE) -> Iterator[Activity]:
    start, end = ("start_host_ns", "end_host_ns") if clock is Clock.HOST_NS else ("start_cycles", "end_cycles")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and _is_time(row.get(start)) and _is_time(row.get(end)):
            task = row.get("task_id")
            yield Activity(
                lane,
                str(row.get(kind, "submit")),
                row[start],
                row[end],
                task if type(task) is int and 0 <= task < 1 << 64 else None,
                clock,
            )


def _is_time(value: Any) -> TypeGuard[int]:
    return type(value) is int and -(1 << 62) < value < 1 << 62


def _alignment(metadata: Document) -> Iterator[Diagnostic]:
    """How far the clocks of host and device may be apart, as the capture states it."""
    alignment = metadata.get("clock_alignment")
    if not isinstance(alignment, Mapping):
        return
    first, last = alignment.get("host_anchor_min_ns"), alignment.get("host_anchor_max_ns")
    what = f"host and device clocks are {alignment.get('status', 'not aligned')!s:.40}"
    if _is_time(first) and _is_time(last):
        what = f"{what}: they are known to {last - first:,} ns"
    yield Diagnostic("metadata.clock_alignment", what, 0, "Compare times within one clock only")


def _capture_losses(document: Document, metadata: Document) -> Iterator[Diagnostic]:
    host = metadata.get("host_capture")
    if isinstance(host, Mapping) and _count(host.get("dropped_records")):
        yield Diagnostic("metadata.host_capture", "host records were dropped", _count(host.get("dropped_records")), "")
    yield from _alignment(metadata)
    if document.get("host_orchestrator_phases"):
        what = "the host's spans are on a clock of their own and are not subtracted from the device's"
        yield Diagnostic("host_orchestrator_phases", what, 0, "Read them as durations")
    for stream in _streams(document):
        capture = stream.get("capture")
        dropped = _count(capture.get("dropped")) if isinstance(capture, Mapping) else 0
        if dropped:
            where = f"scheduler_records, scheduler {stream.get('scheduler_id')}"
            yield Diagnostic(where, "scheduler records were dropped", dropped, "Use larger buffers")
