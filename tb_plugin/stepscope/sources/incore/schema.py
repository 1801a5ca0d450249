"""The shape of the JSON beside a timing matrix, checked before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

import msgspec

from stepscope.errors import DamagedSource

# A list of slots, or one list per invocation.
Slots = list[int | list[Any]]
Number = int | str


class Boundary(TypedDict, total=False):
    """A boundary of the user's."""

    name: str
    column: int
    reduce: str
    cores: list[int] | None


class Pair(TypedDict, total=False):
    """A pair of runs; the members' stamps by name, and what differs in their setup."""

    pair: Number
    order: str | None
    device: str
    inputs: str
    configuration: str
    merged: dict[str, Number] | None
    split: dict[str, Number] | None


class Case(TypedDict, total=False):
    """The object of the JSON; docs/incore.md says what each key is."""

    timing: str
    shape: list[int]
    dtype: str
    name: str
    step: int
    title: str
    dims: list[str]
    columns: dict[str, int | dict[str, Any]] | list[str]
    boundaries: list[Boundary]
    participating: Slots
    producers: Slots
    invocation_slot_offset: int
    invocations: int
    clock_freq_hz: int
    unit: str
    epoch: str
    generation: dict[str, Any]
    magic: dict[str, Any]
    slot_id: dict[str, Any]
    slot_map: Any
    l2: dict[str, Any]
    pairs: list[Pair]
    split_runs: list[dict[str, Number]]
    read_pairs: str | list[list[int]]
    instrumented_total_cycles: list[Number]
    uninstrumented_total_cycles: list[Number]
    variant: str
    pair: int
    device: str
    inputs: str
    configuration: str


KEYS = frozenset(Case.__annotations__)


def checked(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The known keys of a case that are not null.

    Raises:
        DamagedSource: A value is of another type than the key needs.
    """
    known = {key: value for key, value in given.items() if key in KEYS and value is not None}
    try:
        return dict(msgspec.convert(known, Case))
    except msgspec.ValidationError as error:
        raise DamagedSource(
            str(error), where=where, remedy="Write it as docs/incore.md shows"
        ) from error
