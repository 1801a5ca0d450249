"""The collectives record: what it keeps, and what it refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.errors import RecordError
from stepscope.model import collectives as model
from stepscope.model.collectives import Collectives
from stepscope.model.columns import Group, Header, Strings, decode, encode
from stepscope.model.diagnostic import Diagnostic

_STRINGS = ("host0", "jit_step(7)", "send", "psum.7_0", "ALL_REDUCE", 'a "quoted" ❤ name')


def _small() -> Collectives:
    return Collectives(
        header=Header(
            host="host0", losses=(Diagnostic("line 3", "cut off", 2, "Profile fewer steps"),)
        ),
        strings=Strings.of(_STRINGS),
        hosts=model.Hosts(name=np.array([0])),
        cores=model.Cores(host=np.array([0]), id=np.array([0])),
        executions=model.Executions(
            core=np.array([0]),
            program=np.array([1]),
            start_ps=np.array([0]),
            duration_ps=np.array([9]),
        ),
        instructions=model.Instructions(
            name=np.array([2]), kind=np.array([0]), rendezvous=np.array([3])
        ),
        ops=model.Ops(
            core=np.array([0]),
            instruction=np.array([0]),
            execution=np.array([0]),
            start_ps=np.array([1]),
            duration_ps=np.array([5]),
        ),
    )


def test_a_valid_record_passes_and_comes_back_equal() -> None:
    record = _small()
    record.validate()
    assert decode(Collectives, [e.body for e in encode(record)]) == record


@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(0, 20))
def test_every_column_survives_encoding(data: st.DataObject, rows: int) -> None:
    groups: dict[str, Any] = {}
    for spec in dataclasses.fields(Collectives):
        factory: Any = spec.default_factory
        if isinstance(factory, type) and issubclass(factory, Group):
            groups[spec.name] = factory(**_columns(data, factory, rows))
    record = Collectives(strings=Strings.of(_STRINGS), **groups)
    assert decode(Collectives, [e.body for e in encode(record)]) == record


def _columns(data: st.DataObject, group: type[Group], rows: int) -> dict[str, Any]:
    columns = {}
    for spec in dataclasses.fields(group):
        limits = np.iinfo(spec.metadata["dtype"])
        values = st.lists(st.integers(limits.min, limits.max), min_size=rows, max_size=rows)
        columns[spec.name] = np.array(data.draw(values), spec.metadata["dtype"])
    return columns


@pytest.mark.parametrize(
    ("group", "name", "value", "message"),
    [
        ("cores", "host", 1, r"cores\.host\[0\]: 1, which should be from 0 to 0"),
        ("ops", "instruction", -1, r"ops\.instruction\[0\]: -1"),
        ("ops", "execution", 5, r"ops\.execution\[0\]: 5"),
        ("ops", "duration_ps", -1, r"ops\.duration_ps\[0\]: -1, which should be 0 or more"),
        ("instructions", "kind", 4, r"instructions\.kind\[0\]: 4"),
        ("instructions", "identity", 9, r"instructions\.identity\[0\]: 9"),
        ("executions", "program", 6, r"executions\.program\[0\]: 6"),
    ],
)
def test_a_value_out_of_range_is_named(group: str, name: str, value: int, message: str) -> None:
    record = _small()
    broken = dataclasses.replace(getattr(record, group), **{name: np.array([value])})
    with pytest.raises(RecordError, match=message):
        dataclasses.replace(record, **{group: broken}).validate()


def test_operands_must_be_divided_by_their_end_offsets() -> None:
    row = {"program": np.array([1]), "computation": np.array([1]), "name": np.array([2])}
    schedule = model.Schedule(**row, operand_end=np.array([2]))
    with pytest.raises(RecordError, match=r"schedule\.operand_end"):
        dataclasses.replace(_small(), schedule=schedule).validate()
