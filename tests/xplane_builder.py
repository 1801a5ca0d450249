"""Makes XPlane files for tests: cores, module executions, collectives and their HLO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepscope.pb import hlo_pb2, xplane_pb2

US = 1_000_000
PROGRAM = "jit_step(77)"
BF16, F32, TUPLE, TOKEN = 16, 11, 13, 17
OPS = ("send", "recv", "send-done", "recv-done")


def array(element_type: int, *dimensions: int) -> Any:
    return hlo_pb2.Shape(element_type=element_type, dimensions=dimensions)


def tuple_of(*shapes: Any) -> Any:
    return hlo_pb2.Shape(element_type=TUPLE, tuple_shapes=shapes)


@dataclass
class Collective:
    """The four instructions of a collective, called `send<suffix>` and so on."""

    rendezvous: str = "psum.7_0"
    transfer_type: str = "ALL_REDUCE"
    suffix: str = ""
    payload: Any = field(default_factory=lambda: array(BF16, 1024, 1024))
    handler: str = "xla_megascale_runtime"
    target: str = "{1,2}x{0:0}"
    info_slices: int = 2

    def instructions(self, first_id: int) -> list[Any]:
        token = hlo_pb2.Shape(element_type=TOKEN)
        ids = {op: first_id + i for i, op in enumerate(OPS)}
        operands = {"send-done": ["send"], "recv-done": ["recv"]}
        found = []
        for op in OPS:
            instruction = hlo_pb2.Instruction(
                name=f"{op}{self.suffix}".encode(), opcode=op.encode(), id=ids[op]
            )
            instruction.operand_ids.extend(ids[name] for name in operands.get(op, []))
            attributes = instruction.frontend_attributes.map
            attributes["_xla_host_transfer_handler_name"] = self.handler.encode()
            if op in ("send", "recv"):
                attributes["_xla_host_transfer_rendezvous"] = self.rendezvous.encode()
                if self.transfer_type:
                    attributes["_xla_megascale_transfer_type"] = self.transfer_type.encode()
                if self.target:
                    attributes["_xla_megascale_target"] = self.target.encode()
                instruction.shape.CopyFrom(tuple_of(self.payload, array(8), token))
            else:
                instruction.shape.CopyFrom(
                    token if op == "send-done" else tuple_of(self.payload, token)
                )
            found.append(instruction)
        return found

    def info(self) -> bytes:
        info = xplane_pb2.DcnCollectiveInfo()
        group = info.endpoint_groups.add()
        for slice_id in range(self.info_slices):
            group.endpoints.add(slice_id=slice_id)
        return bytes(info.SerializeToString())


@dataclass
class Core:
    """A TPU core's plane.

    Attributes:
        executions: (program, start, duration) in us.
        ops: Lines of (name, start, duration) in us; an op belongs to the collective that has its suffix.
    """

    executions: Sequence[tuple[str, float, float]]
    ops: Sequence[Sequence[tuple[str, float, float]]]
    number: int = 0
    collectives: Sequence[Collective] = (Collective(),)
    timestamp_ns: int = 0
    texts: dict[str, str] = field(default_factory=dict)

    def plane(self) -> bytes:
        plane = xplane_pb2.Plane(name=f"/device:TPU:{self.number}".encode())
        self._stats = _Names(plane.stat_metadata)
        programs: dict[str, int] = {}
        for program, _, _ in self.executions:
            key = programs.setdefault(program, 1000 + len(programs))
            plane.event_metadata[key].name = program.encode()
        self._add_line(plane, "XLA Modules", [(programs[p], s, d) for p, s, d in self.executions])
        keys = self._add_instructions(plane)
        for ops in self.ops:
            self._add_line(
                plane, "XLA Ops", [(keys[name], start, duration) for name, start, duration in ops]
            )
        return bytes(plane.SerializeToString())

    def _add_instructions(self, plane: Any) -> dict[str, int]:
        keys = {}
        for collective in self.collectives:
            for op in OPS:
                name = f"{op}{collective.suffix}"
                keys[name] = len(keys) + 1
                metadata = plane.event_metadata[keys[name]]
                metadata.name = self.texts.get(name, f"%{name} = {op}(...)").encode()
                metadata.display_name = name.encode()
                metadata.stats.add(
                    metadata_id=self._stats("hlo_category"), str_value=f"host {op}".encode()
                )
                if collective.info_slices:
                    metadata.stats.add(
                        metadata_id=self._stats("dcn_collective_info"),
                        bytes_value=collective.info(),
                    )
        return keys

    def _add_line(self, plane: Any, name: str, events: Sequence[tuple[int, float, float]]) -> None:
        line = xplane_pb2.Line(name=name.encode(), timestamp_ns=self.timestamp_ns)
        for key, start, duration in events:
            line.events.append(event(key, round(start * US), round(duration * US)))
        plane.lines.append(line.SerializeToString())


class _Names:
    """Gives each stat name an id."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.ids: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        key = self.ids.setdefault(name, len(self.ids) + 1)
        self.table[key].name = name.encode()
        return key


def varint(value: int) -> bytes:
    value %= 1 << 64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def event(key: int, offset_ps: int, duration_ps: int, stats: bytes = b"") -> bytes:
    return (
        b"\x08" + varint(key) + b"\x10" + varint(offset_ps) + b"\x18" + varint(duration_ps) + stats
    )


def length_delimited(field_number: int, body: bytes) -> bytes:
    return varint(field_number << 3 | 2) + varint(len(body)) + body


def metadata_plane(programs: dict[str, Sequence[Collective]]) -> bytes:
    """The HLO of programs, as `/host:metadata` holds it."""
    plane = xplane_pb2.Plane(name=b"/host:metadata")
    plane.stat_metadata[1].name = b"Hlo Proto"
    for program, collectives in programs.items():
        name, number = program.rstrip(")").split("(")
        key = int(number) - (1 << 64 if int(number) >= 1 << 63 else 0)
        hlo = hlo_pb2.Hlo()
        hlo.hlo_module.name = name.encode()
        computation = hlo.hlo_module.computations.add(name=b"main", id=1)
        for i, collective in enumerate(collectives):
            computation.instructions.extend(collective.instructions(10 * i + 1))
        plane.event_metadata[key].name = program.encode()
        plane.event_metadata[key].stats.add(metadata_id=1, bytes_value=hlo.SerializeToString())
    return bytes(plane.SerializeToString())


def space(*planes: bytes) -> bytes:
    return b"".join(length_delimited(1, plane) for plane in planes)


def profile(*cores: Core, programs: dict[str, Sequence[Collective]] | None = None) -> bytes:
    """A file of cores, with the HLO of the programs; by default the first core's collectives in `PROGRAM`."""
    if programs is None:
        programs = {PROGRAM: cores[0].collectives}
    return space(*(core.plane() for core in cores), metadata_plane(programs))


def write(folder: Path, content: bytes, host: str = "host0") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{host}.xplane.pb"
    path.write_bytes(content)
    return path


def documented(start: float = 1000, suffix: str = "") -> list[tuple[str, float, float]]:
    """The documentation's timeline: send 10, 100, send-done 20, 200, recv 5, 300, recv-done 50 us."""
    return [
        (f"send{suffix}", start, 10),
        (f"send-done{suffix}", start + 110, 20),
        (f"recv{suffix}", start + 330, 5),
        (f"recv-done{suffix}", start + 635, 50),
    ]
