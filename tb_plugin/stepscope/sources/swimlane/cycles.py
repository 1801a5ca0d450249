"""Swimlane captures in cycles: raw streams of stamps per core, scheduler and orchestrator.

Three layouts are known: five columns per core row (start and end), six (with the time from receive
to start), and seven (with the run's epoch, and scheduler rows in a separate object).
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
_SIX_COLUMNS = 6
_SEVEN_COLUMNS = 7
MAX_CORES = 1 << 20
"""Core ids from here on are damage: tables per core would take all memory."""
MAX_TASKS = 1 << 64
_MAX_STAMP = 1 << 62
_EPOCH_WIDTH = 5
"""Columns of a scheduler row that has its launch."""
_LIFECYCLE = (
    ("handshake", "handshake_start_cycles", "handshake_complete_cycles"),
    ("config", "config_start_cycles", "topology_complete_cycles"),
)


def read_cycles(document: Document, where: str) -> Draft:
    """The draft of a capture in cycles.

    Raises:
        DamagedSource: The level or the clock is missing or wrong, or orchestrators of two clocks
            are present.
        UnsupportedSource: Rows have a width that no known generation has.
    """
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        metadata = {}
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
    _join_scheduler(draft, _scheduler_rows(document, where), in_rows=width == _SEVEN_COLUMNS)
    draft.activities += _scheduler_phases(document)
    draft.activities += _orchestrator_phases(document)
    draft.activities += _lifecycle(document)
    draft.losses += _capture_losses(document, metadata)
    return draft


def _core_types(kinds: Any) -> list[str]:
    if not isinstance(kinds, list):
        return []
    return [str(kind) for kind in kinds]


def level_of(document: Document, where: str) -> int:
    """The capture level.

    Raises:
        DamagedSource: It is not 1 to 4.
    """
    stated = [key for key in LEVEL_KEYS if key in document]
    key = next(iter(stated), "chip_swimlane_level")
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
        raise DamagedSource(f"{key} must be a list", where=where, remedy="Capture again")
    return rows


def _width(rows: Sequence[Any], where: str) -> int:
    """The number of columns that most rows have."""
    widths = Counter(len(row) for row in rows if isinstance(row, list))
    if not widths:
        return _SIX_COLUMNS
    width = widths.most_common(1)[0][0]
    if width not in _WIDTHS:
        raise UnsupportedSource(
            f"aicore_tasks rows of {width} columns, where {', '.join(map(str, _WIDTHS))} are known",
            where=where,
            remedy="Update StepScope, or report the writer and its version",
        )
    return width


def _format(document: Document, width: int) -> str:
    name = "l2 swimlane"
    if "chip_swimlane_level" in document:
        name = "chip swimlane"
    return f"{name}, {width} columns, in cycles"


def _is_row(row: Any, width: int) -> bool:
    """Whether a row has its integers in range, and a kernel that ends after it starts."""
    if not isinstance(row, list) or len(row) != width:
        return False
    if not all(type(value) is int for value in row):
        return False
    core, task, *others = row
    if not 0 <= core < MAX_CORES or not 0 <= task < MAX_TASKS:
        return False
    start, end = row[3:5]
    return bool(0 < start <= end and all(_is_time(value) for value in others))


def _add_tasks(draft: Draft, rows: Sequence[Any], width: int) -> None:
    good = [row for row in rows if _is_row(row, width)]
    if len(good) < len(rows):
        loss = Diagnostic(
            where="aicore_tasks",
            what=(
                "rows are not the integers core, task, dispatch, start <= end, or have another number of columns"
            ),
            count=len(rows) - len(good),
            remedy="Capture again if they matter",
        )
        draft.losses.append(loss)
    draft.tasks = {
        "core": [row[0] for row in good],
        "task": [row[1] for row in good],
        "dispatch_id": [row[2] for row in good],
        "start": [row[3] for row in good],
        "end": [row[4] for row in good],
        "function": [-1] * len(good),
    }
    if width >= _SIX_COLUMNS:
        draft.tasks["receive"] = [_receive(row) for row in good]
    if width >= _SEVEN_COLUMNS:
        draft.tasks["epoch"] = [row[6] for row in good]


def _receive(row: Sequence[int]) -> int:
    """The stamp at which a core received a task, 0 where the row does not know it."""
    start = row[3]
    receive_to_start = row[5]
    if receive_to_start < 0:
        return 0
    return start - receive_to_start


def _scheduler_rows(document: Document, where: str) -> Sequence[Any]:
    tasks = document.get("scheduler_tasks")
    if isinstance(tasks, Mapping):
        return _rows(tasks, "records", where)
    return _rows(document, "aicpu_tasks", where)


def _join_scheduler(draft: Draft, rows: Sequence[Any], *, in_rows: bool) -> None:
    """Gives tasks their dispatch and finish by core and dispatch number, and epoch if known."""
    good = [row for row in rows if _is_scheduler_row(row)]
    if len(good) < len(rows):
        loss = Diagnostic(
            where="aicpu_tasks",
            what="scheduler rows are not the integers core, dispatch, start, end",
            count=len(rows) - len(good),
            remedy="Capture again if they matter",
        )
        draft.losses.append(loss)
    has_epochs = in_rows and any(len(row) == _EPOCH_WIDTH for row in good)
    if has_epochs:
        good = [row for row in good if len(row) == _EPOCH_WIDTH]
    stamps = []
    for core, dispatch_id, dispatch, finish, *epoch in good:
        stamps.append(((core, dispatch_id, *epoch), (dispatch, finish)))
    tasks = draft.tasks
    columns = [tasks["core"], tasks["dispatch_id"]]
    if has_epochs:
        columns.append(tasks["epoch"])
    keys = list(zip(*columns, strict=True))
    spans = list(zip(tasks["start"], tasks["end"], strict=True))
    joined, lost = join_stamps(keys, spans, stamps)
    tasks["dispatch"] = [dispatch for dispatch, _ in joined]
    tasks["finish"] = [finish for _, finish in joined]
    for _, pair in lost:
        draft.lost_stamps += pair
    draft.losses += _join_losses(draft, joined.count(NO_STAMPS))
    draft.losses += _lost_rows(lost)


def _lost_rows(lost: Sequence[tuple[tuple[int, ...], tuple[int, int]]]) -> Iterator[Diagnostic]:
    """Rows of the scheduler without a kernel."""
    unmatched = Counter(key[0] for key, _ in lost)
    if not unmatched:
        return
    worst = ", ".join(f"core {core}: {count}" for core, count in unmatched.most_common(3))
    yield Diagnostic(
        where="aicpu_tasks",
        what=f"scheduled tasks have no row of a core ({worst}); the core's buffer was dropped",
        count=unmatched.total(),
        remedy="Capture with more AICore buffers per core",
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
        yield Diagnostic(
            where="aicore_tasks",
            what=(
                "rows repeat a core's dispatch number in one launch: their dispatch may be another row's"
            ),
            count=repeated,
            remedy="Check that the run boundaries are right",
        )
    # At level 1 the scheduler records nothing.
    if draft.level > 1 and undispatched:
        yield Diagnostic(
            where="aicore_tasks",
            what="rows have no dispatch and finish",
            count=undispatched,
            remedy="Use larger scheduler buffers",
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
    if not isinstance(row, list) or len(row) not in (4, _EPOCH_WIDTH):
        return False
    return all(_is_time(value) for value in row)


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
    yield from _spans(
        document.get("host_device_uploads") or (), "host upload", "phase", Clock.HOST_NS
    )


def _lifecycle(document: Document) -> Iterator[Activity]:
    """Handshake and set-up of the AICPU threads, before the first task."""
    for row in objects_of(document.get("aicpu_lifecycle_records")):
        lane = f"aicpu {row.get('aicpu_thread_id', '?')} lifecycle"
        for kind, first, last in _LIFECYCLE:
            start = row.get(first)
            end = row.get(last)
            if _is_time(start) and _is_time(end):
                yield Activity(lane, kind, start, end)


def _streams(document: Document) -> list[Document]:
    records = document.get("scheduler_records")
    if not isinstance(records, Mapping):
        return []
    return objects_of(records.get("streams"))


def objects_of(rows: Any) -> list[Document]:
    """The objects of a list; a capture may hold anything in its place."""
    if not isinstance(rows, list):
        return []
    return [row for row in rows if isinstance(row, Mapping)]


def _count(value: Any) -> int:
    if _is_time(value) and value > 0:
        return value
    return 0


def threads_of(phases: Any) -> list[Any]:
    """Phases per thread; a flat list is one thread."""
    if not isinstance(phases, list):
        return []
    if any(isinstance(part, list) for part in phases):
        return phases
    return [phases]


def _spans(rows: Any, lane: str, kind: str, clock: Clock = Clock.DEVICE) -> Iterator[Activity]:
    unit = "cycles"
    if clock is Clock.HOST_NS:
        unit = "host_ns"
    for row in objects_of(rows):
        start = row.get(f"start_{unit}")
        end = row.get(f"end_{unit}")
        if not _is_time(start) or not _is_time(end):
            continue
        yield Activity(
            lane=lane,
            kind=str(row.get(kind, "submit")),
            start=start,
            end=end,
            task=id_below(MAX_TASKS, row.get("task_id")),
            clock=clock,
        )


def id_below(limit: int, value: Any) -> int | None:
    """A value that is an id from 0 to below the limit; None of anything else."""
    if type(value) is int and 0 <= value < limit:
        return value
    return None


def _is_time(value: Any) -> TypeGuard[int]:
    return type(value) is int and -_MAX_STAMP < value < _MAX_STAMP


def _alignment(metadata: Document) -> Iterator[Diagnostic]:
    """The stated uncertainty between the clocks of host and device."""
    alignment = metadata.get("clock_alignment")
    if not isinstance(alignment, Mapping):
        return
    first = alignment.get("host_anchor_min_ns")
    last = alignment.get("host_anchor_max_ns")
    what = f"host and device clocks are {alignment.get('status', 'not aligned')!s:.40}"
    if _is_time(first) and _is_time(last):
        what = f"{what}: they are known to {last - first:,} ns"
    yield Diagnostic("metadata.clock_alignment", what, 0, "Compare times within one clock only")


def _capture_losses(document: Document, metadata: Document) -> Iterator[Diagnostic]:
    host = metadata.get("host_capture")
    if isinstance(host, Mapping):
        dropped = _count(host.get("dropped_records"))
        if dropped:
            yield Diagnostic("metadata.host_capture", "host records were dropped", dropped, "")
    yield from _alignment(metadata)
    if document.get("host_orchestrator_phases"):
        what = "the host's spans are on another clock and are not subtracted from the device's"
        yield Diagnostic("host_orchestrator_phases", what, 0, "Read them as durations")
    for stream in _streams(document):
        capture = stream.get("capture")
        if not isinstance(capture, Mapping):
            continue
        dropped = _count(capture.get("dropped"))
        if dropped:
            where = f"scheduler_records, scheduler {stream.get('scheduler_id')}"
            yield Diagnostic(where, "scheduler records were dropped", dropped, "Use larger buffers")
