"""The schedule around collectives: what stands between a send and its recv-done, and what depends on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepscope.model import collectives as model
from stepscope.model.columns import StringBuilder
from stepscope.sources.xplane.hlo import Program
from stepscope.sources.xplane.plane import text

_TRANSFER_OPCODES = frozenset({b"send", b"send-done", b"recv", b"recv-done"})


@dataclass
class ScheduleBuilder:
    """Collects the programs that hold collectives, and how long their instructions ran."""

    programs: dict[str, Program] = field(default_factory=dict)
    run_counts: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def add(self, program: str, hlo: Program, counts: Mapping[str, tuple[int, int]]) -> None:
        """Adds what one core ran of a program."""
        self.programs.setdefault(program, hlo)
        for name, (count, total_ps) in counts.items():
            before = self.run_counts.get((program, name), (0, 0))
            self.run_counts[program, name] = (before[0] + count, before[1] + total_ps)

    def build(
        self, strings: StringBuilder
    ) -> tuple[model.Schedule, model.Operands, dict[tuple[str, str], int]]:
        """The rows, and the row of each instruction by program and name."""
        rows: list[tuple[int, ...]] = []
        operands: list[int] = []
        places: dict[tuple[str, str], int] = {}
        for program, hlo in self.programs.items():
            for computation in hlo.module.computations:
                if any(i.opcode in _TRANSFER_OPCODES for i in computation.instructions):
                    scheduled = _in_order(hlo.module, computation)
                    row_of = {proto.id: len(rows) + i for i, proto in enumerate(scheduled)}
                    for proto in scheduled:
                        name = text(proto.name)
                        places[program, name] = len(rows)
                        operands += [row_of[i] for i in proto.operand_ids if i in row_of]
                        count = self.run_counts.get((program, name), (0, 0))
                        rows.append(
                            (*_texts(strings, program, computation, proto), *count, len(operands))
                        )
        return _columns(rows), model.Operands(source=np.array(operands, np.int32)), places


def _in_order(module: Any, computation: Any) -> Sequence[Any]:
    """The instructions in the order of the module's schedule, or of the computation where there is none."""
    sequences = module.schedule.sequences
    if computation.id not in sequences:
        return list(computation.instructions)
    by_id = {proto.id: proto for proto in computation.instructions}
    return [by_id[i] for i in sequences[computation.id].instruction_ids if i in by_id]


def _texts(strings: StringBuilder, program: str, computation: Any, proto: Any) -> tuple[int, ...]:
    op_name = text(proto.metadata.op_name)
    words = (program, text(computation.name), text(proto.name), text(proto.opcode))
    return (*map(strings, words), strings(op_name) if op_name else -1)


def _columns(rows: Sequence[tuple[int, ...]]) -> model.Schedule:
    table = np.array(rows, np.int64).reshape(-1, 8)
    names = (
        "program",
        "computation",
        "name",
        "opcode",
        "op_name",
        "run_count",
        "total_ps",
        "operand_end",
    )
    columns: dict[str, Any] = {name: table[:, i] for i, name in enumerate(names)}
    return model.Schedule(**columns)
