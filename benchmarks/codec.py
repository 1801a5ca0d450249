"""Time to encode and decode a profile of 1M nodes, beside pickle and protobuf's repeated fields with the same columns.

Run: python benchmarks/codec.py [nodes]
"""

from __future__ import annotations

import dataclasses
import pickle
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from stepscope.model.columns import Strings, decode, encode
from stepscope.model.profile import Nodes, NodeSteps, Profile


def profile(size: int) -> Profile:
    """Every column of nodes and node_steps filled with values of its own."""
    random = np.random.default_rng(0)
    groups: dict[str, Any] = {}
    for name, kind in (("nodes", Nodes), ("node_steps", NodeSteps)):
        dtypes = {spec.name: spec.metadata["dtype"] for spec in dataclasses.fields(kind)}
        columns = {column: random.integers(0, 100, size, dtype) for column, dtype in dtypes.items()}
        groups[name] = kind(**columns)
    return Profile(strings=Strings.of(f"model/layer_{i}/op" for i in range(size)), **groups)


def repeated_message(record: Profile) -> tuple[type[Any], dict[str, np.ndarray[Any, Any]]]:
    """A message with a packed repeated int64 field for each column, and the columns."""
    columns = {
        f"{group}_{spec.name}": getattr(getattr(record, group), spec.name)
        for group in ("nodes", "node_steps")
        for spec in dataclasses.fields(getattr(record, group))
    }
    file = descriptor_pb2.FileDescriptorProto(name="bench.proto", package="bench", syntax="proto3")
    message = file.message_type.add(name="Repeated")
    for number, name in enumerate(columns, 1):
        message.field.add(name=name, number=number, label=3, type=3)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("bench.Repeated")), columns


def best(function: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    times, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3, result


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    record = profile(size)
    encoding, elements = best(lambda: encode(record))
    bodies = [element.body for element in elements]
    decoding, decoded = best(lambda: decode(Profile, bodies))
    assert decoded == record
    pickling, pickled = best(lambda: pickle.dumps(record, 5))
    unpickling, _ = best(lambda: pickle.loads(pickled))
    message_type, columns = repeated_message(record)

    def fill() -> bytes:
        message = message_type()
        for name, column in columns.items():
            getattr(message, name).extend(column.tolist())
        return bytes(message.SerializeToString())

    def parse() -> list[Any]:
        message = message_type.FromString(filled)
        return [np.fromiter(getattr(message, name), np.int64, size) for name in columns]

    filling, filled = best(fill, 1)
    parsing, _ = best(parse, 1)
    print(f"{size} nodes, {len(columns)} columns and a string table")
    print(f"{'':28}{'encode ms':>10}{'decode ms':>10}{'MB':>8}")
    for name, out, back, stored in (
        ("StepScope", encoding, decoding, sum(map(len, bodies))),
        ("pickle, protocol 5", pickling, unpickling, len(pickled)),
        ("protobuf, repeated fields", filling, parsing, len(filled)),
    ):
        print(f"{name:28}{out:10.1f}{back:10.1f}{stored / 1e6:8.1f}")
    print(f"ratio to pickle: encode {encoding / pickling:.2f}, decode {decoding / unpickling:.2f}")
    print(f"ratio to protobuf: encode {encoding / filling:.3f}, decode {decoding / parsing:.3f}")


if __name__ == "__main__":
    main()
