"""Damaged and odd traces: what is whole is shown, whatever is beside it, and what was lost is said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import DamagedSource
from stepscope.lenses.trace.executions import Executions
from stepscope.model.columns import encode
from stepscope.model.profile import Profile
from stepscope.sources import torch_trace

ABSENT = object()
NAMES = [f"aten::op{i}" for i in range(5)]
CUT = "the file is cut off; the events before the cut are shown"
JOINED = "2 lists of events in one file, shown together"
NO_BASE = "the time base cannot be used: the time of day is unknown"


def event(**fields: Any) -> dict[str, Any]:
    whole = {
        "ph": "X",
        "cat": "cpu_op",
        "name": "odd",
        "pid": 1,
        "tid": 1,
        "ts": 300.0,
        "dur": 10.0,
        "args": {},
    }
    return {key: value for key, value in {**whole, **fields}.items() if value is not ABSENT}


GOOD = [event(name=name, ts=100.0 + 20 * i, args={"Ev Idx": i}) for i, name in enumerate(NAMES)]
MANY = [event(name=f"aten::op{i % 5}", ts=100.0 + 20 * i) for i in range(12_000)]
"""More than is read at once."""


def trace(*events: Any, **top: Any) -> str:
    return json.dumps(
        {"schemaVersion": 1, "deviceProperties": [], **top, "traceEvents": events or GOOD}
    )


def read(tmp_path: Path, content: str | bytes, name: str = "worker0.pt.trace.json") -> Profile:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    profile = torch_trace.read(path).records[0].record
    assert isinstance(profile, Profile)
    profile.validate()
    assert encode(profile)
    return profile


def names(profile: Profile) -> list[str]:
    return [profile.strings[i] for i in profile.nodes.name[profile.executions.node].tolist()]


def said(profile: Profile) -> list[str]:
    return [loss.what for loss in profile.header.losses]


def one(**fields: Any) -> str:
    return trace(*GOOD, event(**fields))


HUGE = {"External id": 2**90, "correlation": 2**65, "Sequence number": 2**64, "Fwd thread id": "x"}
ODD_EVENTS: dict[str, tuple[dict[str, Any], bool, list[str]]] = {
    "no time": ({"ts": ABSENT}, False, ["1 event without a start time"]),
    "a time that is no number": ({"ts": {"a": 1}}, False, ["1 event without a start time"]),
    "a time beyond all clocks": ({"ts": 2**70}, False, ["1 event without a start time"]),
    "a time far away": ({"ts": 9e15}, False, ["1 event more than 100 days away from the others"]),
    "no duration": ({"dur": ABSENT}, True, ["1 event without a duration, taken as 0"]),
    "a duration in words": ({"dur": "long"}, True, ["1 event without a duration, taken as 0"]),
    "a duration of years": ({"dur": 9e15}, True, ["1 event without a duration, taken as 0"]),
    "a negative duration": ({"dur": -5}, True, ["1 event of negative duration, taken as 0"]),
    "numbers in quotes": ({"ts": "300.5", "dur": "1e1"}, True, []),
    "no thread": ({"pid": ABSENT, "tid": ABSENT}, True, []),
    "a list for a thread": ({"tid": [1]}, True, []),
    "huge threads": ({"pid": 2**80, "tid": -(2**70)}, True, []),
    "huge arguments": ({"args": HUGE}, True, []),
    "arguments that are a list": ({"args": [1, 2]}, True, []),
    "arguments that are a text": ({"args": "x"}, True, []),
    "no arguments": ({"args": None}, True, []),
    "arguments of other types": (
        {"args": {"Input Dims": "oops", "Call stack": 7, "Sequence number": []}},
        True,
        [],
    ),
}


@pytest.mark.parametrize(
    ("fields", "is_kept", "losses"), ODD_EVENTS.values(), ids=ODD_EVENTS.keys()
)
def test_an_odd_event_costs_at_most_itself(
    tmp_path: Path, fields: dict[str, Any], is_kept: bool, losses: list[str]
) -> None:
    profile = read(tmp_path, one(**fields))
    assert sorted(names(profile)) == NAMES + ["odd"] * is_kept
    assert said(profile) == losses


AGAIN = trace(event(name="second", ts=900.0))
LISTS: dict[str, tuple[str, list[str], list[str]]] = {
    "put one after the other": (trace() + AGAIN, [*NAMES, "second"], [JOINED]),
    "on lines of their own": (trace() + "\n" + AGAIN + "\n", [*NAMES, "second"], [JOINED]),
    "with keys behind": (
        trace()[:-1] + ', "traceName": "a"}' + AGAIN,
        [*NAMES, "second"],
        [JOINED],
    ),
    "bare": (json.dumps(GOOD) + json.dumps([event(name="second")]), [*NAMES, "second"], [JOINED]),
    "one of them empty": (
        trace().replace('"traceEvents"', '"traceEvents": [], "traceEvents"'),
        NAMES,
        [JOINED],
    ),
    "with other things in it": (
        trace(GOOD[0], 5, GOOD[1], None, GOOD[2], [1], "x", GOOD[3], GOOD[4]),
        NAMES,
        ["dropped 3 events: nothing could be understood"],
    ),
    "that ends in other things": (
        trace(*GOOD, 5, "x", []),
        NAMES,
        ["dropped 3 events: nothing could be understood"],
    ),
    "that does not end": (json.dumps(GOOD)[:-1], NAMES, [CUT]),
    "that ends in a comma": (json.dumps(GOOD)[:-1] + ", ", NAMES, [CUT]),
    "that ends in an event": (trace()[:-20], NAMES[:-1], [CUT]),
    "with something behind": (
        trace() + "xxxx",
        NAMES,
        ["something after the end of the trace is left out"],
    ),
    "without commas": (trace().replace('}, {"ph"', '} {"ph"'), NAMES, []),
    "without its end": (trace()[:-2] + "}", NAMES, [CUT]),
    "first in the file": (json.dumps({"traceEvents": GOOD, "schemaVersion": 1}), NAMES, []),
    "after a mark of byte order": ("\ufeff" + trace(), NAMES, []),
    "bare and whole": (json.dumps(GOOD), NAMES, []),
}


@pytest.mark.parametrize(("text", "found", "losses"), LISTS.values(), ids=LISTS.keys())
def test_lists_of_events_are_read_to_their_end(
    tmp_path: Path, text: str, found: list[str], losses: list[str]
) -> None:
    profile = read(tmp_path, text)
    assert names(profile) == found
    assert [loss for loss in said(profile) if "properties" not in loss] == losses


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (trace(*MANY)[:-1] + ', "traceName": "a"}\n' + trace(*MANY), 2 * len(MANY)),
        (trace(*MANY[:7000], 5, None, *MANY[7000:], "x"), len(MANY)),
        (trace(*MANY) + "garbage" * 1000, len(MANY)),
        (trace(*MANY).replace('}, {"ph"', '} {"ph"'), len(MANY)),
        (trace(*(one for event in MANY for one in (event, None))), len(MANY)),
    ],
)
def test_no_event_is_lost_where_a_file_is_read_in_pieces(
    tmp_path: Path, text: str, count: int
) -> None:
    assert len(read(tmp_path, text).executions) == count


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99, 1.0])
def test_a_cut_off_gzip_stream_gives_what_comes_before_the_cut(
    tmp_path: Path, share: float
) -> None:
    packed = gzip.compress(trace(*MANY).encode())
    profile = read(tmp_path, packed[: int(len(packed) * share) - 4], "worker0.pt.trace.json.gz")
    assert 0.9 * share * len(MANY) <= len(profile.executions) <= len(MANY)
    assert said(profile) == ["gzip stream cut off; what comes before is shown"]


def test_bytes_that_are_not_utf8_are_replaced(tmp_path: Path) -> None:
    profile = read(tmp_path, trace().encode().replace(b"op2", b"\xff\xfe"))
    assert names(profile)[2] == "aten::\ufffd\ufffd"
    assert said(profile) == ["replaced bytes that are not UTF-8 in names"]


def test_words_for_numbers_are_missing_values_and_the_last_of_two_keys_wins(tmp_path: Path) -> None:
    text = (
        trace().replace('"ts": 120.0', '"ts": NaN').replace('"ts": 100.0', '"ts": 5, "ts": 100.0')
    )
    profile = read(tmp_path, text)
    assert names(profile) == [NAMES[0], *NAMES[2:]]
    assert int(profile.executions.start_ticks[1]) == 40_000
    assert "1 event without a start time" in said(profile)


@pytest.mark.parametrize(
    ("base", "anchor"),
    [
        (1790857026 * 10**9, 1790857026000100000),
        ("1790857026000000000", 1790857026000100000),
        (1.5e18, 15 * 10**17 + 10**5),
    ],
)
def test_the_time_base_is_read_however_it_is_written(
    tmp_path: Path, base: object, anchor: int
) -> None:
    profile = read(tmp_path, trace(baseTimeNanoseconds=base, displayTimeUnit="ms"))
    assert profile.header.wall_anchor_ns == anchor
    assert int(profile.executions.duration_ticks[0]) == 10_000


@pytest.mark.parametrize("base", [2**63 - 5, 10**25, -5, {"a": 1}, "soon"])
def test_a_time_base_that_is_no_time_costs_the_time_of_day(tmp_path: Path, base: object) -> None:
    profile = read(tmp_path, trace(baseTimeNanoseconds=base))
    assert (names(profile), profile.header.wall_anchor_ns) == (NAMES, 0)
    assert NO_BASE in said(profile)


def test_odd_properties_cost_at_most_themselves(tmp_path: Path) -> None:
    devices = [
        {"id": 0, "name": "GPU", "totalGlobalMem": 2**70, "computeMajor": 2**40, "numSms": -3},
        {"id": "x"},
        {},
    ]
    info = {"rank": "3", "world_size": 2**40, "backend": 5}
    profile = read(tmp_path, trace(deviceProperties=devices, distributedInfo=info))
    assert (profile.header.rank, profile.header.world_size) == (3, 0)
    assert (profile.devices.compute_major.tolist(), profile.devices.multiprocessors.tolist()) == (
        [0, 0, 0],
        [0, 0, 0],
    )
    profile = read(
        tmp_path, trace(deviceProperties={"x": 1}, distributedInfo={"rank": 2, "world_size": 4})
    )
    assert (profile.header.rank, names(profile)) == (2, NAMES)
    assert said(profile) == [
        "the file's properties are not valid JSON: devices and rank are unknown"
    ]


def test_odd_work_of_accelerators_and_memory_answers_every_question(tmp_path: Path) -> None:
    memory = {
        "Bytes": 2**62,
        "Addr": 2**64 - 1,
        "Device Type": 2**40,
        "Device Id": None,
        "Total Allocated": "9",
    }
    moment = {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 1,
        "tid": 1,
        "ts": 105,
    }
    profile = read(
        tmp_path,
        trace(
            event(name="launch", cat="cuda_runtime", args={"correlation": 7}),
            event(
                name="k",
                cat="kernel",
                pid=ABSENT,
                args={"correlation": "7", "grid": "x", "blocks per SM": "1e999"},
            ),
            event(name="c", cat="gpu_memcpy", args=[3]),
            {**moment, "args": memory},
            {**moment, "args": None},
            {"ph": "s", "cat": "fwdbwd", "id": {"a": 1}, "ts": 101},
            {"ph": "f", "cat": "fwdbwd", "ts": 121},
        ),
    )
    asked = Executions(profile)
    assert asked.kernels()["count"] == 2
    assert asked.timeline()["lanes"]
    assert asked.breakdown.to_json()["steps"]
    assert asked.memory()["devices"]


@pytest.mark.parametrize(
    "text", ["", "  \n ", "{}", "<html>404</html>", "\0" * 100, '{"traceEvents": null}']
)
def test_what_holds_no_list_of_events_is_refused_in_words(tmp_path: Path, text: str) -> None:
    with pytest.raises(DamagedSource, match=r"empty file|no list of traceEvents"):
        read(tmp_path, text)


def test_an_empty_list_is_an_empty_profile_that_says_so(tmp_path: Path) -> None:
    for text in ("[]", json.dumps({"schemaVersion": 1, "traceEvents": []})):
        assert said(read(tmp_path, text)) == ["no events"]


def test_lists_have_one_spelling_whatever_the_spaces(tmp_path: Path) -> None:
    kernels = [
        event(name="k", cat="kernel", args={"grid": "G", "device": 0, "stream": 7}),
        event(name="k", cat="kernel", args={"grid": [4, 1, 1], "device": 0, "stream": 7}),
    ]
    text = trace(*kernels).replace('"G"', "[\n  4,\n  1,\n  1\n]")
    (row,) = Executions(read(tmp_path, text)).kernels(by_launch=True)["rows"]
    assert (row["calls"], row["grid"]) == (2, "[4, 1, 1]")
