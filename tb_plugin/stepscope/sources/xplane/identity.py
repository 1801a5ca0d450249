"""Which collective a host transfer op belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from stepscope.model.collectives import Identity, OpKind
from stepscope.sources.xplane.cores import CoreTrace, OpSource, group_size
from stepscope.sources.xplane.hlo import (
    DCN_HANDLER,
    HANDLER,
    RENDEZVOUS,
    TRANSFER_TYPE,
    Instruction,
    Program,
    transfer_of,
)

_PROGRAM_ID = re.compile(r"\((\d+)\)$")
_KINDS = {
    "send": OpKind.SEND,
    "send-done": OpKind.SEND_DONE,
    "recv": OpKind.RECV,
    "recv-done": OpKind.RECV_DONE,
}


@dataclass(frozen=True)
class ResolvedOp:
    """An instruction of the record. Texts are empty and numbers -1 or 0 where unknown, as the record has it."""

    program: str
    name: str
    kind: OpKind
    identity: Identity
    rendezvous: str = ""
    transfer_type: str = ""
    payload_bytes: int = -1
    group_size: int = 0


@dataclass
class Resolver:
    """Tells the ops of one core apart.

    Attributes:
        used: The programs that hold collectives, with their HLO.
    """

    core: CoreTrace
    programs: Mapping[int, Program]
    used: dict[str, Program] = field(default_factory=dict)

    def resolve(self, metadata: int, program: int) -> ResolvedOp | None:
        """The op of an event's metadata, run by one of the core's programs or by none (-1).

        None where the op is known to be no cross-slice collective, such as a host callback. An op about which nothing
        is known counts as one without a rendezvous.
        """
        source = self.core.sources[metadata]
        name, program_id = self._program(source, program)
        hlo = self.programs.get(program_id) if program_id is not None else None
        found = hlo.find(source.name) if hlo else None
        if hlo and found:
            resolved = _resolved(
                source, name, Identity.HLO, found, transfer_of(found, hlo.instructions)
            )
            if resolved:
                self.used[name] = hlo
            return resolved
        if source.described:
            transfer = transfer_of(source.described, self._described.get(source.program_id, {}))
            return _resolved(source, name, Identity.TEXT, source.described, transfer)
        return _unidentified(source, name)

    def _program(self, source: OpSource, program: int) -> tuple[str, int | None]:
        if program >= 0:
            name = self.core.programs[program]
            match = _PROGRAM_ID.search(name)
            return name, int(match[1]) if match else source.program_id
        ending = f"({source.program_id})"
        return next((n for n in self.core.programs if n.endswith(ending)), ""), source.program_id

    @cached_property
    def _described(self) -> dict[int | None, dict[str, Instruction]]:
        """The instructions whose text is known, by program id and name."""
        found: dict[int | None, dict[str, Instruction]] = {}
        for source in self.core.sources.values():
            if source.described:
                found.setdefault(source.program_id, {})[source.described.name] = source.described
        return found

    def run_counts(self, program: str) -> dict[str, tuple[int, int]]:
        """Executions and time of the ops of a program, by name."""
        match = _PROGRAM_ID.search(program)
        wanted = int(match[1]) if match else None
        counts = self.core.run_counts
        return {
            s.name: counts[k]
            for k, s in self.core.sources.items()
            if k in counts and s.program_id == wanted
        }


def _resolved(
    source: OpSource, program: str, identity: Identity, op: Instruction, transfer: Instruction
) -> ResolvedOp | None:
    handler = op.attributes.get(HANDLER) or transfer.attributes.get(HANDLER)
    if not handler and identity is Identity.TEXT:
        return _unidentified(source, program)
    if handler != DCN_HANDLER:
        return None
    return ResolvedOp(
        program,
        op.name,
        _KINDS.get(op.opcode, source.kind or OpKind.SEND),
        identity,
        transfer.attributes.get(RENDEZVOUS, ""),
        transfer.attributes.get(TRANSFER_TYPE, ""),
        -1 if op.payload_bytes is None else op.payload_bytes,
        group_size(source, transfer),
    )


def _unidentified(source: OpSource, program: str) -> ResolvedOp:
    return ResolvedOp(program, source.name, source.kind or OpKind.SEND, Identity.NONE)
