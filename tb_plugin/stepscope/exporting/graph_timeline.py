"""What the nodes of a graph view ran when, on which device: events of a Chrome trace.

A process per device, executions in the first lane that is free, arrows from a node's inputs on other devices, and the
memory in use of each device with who holds it. For tfprof, executions that it does not count are left out, and of two
that start together on a device it keeps one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from stepscope.exporting.chrome import Event, Micros, counter, flow, process_name, span, thread_name
from stepscope.lenses.views import ViewResult
from stepscope.model.columns import Array, Ints
from stepscope.model.profile import LaneKind, Profile

PS_PER_US = 1_000_000
_TFPROF_LEAST_GAP_US = 100
"""tfprof leaves out memory that is not so much later than the moment before, peaks too."""
_TOP_HOLDERS = 9


@dataclass
class _Run:
    """An execution that is drawn."""

    node: int
    device: str
    thread: str
    start: Micros
    duration: Micros
    lane: int = 0
    leads_to: list[_Run] = field(default_factory=list)

    @property
    def end(self) -> Micros:
        return self.start + self.duration


def graph_events(result: ViewResult) -> list[Event]:
    """The events of the displayed nodes in the one step of the result, or in all."""
    return _Timeline(result).events() if len(result) else []


class _Timeline:
    def __init__(self, result: ViewResult) -> None:
        self.profile = result.profile
        self.tfprof = result.resolved.tfprof
        self.clock = _Clock(self.profile)
        number = result.resolved.step
        self.step = None if number is None else self.profile.steps.id.tolist().index(number)
        shown = [result.layout.members(row).tolist() for row in result.rows.tolist()]
        self.nodes = [node for members in shown for node in members]
        self.counted = result.row_figures.accounting.added
        self.names = [self.profile.strings[i] for i in self.profile.nodes.name.tolist()]

    def events(self) -> list[Event]:
        """Processes, executions and arrows, then memory."""
        runs = self._runs()
        by_device = self._by_device(runs)
        self._connect(by_device)
        threads = {device: _lanes(rows) for device, rows in by_device.items()}
        pid = {
            device: place for place, device in enumerate(dict.fromkeys(run.device for run in runs))
        }
        events = [process_name(number, _process(device)) for device, number in pid.items()]
        for device, names in threads.items():
            events += [
                thread_name(pid[device], lane, name) for lane, name in enumerate(names) if name
            ]
        number = 0
        for device in pid:
            for run in sorted(by_device[device], key=lambda r: r.lane):
                name = self.names[run.node]
                events.append(
                    span(name, run.start, run.duration, pid[device], run.lane, {"name": name})
                )
                for target in run.leads_to:
                    number += 1
                    events.append(flow(name, "s", number, run.end, pid[device], run.lane))
                    events.append(
                        flow(name, "t", number, target.start, pid[target.device], target.lane)
                    )
        return events + self._memory(len(pid))

    def _in_step(self, steps: Array) -> Array:
        """Which rows are of the one step, or all where none is chosen."""
        return np.full(len(steps), True) if self.step is None else steps == self.step

    def _runs(self) -> list[_Run]:
        """The executions of the displayed nodes, in display order, each node's by device."""
        profile = self.profile
        rows, lanes = profile.executions, profile.lanes
        wanted = self._in_step(rows.step)
        if self.tfprof:
            wanted &= (lanes.kind != LaneKind.OTHER)[rows.lane] & (profile.nodes.device >= 0)[
                rows.node
            ]
        found = np.flatnonzero(wanted)
        found = found[np.argsort(rows.node[found], kind="stable")]
        first = np.searchsorted(rows.node[found], np.arange(len(profile.nodes) + 1))
        runs: list[_Run] = []
        for node in self.nodes:
            own = [self._run(int(row)) for row in found[first[node] : first[node + 1]]]
            runs += sorted(own, key=lambda run: run.device.encode())
        return runs

    def _run(self, row: int) -> _Run:
        rows, lanes, strings = self.profile.executions, self.profile.lanes, self.profile.strings
        lane = int(rows.lane[row])
        device, thread = (int(lanes.device[lane]), int(lanes.name[lane])) if lane >= 0 else (-1, -1)
        start, duration = int(rows.start_ticks[row]), int(rows.duration_ticks[row])
        return _Run(
            int(rows.node[row]),
            strings[device] if device >= 0 else "",
            strings[thread] if thread >= 0 else "",
            self.clock.stamp(start),
            self.clock.micros(duration),
        )

    def _by_device(self, runs: list[_Run]) -> dict[str, list[_Run]]:
        """The executions of each device by start."""
        kept: dict[str, list[_Run]] = defaultdict(list)
        if self.tfprof:
            runs = list({(run.device, run.start): run for run in reversed(runs)}.values())
        for run in runs:
            kept[run.device].append(run)
        return {device: sorted(rows, key=lambda run: run.start) for device, rows in kept.items()}

    def _connect(self, by_device: dict[str, list[_Run]]) -> None:
        """Lets the executions of a node's inputs on other devices lead to the node's."""
        at = {(run.device, run.start): run for rows in by_device.values() for run in rows}
        host = _HostRuns(self.profile, self._in_step(self.profile.executions.step), self.clock)
        for device, rows in sorted(by_device.items(), key=lambda item: item[0].encode()):
            if not _is_canonical(device):
                continue
            for run in rows:
                for source in self._inputs(run.node):
                    for other, start in host.of(source):
                        target = at.get((other, start))
                        if (
                            target is not None
                            and other != device
                            and (self.tfprof or target.node == source)
                        ):
                            target.leads_to.append(run)

    def _inputs(self, node: int) -> list[int]:
        """The sources of a node's inputs that ran and count."""
        nodes = self.profile.nodes
        start, end = int(nodes.input_end[node - 1]) if node else 0, int(nodes.input_end[node])
        sources: list[int] = self.profile.inputs.source[start:end].tolist()
        return [s for s in sources if s >= 0 and self.counted[s] and nodes.device[s] >= 0]

    def _memory(self, pid: int) -> list[Event]:
        """Memory in use of each accelerator, and the nodes that hold most of it."""
        events: list[Event] = []
        for device, memory in sorted(
            self._device_memory().items(), key=lambda item: item[0].encode()
        ):
            name = f"mem usage on:{device}"
            events += [process_name(pid, name), process_name(pid + 1, f"{name} allocations")]
            moments = memory.moments(_TFPROF_LEAST_GAP_US if self.tfprof else 0)
            for at, holders in memory.holders(moments):
                in_use = {"Allocator Bytes in Use": memory.in_use[at]}
                events.append(counter("Allocated Bytes", at, pid, in_use))
                events.append(counter("Top Allocations", at, pid + 1, holders))
            pid += 2
        return events

    def _device_memory(self) -> dict[str, _DeviceMemory]:
        rows, strings = self.profile.allocations, self.profile.strings
        place = np.full(len(self.profile.nodes) + 1, -1)
        place[self.nodes] = np.arange(len(self.nodes))
        memory: dict[str, _DeviceMemory] = defaultdict(_DeviceMemory)
        if self.tfprof:
            ran = set(
                self.profile.executions.node[self._in_step(self.profile.executions.step)].tolist()
            )
            for node in self.nodes:
                device = int(self.profile.nodes.device[node])
                if node in ran and device >= 0 and "cpu" not in strings[device]:
                    memory[strings[device]] = memory[strings[device]]
        wanted = np.flatnonzero(
            (place[rows.node] >= 0) & self._in_step(rows.step) & (rows.device >= 0)
        )
        for row in wanted[np.argsort(place[rows.node[wanted]], kind="stable")].tolist():
            device = strings[int(rows.device[row])]
            if "cpu" not in device:
                self._add(memory[device], row)
        return memory

    def _add(self, memory: _DeviceMemory, row: int) -> None:
        rows = self.profile.allocations
        at = self.clock.stamp(int(rows.time_ticks[row]))
        delta, total = int(rows.delta_bytes[row]), int(rows.total_bytes[row])
        if total >= 0 or (self.tfprof and not delta):
            memory.in_use[at] = max(total, 0)
        if delta:
            memory.change(self.names[int(rows.node[row])], at, delta)


class _Clock:
    """Ticks as microseconds: integers where ticks are whole microseconds."""

    def __init__(self, profile: Profile) -> None:
        self._tick_ps = profile.tick_ps
        self._anchor_ns = profile.header.wall_anchor_ns

    def micros(self, ticks: int) -> Micros:
        """A duration."""
        return self._exact(ticks * self._tick_ps)

    def stamp(self, ticks: int) -> Micros:
        """A moment, as Unix time where it is known."""
        return self._exact(ticks * self._tick_ps + self._anchor_ns * 1000)

    def _exact(self, ps: int) -> Micros:
        return ps / PS_PER_US if ps % PS_PER_US else ps // PS_PER_US


class _HostRuns:
    """Device and start of the executions of nodes that tfprof calls canonical."""

    def __init__(self, profile: Profile, in_step: Array, clock: _Clock) -> None:
        rows = profile.executions
        kinds = np.append(profile.lanes.kind, LaneKind.OTHER)
        found: Ints = np.flatnonzero(in_step & (kinds[rows.lane] == LaneKind.HOST))
        self._of: dict[int, list[tuple[str, Micros]]] = defaultdict(list)
        names = [profile.strings[i] if i >= 0 else "" for i in profile.lanes.device.tolist()]
        for node, lane, start in zip(
            rows.node[found].tolist(),
            rows.lane[found].tolist(),
            rows.start_ticks[found].tolist(),
            strict=True,
        ):
            if _is_canonical(names[lane]):
                self._of[node].append((names[lane], clock.stamp(start)))

    def of(self, node: int) -> Iterable[tuple[str, Micros]]:
        """Those of a node."""
        return self._of.get(node, ())


class _DeviceMemory:
    """The memory of a device over time."""

    def __init__(self) -> None:
        self.in_use: dict[Micros, int] = {}
        self._changes: list[tuple[Micros, str, int]] = []

    def change(self, node: str, at: Micros, delta: int) -> None:
        """Adds an allocation or a release."""
        self._changes.append((at, node, delta))

    def moments(self, least_gap_us: int) -> list[Micros]:
        """The moments whose memory is known, in order, without those nearer to the one before than a gap."""
        chosen: list[Micros] = []
        last: Micros = 0
        for at in sorted(self.in_use):
            if at - last >= least_gap_us:
                chosen.append(at)
                last = at
        return chosen

    def holders(self, moments: list[Micros]) -> Iterator[tuple[Micros, dict[str, str]]]:
        """The nodes that hold most at each of some moments in order."""
        changes = sorted(self._changes, key=lambda change: change[0])
        held: dict[str, int] = defaultdict(int)
        place = 0
        for at in moments:
            while place < len(changes) and changes[place][0] <= at:
                held[changes[place][1]] += changes[place][2]
                place += 1
            yield at, _largest_holders(held)


def _largest_holders(held: dict[str, int]) -> dict[str, str]:
    """The names and sizes of the largest holders, in tfprof's words."""
    ranked = sorted(((size, node) for node, size in held.items() if size > 0), reverse=True)
    values = {f"Top Allocation {place:02d}": "N/A" for place in range(1, _TOP_HOLDERS + 1)}
    for place, (size, node) in enumerate(ranked[:_TOP_HOLDERS], 1):
        values[f"Top Allocation {place:02d}"] = f"{node}: {size / 1e6:.2f} MB"
    values["Not Displayed"] = f"{sum(size for size, _ in ranked[_TOP_HOLDERS:]) / 1e6:.2f} MB"
    return values


def _process(device: str) -> str:
    return f"Op {'execution' if 'stream' in device else 'scheduling'} threads: {device}"


def _is_canonical(device: str) -> bool:
    kind, _, number = device.rpartition(":")
    return number.isdecimal() and kind.endswith(("/gpu", "/cpu", "/device:gpu", "/device:cpu"))


def _lanes(rows: list[_Run]) -> list[str]:
    """Puts each execution, by start, in its thread's lane or the first lane that is free; gives the lanes' names."""
    if any(run.thread for run in rows):
        names = list(dict.fromkeys(run.thread for run in rows))
        for run in rows:
            run.lane = names.index(run.thread)
        return names
    ends: list[Micros] = []
    for run in rows:
        run.lane = next((lane for lane, end in enumerate(ends) if end <= run.start), len(ends))
        ends[run.lane : run.lane + 1] = [run.end]
    return [""] * len(ends)
