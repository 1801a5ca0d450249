"""The in-core record keeps stamps bit for bit, and says what does not hold together."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.errors import RecordError
from stepscope.model.columns import Strings, decode, encode
from stepscope.model.incore import Cores, Engine, Events, InCore, StampKind, Timing
from stepscope.model.incore_description import Clock, Described, Description, Meaning, Setup
from stepscope.model.incore_timing import from_timing, incore_record

STAMPS = st.integers(0, (1 << 64) - 1)


@st.composite
def records(draw: st.DrawFn) -> InCore:
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(2, 6)))
    stamps = np.array(
        draw(st.lists(STAMPS, min_size=math.prod(shape), max_size=math.prod(shape))), np.uint64
    )
    slots = st.lists(st.integers(0, shape[1] + 1), max_size=4)
    runs = draw(st.lists(st.tuples(STAMPS, STAMPS, STAMPS, STAMPS), max_size=3))
    totals = draw(st.lists(st.integers(0, 1 << 40), max_size=3))
    return from_timing(
        stamps.reshape(shape),
        columns={
            "entry": 0,
            draw(st.text(max_size=4)): {"column": 1, "kind": "issued", "meaning": "x"},
        },
        participating=draw(
            st.one_of(st.none(), slots, st.lists(slots, min_size=shape[0], max_size=shape[0]))
        ),
        producers=draw(st.one_of(st.none(), slots)),
        generation={
            "column": 0,
            "expected": {"base": draw(STAMPS), "per_invocation": draw(st.integers(-5, 5))},
        },
        slot_map={"kind": "core_id", "core_types": ["aic", "aiv"]},
        l2={"unit": "us", "M0": "0.5", "M1": draw(st.text(max_size=6))},
        split_runs=[dict(zip(("P0", "P1", "C0", "C1"), run, strict=True)) for run in runs],
        read_pairs=stamps[:2].reshape(1, 2),
        uninstrumented_total_cycles=totals,
        clock_freq_hz=draw(st.integers(0, 1 << 40)),
    )


@settings(deadline=None)
@given(records())
def test_decoding_gives_back_what_was_encoded(record: InCore) -> None:
    assert decode(InCore, [element.body for element in encode(record)]) == record


@settings(deadline=None)
@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=2, max_size=2))
def test_negative_stamps_are_the_same_bits_unsigned(stamps: list[int]) -> None:
    record = from_timing(np.array([stamps], np.int64), columns=("a", "b"))
    assert record.matrix().ravel().tolist() == [stamp % (1 << 64) for stamp in stamps]


class Tensor:
    """What a device tensor offers."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.values


@pytest.mark.parametrize(
    "timing",
    [
        [[1, 2], [3, 4]],
        Tensor([[1, 2], [3, 4]]),
        np.array([[1, 2], [3, 4]], ">i8"),
        np.array([[1, 2], [3, 4]], np.uint32),
        np.array([[1, 9, 2], [3, 9, 4]])[:, ::2],
    ],
)
def test_arrays_tensors_and_lists_give_the_same_matrix(timing: Any) -> None:
    assert from_timing(timing).matrix().tolist() == [[[1, 2], [3, 4]]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"timing": [[1.0, 2.0]]}, "stamps of type float64"),
        ({"timing": [1, 2]}, "a timing matrix of shape"),
        ({"timing": [[1, 2]], "dims": ["slot", "field", "x"]}, "with dims"),
        ({"timing": [[1, 2]], "columns": {"entry": 2}}, r"events.word\[0\]: 2 is not in"),
        ({"timing": [[1, 2]], "columns": {"entry": 1.5}}, "columns.entry: 1.5 is no integer"),
        (
            {"timing": [[1, 2]], "columns": {"entry": {"column": 0, "kind": "odd"}}},
            "unknown word 'odd'",
        ),
        (
            {"timing": [[1, 2]], "boundaries": [{"name": "a", "column": 0}]},
            "a boundary has only name, column",
        ),
        (
            {"timing": [[1, 2]], "boundaries": [{"name": "a", "column": 0, "reduce": "mean"}]},
            "unknown word 'mean'",
        ),
        ({"timing": [[1, 2]], "participating": [[0], [0]]}, "2 lists of slots for 1 invocations"),
        ({"timing": [[1, 2]], "invocation_slot_offset": 0}, "0 slots each"),
        (
            {"timing": [[1, 2]], "invocation_slot_offset": 1, "invocations": 3},
            "3 invocations of 1 slots",
        ),
        ({"timing": [[1, 2]], "slot_map": {"kind": "block", "num_aic": 1}}, "without aiv_per_aic"),
        ({"timing": [[1, 2]], "slot_map": {"kind": "table", "slots": ["x"]}}, "kind table"),
        (
            {
                "timing": [[1, 2]],
                "slot_map": {"kind": "block", "num_aic": 1 << 40, "aiv_per_aic": 2},
            },
            "num_aic is",
        ),
        (
            {"timing": [[1, 2]], "generation": {"column": 0, "expected": "1e3"}},
            "generation: '1e3' is no integer",
        ),
        ({"timing": [[1, 2]], "magic": {"column": 0, "expected": 1 << 64}}, "does not fit 64 bits"),
        (
            {"timing": [[[1, 2]]], "l2": {"unit": "cycles", "M0": ["1", "2"], "M1": ["3", "4"]}},
            "2 rows for 1",
        ),
        ({"read_pairs": [1, 2]}, "read pairs have shape"),
    ],
)
def test_what_does_not_fit_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        from_timing(**arguments)


def test_slot_maps_name_cores_by_their_rule() -> None:
    def names(rows: int, **slot_map: Any) -> list[tuple[int, str, Engine]]:
        record = from_timing(np.ones((rows, 2), np.int64), slot_map=slot_map)
        cores = zip(record.cores.slot, record.cores.name, record.cores.engine, strict=True)
        return [
            (int(slot), record.text(int(name)), Engine(int(engine))) for slot, name, engine in cores
        ]

    aic, aiv = Engine.AIC, Engine.AIV
    blocks = names(6, kind="block", num_aic=2, aiv_per_aic=2)
    assert blocks[:3] == [(0, "AIC_0", aic), (1, "AIC_1", aic), (2, "AIV_0", aiv)]
    assert blocks[5] == (5, "AIV_3", aiv)
    assert names(4, kind="groups_of_three")[1:] == [
        (1, "AIV_0", aiv),
        (2, "AIV_1", aiv),
        (3, "AIC_1", aic),
    ]
    assert names(2, kind="core_id", core_types=["aic", "aiv"]) == [
        (0, "AIC_0", aic),
        (1, "AIV_1", aiv),
    ]
    assert names(2, kind="table", slots={"AIV_9": 1}) == [(1, "AIV_9", aiv)]
    assert names(2, kind="table", slots=[1, 0]) == [
        (1, "core_0", Engine.UNKNOWN),
        (0, "core_1", Engine.UNKNOWN),
    ]


def test_an_unknown_slot_map_is_a_loss_and_no_failure() -> None:
    record = from_timing([[1, 2]], slot_map={"kind": "spiral"})
    assert "spiral" in record.header.losses[0].what
    assert len(record.cores) == 0


def test_the_meaning_of_a_stamp_is_not_guessed_where_it_decides() -> None:
    record = from_timing([[1, 2, 3]], columns=("entry", "producer_done", "collective_arrival"))
    assert record.events.kind.tolist() == [StampKind.ENTERED, StampKind.UNKNOWN, StampKind.ARRIVAL]


@pytest.mark.parametrize(
    "broken",
    [
        {"timing": Timing(stamp=np.arange(3))},
        {"dims": ("a", "b")},
        {"strings": Strings()},
        {"columns": 1},
        {
            "events": Events(
                name=np.array([0, 1]), word=np.array([0, 1]), kind=np.array([1, len(StampKind)])
            )
        },
        {"cores": Cores(engine=np.array([-1]))},
    ],
)
def test_a_record_that_does_not_hold_together_is_refused(broken: dict[str, Any]) -> None:
    record = from_timing([[1, 2]], columns=("entry", "body_done"))
    with pytest.raises(RecordError):
        dataclasses.replace(record, **broken).validate()


def test_flat_names_and_described_objects_make_one_record() -> None:
    flat = from_timing(
        [[1, 2]], columns=("entry", "body_done"), clock_freq_hz=50, variant="merged", pair=3
    )
    described = Description(
        meaning=Meaning(columns=("entry", "body_done")),
        clock=Clock(clock_freq_hz=50),
        setup=Setup(variant="merged", pair=3),
    )
    assert encode(flat) == encode(incore_record([[1, 2]], described))


def test_every_flat_name_belongs_to_one_part_of_the_description() -> None:
    parts = [kind for name, kind in get_type_hints(Description).items() if name != "header"]
    names = [field.name for part in parts for field in dataclasses.fields(part)]
    assert sorted([*names, "header"]) == sorted(Described.__annotations__)


def test_unknown_name_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="unknown words of an in-core description: colums"):
        from_timing([[1, 2]], colums=("entry",))
