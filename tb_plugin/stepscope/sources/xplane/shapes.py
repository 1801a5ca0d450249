"""Bytes of HLO shapes, from protos and from text.

Elements count at whole bytes unless the layout packs them; tiling and padding do not count; a bounded dynamic dimension
counts its bound; tokens are empty. See xla/xla_data.proto for the types and their numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Any

_TUPLE = 13
_TYPES: dict[str, tuple[int, int]] = {
    "pred": (1, 8), "s8": (2, 8), "s16": (3, 16), "s32": (4, 32), "s64": (5, 64),
    "u8": (6, 8), "u16": (7, 16), "u32": (8, 32), "u64": (9, 64),
    "f16": (10, 16), "f32": (11, 32), "f64": (12, 64), "opaque": (14, 0), "c64": (15, 64), "bf16": (16, 16),
    "token": (17, 0), "c128": (18, 128), "f8e5m2": (19, 8), "f8e4m3fn": (20, 8), "s4": (21, 8), "u4": (22, 8),
    "f8e4m3b11fnuz": (23, 8), "f8e5m2fnuz": (24, 8), "f8e4m3fnuz": (25, 8), "s2": (26, 8), "u2": (27, 8),
    "f8e4m3": (28, 8), "f8e3m4": (29, 8), "s1": (30, 8), "u1": (31, 8), "f4e2m1fn": (32, 8), "f8e8m0fnu": (33, 8),
}  # fmt: skip
_BITS_BY_NUMBER = dict(_TYPES.values())
_NAMES_BY_NUMBER = {number: name for name, (number, _) in _TYPES.items()}


@dataclass(frozen=True)
class Shape:
    """An array or a tuple of shapes.

    Attributes:
        type: The element type's word, empty for a tuple or an unknown type.
        bits: Bits per element, None when the type is unknown.
        parts: The elements of a tuple, None for an array.
    """

    type: str = ""
    dimensions: tuple[int, ...] = ()
    bits: int | None = None
    parts: tuple[Shape, ...] | None = None

    @property
    def bytes(self) -> int | None:
        """Bytes of all arrays in it, None when an element type is unknown."""
        total, waiting = 0, [self]
        while waiting:
            shape = waiting.pop()
            if shape.parts is not None:
                waiting += shape.parts
            elif shape.bits is None:
                return None
            else:
                total += -(-prod(shape.dimensions) * shape.bits // 8)
        return total


def payload_bytes(opcode: str, shape: Shape | None) -> int | None:
    """Bytes that a host transfer moves, by its result's shape; None for a send-done, whose result is a token.

    A send or recv gives (data, context, token), a recv-done (data..., token).
    """
    if shape is None or opcode not in ("send", "recv", "recv-done"):
        return None
    if opcode != "recv-done" and shape.parts:
        return shape.parts[0].bytes
    return shape.bytes


def shape_of_proto(proto: Any) -> Shape:
    """The shape of an `xla.ShapeProto`, which protobuf nests at most 100 deep."""
    if proto.element_type == _TUPLE:
        return Shape(parts=tuple(shape_of_proto(part) for part in proto.tuple_shapes))
    bits = proto.layout.element_size_in_bits or _BITS_BY_NUMBER.get(proto.element_type)
    return Shape(_NAMES_BY_NUMBER.get(proto.element_type, ""), tuple(proto.dimensions), bits)


_ARRAY = re.compile(r"\s*([a-z][a-z0-9]*)\[([^\]]*)\]")
_LAYOUT = re.compile(r"\{[^{}]*\}")
_ELEMENT_BITS = re.compile(r"E\((\d+)\)")
_SEPARATOR = re.compile(r"\s*(?:/\*[^*]*\*/)?\s*([(),]?)")


def shape_of_text(text: str, position: int = 0) -> tuple[Shape | None, int]:
    """The shape that starts at a position of an HLO text, and the position after it; None where there is none."""
    open_tuples: list[list[Shape]] = []
    while True:
        mark = _SEPARATOR.match(text, position)
        sign, position = (mark[1], mark.end()) if mark else ("", position)
        shape: Shape | None
        if sign == "(":
            open_tuples.append([])
            continue
        if sign == "," and open_tuples:
            continue
        if sign == ")" and open_tuples:
            shape = Shape(parts=tuple(open_tuples.pop()))
        else:
            shape, position = _array_of_text(text, position)
        if shape is None or not open_tuples:
            return shape, position
        open_tuples[-1].append(shape)


def _array_of_text(text: str, position: int) -> tuple[Shape | None, int]:
    match = _ARRAY.match(text, position)
    if not match:
        return None, position
    layout = _LAYOUT.match(text, match.end())
    packed = _ELEMENT_BITS.search(layout[0]) if layout else None
    sizes = re.findall(r"\d+", match[2])
    bits = int(packed[1]) if packed else _TYPES.get(match[1], (0, None))[1]
    return Shape(match[1], tuple(map(int, sizes)), bits), (layout or match).end()
