"""What the ops of a profile are: their type, scope, source line, shape, and what feeds them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stepscope.model.profile import NodeKind
from stepscope.sources.xplane.hlo import Program
from stepscope.sources.xplane.plane import text
from stepscope.sources.xplane.shapes import Shape, shape_of_proto, shape_of_text

Frame = tuple[str, int, str]
"""File, line and function."""


@dataclass(frozen=True)
class OpInfo:
    """A distinct op of a lane.

    Attributes:
        types: What it counts as: the op type first.
        kind: NodeKind; None for a Python call, which is a frame of what it calls.
        scope: The names around it, outermost first, without its own.
        frames: Where in the code it comes from, outermost first.
        program: The program and instruction that it executes, for the graph.
        launched_by: For work on a GPU, the framework op or HLO instruction that launched it.
    """

    name: str
    types: tuple[str, ...] = ()
    kind: NodeKind | None = NodeKind.OP
    device: str = ""
    scope: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    shape: Shape | None = None
    float_ops: int = 0
    program: tuple[int, str] | None = None
    launched_by: OpInfo | None = None


_PYTHON_CALL = re.compile(r"\$(?:(.*?):(\d+) )?(.*)")
_STACK_LINE = re.compile(r"(.*?):(\d+)(?::\d+)?\s*$")
_FRAMEWORK_OP = re.compile(r"([\w./<>()\[\]{}=,;@ -]*[^\s:]):([A-Za-z_]\w*)")


def python_call(name: str) -> OpInfo | None:
    """The frame of a Python tracer's event, `$file.py:12 function`; None for other events."""
    match = _PYTHON_CALL.fullmatch(name) if name.startswith("$") else None
    return (
        OpInfo(name, kind=None, frames=((match[1] or "", int(match[2] or 0), match[3]),))
        if match
        else None
    )


def framework_op(name: str, device: str, frames: tuple[Frame, ...] = ()) -> OpInfo | None:
    """TensorFlow's `scope/op:Type`; None where a name is none."""
    match = _FRAMEWORK_OP.match(name)
    if not match:
        return None
    *scope, _ = path = match[1].split("/")
    return OpInfo("/".join(path), (match[2],), device=device, scope=tuple(scope), frames=frames)


def scope_of(op_name: str) -> tuple[str, ...]:
    """The scopes of a framework name such as `jit(f)/jit(main)/add:`, without empty parts."""
    return tuple(part for part in op_name.rstrip(":").split("/") if part)


def stack_frames(stack: str, source: str = "") -> tuple[Frame, ...]:
    """The frames of a `source_stack` stat, one per line, or of a single `source`."""
    matches = (_STACK_LINE.match(line) for line in (stack or source).splitlines())
    return tuple((m[1], int(m[2]), "") for m in matches if m)


class ProgramOps:
    """The instructions of an HLO module, for profiles that name them only."""

    def __init__(self, program: Program) -> None:
        self.module = program.module

    @cached_property
    def _by_name(self) -> dict[str, Any]:
        return {text(i.name): i for c in self.module.computations for i in c.instructions}

    @cached_property
    def _by_id(self) -> dict[int, Any]:
        return {i.id: i for i in self._by_name.values()}

    def describe(self, name: str, device: str, program_id: int) -> OpInfo:
        """An instruction, with what the module knows of it."""
        instruction = self._by_name.get(name)
        scope = (text(self.module.name),)
        if instruction is None:
            return OpInfo(
                name,
                (re.sub(r"[.\d]+$", "", name),),
                device=device,
                scope=scope,
                program=(program_id, name),
            )
        metadata = instruction.metadata
        op_name = text(metadata.op_name)
        return OpInfo(
            name,
            tuple(
                dict.fromkeys(
                    filter(
                        None, (self._category(instruction), text(metadata.op_type), _last(op_name))
                    )
                )
            ),
            device=device,
            scope=scope_of(op_name) or scope,
            frames=self._frames(metadata),
            shape=shape_of_proto(instruction.shape),
            program=(program_id, name),
        )

    def _category(self, instruction: Any) -> str:
        opcode = text(instruction.opcode)
        if opcode == "custom-call":
            return text(instruction.custom_call_target) or opcode
        kind = text(instruction.fusion_kind)
        return f"{kind.removeprefix('k').lower()} fusion" if opcode == "fusion" and kind else opcode

    def _frames(self, metadata: Any) -> tuple[Frame, ...]:
        index, at = self.module.stack_frame_index, metadata.stack_frame_id
        found: list[Frame] = []
        while 0 < at <= len(index.stack_frames) and len(found) < _DEEPEST_STACK:
            frame = index.stack_frames[at - 1]
            place = frame.file_location_id
            if 0 < place <= len(index.file_locations):
                found.append(_location(index, index.file_locations[place - 1]))
            at = frame.parent_frame_id
        if not found and metadata.source_file:
            found = [(text(metadata.source_file), metadata.source_line, "")]
        return tuple(reversed(found))

    def operands(self, name: str, executed: Mapping[str, int]) -> list[int]:
        """The executed instructions whose results an instruction takes, also through instructions that cost nothing."""
        found: list[int] = []
        seen: set[int] = set()
        start = self._by_name.get(name)
        waiting = list(reversed(start.operand_ids)) if start is not None else []
        while waiting:
            at = waiting.pop()
            instruction = self._by_id.get(at)
            if at in seen or instruction is None:
                continue
            seen.add(at)
            row = executed.get(text(instruction.name))
            if row is not None:
                found.append(row)
            else:
                waiting += reversed(instruction.operand_ids)
        return found


_DEEPEST_STACK = 1000


def _location(index: Any, location: Any) -> Frame:
    def pick(table: Any, number: int) -> str:
        return text(table[number - 1]) if 0 < number <= len(table) else ""

    return (
        pick(index.file_names, location.file_name_id),
        location.line,
        pick(index.function_names, location.function_name_id),
    )


def _last(op_name: str) -> str:
    return op_name.rstrip(":").rpartition("/")[2]


def device_op(
    name: str, stats: Mapping[str, Any], device: str, programs: Mapping[int, ProgramOps]
) -> OpInfo:
    """An op of a TPU plane, by the stats of its metadata. Without a framework name its scope is its program's name."""
    op_name = str(stats.get("tf_op", ""))
    program = stats.get("program_id")
    program_id = program % (1 << 64) if isinstance(program, int) else None
    module = programs.get(program_id) if program_id is not None else None
    category = str(stats.get("hlo_category", "")) or re.sub(r"[.\d]+$", "", name)
    shape = shape_of_text(str(stats.get("shape_with_layout", "")))[0]
    flops = stats.get("flops", 0)
    return OpInfo(
        name,
        tuple(dict.fromkeys(filter(None, (category, _last(op_name))))),
        device=device,
        scope=scope_of(op_name) or ((text(module.module.name),) if module else ()),
        frames=stack_frames(str(stats.get("source_stack", "")), str(stats.get("source", ""))),
        shape=shape,
        float_ops=int(flops) if isinstance(flops, int | float) and 0 <= flops < 2**63 else 0,
        program=None if program_id is None else (program_id, name),
    )
