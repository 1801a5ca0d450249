"""Damaged and hostile traces cost time that grows with their size, and give what can be read."""

from __future__ import annotations

import gzip
import json
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import SourceError
from stepscope.model.profile import Profile
from stepscope.sources import torch_trace

SIZE = 1 << 18
SECONDS = 12.0
"""For a quarter of a mebibyte. Before, these took from 20 seconds to hours."""

HEAD = '{"schemaVersion": 1, "traceEvents": ['
EVENT = '{"ph": "X", "cat": "cpu_op", "name": "a"b", "ts": 1, "dur": 1'


def op(number: int, **args: Any) -> dict[str, Any]:
    place = {"pid": 1, "tid": 1, "ts": number * 10, "dur": 5}
    return {"ph": "X", "cat": "cpu_op", "name": f"op{number}", **place, "args": args}


def read(path: Path, content: str | bytes) -> Profile:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    profile = torch_trace.read(path).records[0].record
    assert isinstance(profile, Profile)
    profile.validate()
    return profile


def said(profile: Profile) -> list[str]:
    return [loss.what for loss in profile.header.losses]


def of_lists(count: int = SIZE // 350) -> str:
    objects = [{"name": number} for number in range(20)]
    return (
        HEAD + ", ".join(json.dumps(op(number, objects=objects)) for number in range(count)) + "]}"
    )


HOSTILE: dict[str, Callable[[], str]] = {
    "blanks in an event": lambda: HEAD + '{"ph": "X", "name": "a"' + " " * SIZE + 'x, "ts": 1}]}',
    "blanks before a brace": lambda: HEAD + EVENT + ', "args": {}' + " " * SIZE + "x}]}",
    "blanks after the list": lambda: HEAD + '{"ph": "X", "name": "a", "ts": 1}]' + " " * SIZE + "x",
    "escaped quotes": lambda: (
        HEAD + '{"ph": "X", "name": "' + '\\"' * (SIZE // 2) + 'x, "ts": 1}]}'
    ),
    "the key of a name": lambda: HEAD + '{"ph": "X", ' + '"name": "' * (SIZE // 9) + "x}]}",
    "the key of arguments": lambda: HEAD + '{"ph": "X", ' + '"args": {' * (SIZE // 9) + "x}]}",
    "openings in openings": lambda: HEAD + '{"name": ' * (SIZE // 9) + "x}]}",
    "openings of events": lambda: HEAD + '{"ph": "X", "name": "a" ' * (SIZE // 24) + "x}]}",
    "commas": lambda: HEAD + EVENT + ", " * (SIZE // 2) + "x}]}",
    "braces": lambda: HEAD + EVENT + "}" * SIZE + "x}]}",
    "ends of lists": lambda: HEAD + EVENT + '}], "' * (SIZE // 5) + "x}]}",
    "backslashes": lambda: HEAD + '{"ph": "X", "name": "a"b' + "\\" * SIZE + '", "ts": 1}]}',
    "quotes": lambda: HEAD + EVENT + '"' * SIZE + "}]}",
    "words": lambda: (
        HEAD
        + '{"ph": "X", "name": "a", "ts": 1, "args": {"x": ['
        + "nan, " * (SIZE // 5)
        + "y]}}]}"
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_takes_time_by_its_size(kind: str, tmp_path: Path) -> None:
    text = HOSTILE[kind]()
    start = time.process_time()
    read(tmp_path / "t.json", text)
    assert time.process_time() - start < SECONDS


def test_arguments_with_lists_of_objects_are_no_events(tmp_path: Path) -> None:
    start = time.process_time()
    profile = read(tmp_path / "t.json", of_lists())
    assert time.process_time() - start < SECONDS
    assert len(profile.executions) == SIZE // 350
    assert said(profile) == []


def test_one_broken_event_among_lists_of_objects_costs_itself(tmp_path: Path) -> None:
    profile = read(tmp_path / "t.json", of_lists(300).replace('"op100"', '"op"100"'))
    assert len(profile.executions) == 300
    assert 'op"100' in list(profile.strings)
    assert said(profile) == ["repaired 1 event: not valid JSON"]


def test_an_event_larger_than_a_chunk_is_read(tmp_path: Path) -> None:
    objects = [{"name": f"x{number}"} for number in range(200_000)]
    events = [op(0), op(1, objects=objects), op(2)]
    profile = read(tmp_path / "t.json", json.dumps({"schemaVersion": 1, "traceEvents": events}))
    assert len(profile.executions) == 3
    assert said(profile) == []


@pytest.mark.parametrize("cut", [(700, 2400), (705, 2411), (650, 1800), (123, 3000)])
def test_two_writers_of_one_file_make_no_events_up(cut: tuple[int, int], tmp_path: Path) -> None:
    def text(pid: int, name: str) -> bytes:
        events = [op(number) | {"name": name, "pid": pid, "tid": pid} for number in range(60)]
        return json.dumps({"schemaVersion": 1, "traceEvents": events}, indent=1).encode()

    first, second = text(1, "aten::mm"), text(2, "aten::add")
    profile = read(tmp_path / "t.json", first[: cut[0]] + second[cut[0] : cut[1]] + first[cut[1] :])
    names = {profile.strings[number] for number in profile.nodes.name.tolist()}
    assert names <= {"aten::mm", "aten::add"}
    starts = set((profile.executions.start_ticks + 0).tolist())
    assert starts <= {number * 10_000 for number in range(60)}
    assert any("dropped" in what or "repaired" in what for what in said(profile))


@pytest.mark.parametrize("seed", range(12))
def test_a_flipped_bit_in_a_small_gzip_gives_what_precedes_it(seed: int, tmp_path: Path) -> None:
    text = (
        HEAD
        + ", ".join(
            json.dumps(op(number, tag=str(zlib.crc32(bytes([number]))))) for number in range(100)
        )
        + "]}"
    )
    packed = bytearray(gzip.compress(text.encode()))
    place = len(packed) // 2 + seed * 17
    packed[place] ^= 1 << (seed % 8)
    try:
        profile = read(tmp_path / "t.json.gz", bytes(packed))
    except SourceError as error:
        pytest.fail(str(error))
    assert len(profile.executions) >= 20
    assert said(profile)


def test_calls_nested_very_deep_take_time_by_their_number(tmp_path: Path) -> None:
    depth = 30_000
    events = []
    for level in range(depth):
        place = {"pid": 1, "tid": 1, "ts": level, "dur": 2 * (depth - level)}
        events.append({"ph": "X", "cat": "cpu_op", "name": f"f{level % 7}", **place, "args": {}})
    text = json.dumps({"schemaVersion": 1, "traceEvents": events})
    start = time.process_time()
    profile = read(tmp_path / "t.json", text)
    assert time.process_time() - start < SECONDS
    assert len(profile.nodes) == depth
    assert int(profile.node_steps.host_ticks.sum()) == int(profile.executions.duration_ticks.max())
