"""The cross-slice collectives of a profile's hosts, as one record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepscope.model import collectives as model
from stepscope.model.arrays import I64
from stepscope.model.collectives import Collectives
from stepscope.model.columns import Group, Header, StringBuilder
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.xplane.cores import CoreTrace, distinct
from stepscope.sources.xplane.hlo import Program
from stepscope.sources.xplane.identity import ResolvedOp, Resolver
from stepscope.sources.xplane.schedule import ScheduleBuilder
from stepscope.sources.xplane.transfers import TransferRows


@dataclass
class HostTrace:
    """The collectives of one host.

    Attributes:
        seen: Whether the file holds a plane.
        programs: The HLO programs, by unsigned program id.
        transfers: The network transfers of the host plane.
        losses: What could not be read.
    """

    name: str
    source: str
    seen: bool
    cores: Sequence[CoreTrace]
    programs: Mapping[int, Program]
    transfers: TransferRows
    losses: Sequence[Diagnostic] = ()


def collectives_of(
    hosts: Sequence[HostTrace], run: str, losses: Sequence[Diagnostic] = ()
) -> Collectives:
    """One record of all hosts; `losses` are those that are no host's."""
    builder = _Builder()
    for host in hosts:
        if host.seen:
            builder.add(host)
    losses = (*losses, *(loss for host in hosts for loss in host.losses))
    name = hosts[0].name if len(hosts) == 1 else ""
    return builder.build(
        Header(run=run, host=name, producer="XPlane", losses=losses, source=_sources_of(hosts))
    )


def _sources_of(hosts: Sequence[HostTrace]) -> str:
    return hosts[0].source if len(hosts) == 1 else f"{len(hosts)} files"


@dataclass
class _Builder:
    strings: StringBuilder = field(default_factory=StringBuilder)
    columns: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    instructions: dict[ResolvedOp, int] = field(default_factory=dict)
    schedule: ScheduleBuilder = field(default_factory=ScheduleBuilder)

    def add(self, host: HostTrace) -> None:
        row = self._append(
            "hosts",
            name=[self.strings(host.name)],
            source=[self.strings(host.source)],
            base_ns=[host.transfers.base_ns],
        )
        for core in sorted(host.cores, key=lambda c: c.id):
            self._add_core(row, core, Resolver(core, host.programs))
        self._append("transfers", **host.transfers.columns(row, self.strings))

    def _add_core(self, host: int, core: CoreTrace, resolver: Resolver) -> None:
        row = self._append(
            "cores",
            host=[host],
            id=[core.id],
            name=[self.strings(core.name)],
            device_type=[self.strings(core.device_type)],
            base_ns=[core.base_ns],
            window_start_ps=[core.window_ps[0]],
            window_end_ps=[core.window_ps[1]],
        )
        programs = np.array([self.strings(name) for name in core.programs] or [0], np.int64)
        first = self._append(
            "executions",
            core=np.full(len(core.execution_start), row),
            program=programs[core.execution_program],
            run_id=core.execution_run,
            start_ps=core.execution_start,
            duration_ps=core.execution_duration,
        )
        self._add_ops(row, first, core, resolver)

    def _add_ops(self, row: int, first_execution: int, core: CoreTrace, resolver: Resolver) -> None:
        instruction = self._instruction_of_ops(core, resolver)
        kept = np.flatnonzero(instruction >= 0)
        execution = core.op_execution[kept]
        self._append(
            "ops",
            core=np.full(len(kept), row),
            instruction=instruction[kept],
            execution=np.where(execution < 0, -1, execution + first_execution),
            start_ps=core.op_start[kept],
            duration_ps=core.op_duration[kept],
        )
        for program, hlo in resolver.used.items():
            self.schedule.add(program, hlo, resolver.run_counts(program))

    def _instruction_of_ops(self, core: CoreTrace, resolver: Resolver) -> I64:
        """The row in instructions of every host transfer op, -1 where it is no cross-slice collective."""
        keys, place = distinct(core.op_metadata)
        program = np.append(core.execution_program, -1)[core.op_execution]
        width = len(core.programs) + 1
        pairs, inverse = distinct(place * width + program + 1)
        rows = [
            self._instruction(resolver, int(keys[p // width]), int(p % width) - 1)
            for p in pairs.tolist()
        ]
        return np.array(rows, np.int64)[inverse] if rows else np.empty(0, np.int64)

    def _instruction(self, resolver: Resolver, metadata: int, program: int) -> int:
        resolved = resolver.resolve(metadata, program)
        return (
            -1
            if resolved is None
            else self.instructions.setdefault(resolved, len(self.instructions))
        )

    def _append(self, group: str, **columns: Any) -> int:
        """Adds rows to a group and gives the index of the first."""
        first = self.sizes.get(group, 0)
        self.sizes[group] = first + len(next(iter(columns.values())))
        self.columns.setdefault(group, []).append(columns)
        return first

    def build(self, header: Header) -> Collectives:
        schedule, operands, places = self.schedule.build(self.strings)
        groups: dict[str, Any] = {
            name: _GROUPS[name](**_joined(chunks)) for name, chunks in self.columns.items()
        }
        groups |= {
            "instructions": self._instruction_rows(places),
            "schedule": schedule,
            "operands": operands,
        }
        return Collectives(header=header, strings=self.strings.build(), **groups)

    def _instruction_rows(self, places: Mapping[tuple[str, str], int]) -> model.Instructions:
        ops = list(self.instructions)
        return model.Instructions(
            program=np.array([self._index(o.program) for o in ops], np.int32),
            name=np.array([self.strings(o.name) for o in ops], np.int32),
            kind=np.array([o.kind for o in ops], np.int8),
            identity=np.array([o.identity for o in ops], np.int8),
            rendezvous=np.array([self._index(o.rendezvous) for o in ops], np.int32),
            transfer_type=np.array([self._index(o.transfer_type) for o in ops], np.int32),
            payload_bytes=np.array([o.payload_bytes for o in ops], np.int64),
            group_size=np.array([o.group_size for o in ops], np.int32),
            scheduled=np.array([places.get((o.program, o.name), -1) for o in ops], np.int32),
        )

    def _index(self, text: str) -> int:
        return self.strings(text) if text else -1


_GROUPS: dict[str, type[Group]] = {
    "hosts": model.Hosts,
    "cores": model.Cores,
    "executions": model.Executions,
    "ops": model.Ops,
    "transfers": model.Transfers,
}


def _joined(chunks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        name: np.concatenate([np.asarray(c[name], np.int64) for c in chunks]) for name in chunks[0]
    }
