"""What a profile record must hold together, and the registry of kinds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from profiles import profiles

from stepscope.errors import NewerSchema, RecordError
from stepscope.model import kinds
from stepscope.model.columns import Strings, encode
from stepscope.model.profile import (
    Inputs,
    Lanes,
    Links,
    Nodes,
    NodeSteps,
    OpTypes,
    Profile,
    Scopes,
    Steps,
    Traces,
)
from stepscope.store import envelope


def small(**changes: Any) -> Profile:
    """A profile of three ops with the changes made."""
    record = Profile(
        strings=Strings.of(["a", "a/b", "a/c", "Add"]),
        nodes=Nodes(
            name=np.arange(3),
            caller=np.array([-1, 0, 0]),
            op_type_end=np.array([1, 2, 3]),
            input_end=np.array([0, 1, 1]),
        ),
        op_types=OpTypes(type=np.array([3, 3, 3])),
        inputs=Inputs(source=np.array([2])),
        scopes=Scopes(parent=np.array([-1, 0]), name=np.array([0, 1])),
        steps=Steps(id=np.array([7])),
        node_steps=NodeSteps(node=np.array([0, 0, 2]), step=np.array([0, -1, 0])),
    )
    return dataclasses.replace(record, **changes)


@given(profiles(most_rows=6))
def test_records_pass_through_envelopes_unchanged(record: Profile) -> None:
    bodies = [envelope.unpack(envelope.pack(element.body), "here") for element in encode(record)]
    decoded = kinds.decode("profile", Profile.SCHEMA, bodies)
    decoded.validate()
    assert decoded == record


def test_rows_are_those_of_the_main_group() -> None:
    assert small().rows == 3
    assert Profile().rows == 0
    small().validate()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tick_ps": 0}, r"tick_ps: a tick of 0 ps"),
        (
            {"op_types": OpTypes(type=np.array([3, 3, 4]))},
            r"op_types\.type\[2\]: index 4, but strings has 4 rows",
        ),
        (
            {"inputs": Inputs(source=np.array([-2]))},
            r"inputs\.source\[0\]: index -2, but nodes has 3 rows",
        ),
        (
            {"op_types": OpTypes(type=np.array([3]))},
            r"nodes\.op_type_end: end offsets do not divide the 1 rows",
        ),
        (
            {"scopes": Scopes(parent=np.array([0]), name=np.array([0]))},
            r"scopes\.parent\[0\]: parent 0 does not",
        ),
        (
            {"traces": Traces(parent=np.array([-1, 1]), frame=np.array([-1, -1]))},
            r"traces\.parent\[1\]",
        ),
        (
            {"node_steps": NodeSteps(node=np.array([1, 1]))},
            r"node_steps: two rows for one node and step",
        ),
        (
            {"lanes": Lanes(kind=np.array([0, 3]), device=np.array([0, 0]))},
            r"lanes\.kind\[1\]: 3 is no LaneKind",
        ),
        (
            {"links": Links(source=np.array([0]), target=np.array([1]), kind=np.array([-1]))},
            r"links\.kind\[0\]: -1 is no LinkKind",
        ),
        (
            {"node_steps": NodeSteps(node=np.array([-1]))},
            r"node_steps\.node\[0\]: index -1, but nodes has 3 rows",
        ),
        (
            {"strings": Strings(np.zeros(9, np.uint8), np.array([1, 2, 3, 4]))},
            r"strings: string offsets",
        ),
    ],
)
def test_what_does_not_hold_together_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        small(**changes).validate()


def test_every_kind_has_a_word_of_its_own_and_decodes_nothing_to_an_empty_record() -> None:
    assert list(kinds.KINDS) == ["profile", "throughput", "incore", "collectives"]
    for kind, record in kinds.KINDS.items():
        assert kind == record.KIND
        assert kinds.decode(kind, record.SCHEMA, [encode(record())[0].body]) == record()


def test_a_newer_schema_names_both_versions_and_the_remedy() -> None:
    with pytest.raises(
        NewerSchema, match=r"here: a profile record of schema 9, newer than the 1 .* pip install -U"
    ):
        kinds.decode("profile", 9, [], "here")
    with pytest.raises(NewerSchema, match=r"unknown kind 'hologram' \(known: profile, throughput"):
        kinds.decode("hologram", 1, [])


def test_a_column_that_is_asked_for_brings_the_first_of_its_group() -> None:
    assert kinds.with_first_columns("profile", ["nodes.kind", "steps"]) == {
        "nodes.kind",
        "nodes.name",
        "steps",
    }
    assert kinds.with_first_columns("hologram", ["x.y"]) == {"x.y"}
