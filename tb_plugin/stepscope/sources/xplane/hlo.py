"""HLO instructions of host transfers: from a program's proto, or from the instruction text that profiles carry.

A `-done` op names no collective: it is found along its operand, from recv-done to recv. Channel ids are of no use here,
because every program counts them from 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from google.protobuf.message import DecodeError

from stepscope.pb import hlo_pb2
from stepscope.sources.xplane.shapes import payload_bytes, shape_of_proto, shape_of_text

HANDLER = "_xla_host_transfer_handler_name"
RENDEZVOUS = "_xla_host_transfer_rendezvous"
TRANSFER_TYPE = "_xla_megascale_transfer_type"
TARGET = "_xla_megascale_target"
DCN_HANDLER = "xla_megascale_runtime"

_TRANSPARENT = frozenset(
    {"get-tuple-element", "tuple", "copy", "bitcast", "opt-barrier", "optimization-barrier"}
)
_TRANSFERS = frozenset({"send", "recv"})


@dataclass(frozen=True)
class Instruction:
    """An instruction, as far as host transfers need it.

    Attributes:
        operands: Names of the instructions whose results it takes.
        attributes: The frontend attributes.
        payload_bytes: Bytes that it sends or receives; None when they are unknown or it does neither.
    """

    name: str
    opcode: str
    operands: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    payload_bytes: int | None = None


def transfer_of(instruction: Instruction, find: Mapping[str, Instruction]) -> Instruction:
    """The send or recv that starts what the instruction ends: itself, or found along the operands."""
    seen, waiting = set(), [instruction]
    while waiting:
        at = waiting.pop()
        if at.opcode in _TRANSFERS or RENDEZVOUS in at.attributes:
            return at
        seen.add(at.name)
        if at is instruction or at.opcode in _TRANSPARENT:
            waiting += [find[name] for name in at.operands if name in find and name not in seen]
    return instruction


def group_size_of_target(target: str) -> int:
    """How many slices exchange data, from the target attribute; 0 when it does not say.

    `{1,2,3,4}x{0:7}` names slices and the devices of each that take part: every device exchanges data with its peers on
    the other slices. `{{100000->200000},...}` is one-to-one.
    """
    if "->" in target:
        return 1
    match = re.match(r"\{+([^{}]*)\}", target)
    return sum(_span(item) for item in match[1].split(",")) if match else 0


def _span(item: str) -> int:
    first, _, last = (part.strip() for part in item.partition(":"))
    if not first.isdigit() or (last and not last.isdigit()):
        return 0
    return int(last) - int(first) + 1 if last else 1


class Program:
    """An HLO module of the profile."""

    def __init__(self, module: Any) -> None:
        self.module = module

    @classmethod
    def parse(cls, body: bytes) -> Program | None:
        """Reads an `xla.HloProto`; None where it is none or has no instructions."""
        try:
            module = hlo_pb2.Hlo.FromString(body).hlo_module
        except DecodeError:
            return None
        return cls(module) if module.computations else None

    @cached_property
    def instructions(self) -> dict[str, Instruction]:
        """The host transfers and what leads to them, by name."""
        names = {i.id: i.name for c in self.module.computations for i in c.instructions}
        wanted = _TRANSPARENT | _TRANSFERS | {"send-done", "recv-done"}
        found = {}
        for computation in self.module.computations:
            for proto in computation.instructions:
                opcode = proto.opcode.decode("utf-8", "replace")
                if opcode in wanted:
                    instruction = _of_proto(proto, opcode, names)
                    found[instruction.name] = instruction
        return found

    @cached_property
    def _by_folded_name(self) -> dict[str, Instruction]:
        return {name.lower(): instruction for name, instruction in self.instructions.items()}

    def find(self, name: str) -> Instruction | None:
        """The host transfer of a name, in any case of letters."""
        return self.instructions.get(name) or self._by_folded_name.get(name.lower())


def _of_proto(proto: Any, opcode: str, names: Mapping[int, bytes]) -> Instruction:
    operands = tuple(names[i].decode("utf-8", "replace") for i in proto.operand_ids if i in names)
    attributes = {k: v.decode("utf-8", "replace") for k, v in proto.frontend_attributes.map.items()}
    size = payload_bytes(opcode, shape_of_proto(proto.shape))
    return Instruction(proto.name.decode("utf-8", "replace"), opcode, operands, attributes, size)


_HEAD = re.compile(r"\s*(?:ROOT\s+)?%?([^\s=]+)\s*=\s*")
_OPCODE = re.compile(r"\s*([a-z][a-z0-9-]*)\(")
_OPERAND = re.compile(r"%([^\s,()]+)")
_ATTRIBUTE = re.compile(r'(_xla_\w+)=(?:"((?:[^"\\]|\\.)*)"|(\{(?:[^{}]|\{[^{}]*\})*\}))')


def parse_instruction(text: str) -> Instruction | None:
    """Reads an instruction's text; None where it is none or is cut short.

    `%recv-done = (bf16[8]{0}, token[]) recv-done((bf16[8]{0}, u32[], token[]) %recv), ..., frontend_attributes={...}`
    """
    head = _HEAD.match(text)
    if not head:
        return None
    shape, after = shape_of_text(text, head.end())
    opcode = _OPCODE.match(text, after) if shape is not None else None
    if not opcode:
        return None
    arguments = text[opcode.end() : _closing(text, opcode.end())]
    attributes = {
        name: _unescape(quoted) or braces for name, quoted, braces in _ATTRIBUTE.findall(text)
    }
    size = payload_bytes(opcode[1], shape)
    return Instruction(head[1], opcode[1], tuple(_OPERAND.findall(arguments)), attributes, size)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _closing(text: str, start: int) -> int:
    depth = 1
    for match in re.compile(r"[()]").finditer(text, start):
        depth += 1 if match[0] == "(" else -1
        if not depth:
            return match.start()
    return len(text)
