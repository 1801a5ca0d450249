"""Slot maps: which core of the chip writes which row of a timing matrix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.errors import RecordError
from stepscope.model.columns import StringBuilder
from stepscope.model.incore import Cores, Engine
from stepscope.model.incore_values import exact, group

_ENGINES = {"aic": Engine.AIC, "aiv": Engine.AIV}


@dataclass(frozen=True)
class Core:
    """The core that writes a slot."""

    slot: int
    name: str
    engine: Engine = Engine.UNKNOWN
    number: int = -1


def cores_of(slot_map: Mapping[str, Any], slots: int) -> list[Core] | None:
    """The cores of a slot map, or None where its kind is unknown.

    Args:
        slot_map: `{"kind": ...}` with what the kind needs:
            `core_id`: the slot is the core's id; `core_types` may list "aic" or "aiv" per id.
            `block`: an AIC's slot is its block, an AIV's is num_aic + block * aiv_per_aic + sub-block.
            `groups_of_three`: block b has slots 3b (AIC), 3b + 1 and 3b + 2 (AIV).
            `table`: `slots` gives each core's name and slot, as `{"AIC_0": 0}` or rows of slot, name, engine, core;
                or the slot of each core by its id.
        slots: The number of rows of the matrix.

    Raises:
        RecordError: The map lacks what its kind needs.
    """
    rules = {
        "core_id": _by_core_id,
        "block": _by_block,
        "groups_of_three": _by_threes,
        "table": _by_table,
    }
    rule = rules.get(str(slot_map.get("kind", "")))
    return list(rule(slot_map, slots)) if rule else None


def cores_group(cores: Iterable[Core], strings: StringBuilder) -> Cores:
    """The cores as columns."""
    rows = list(cores)
    return group(
        Cores,
        slot=[c.slot for c in rows],
        engine=[c.engine for c in rows],
        core=[c.number for c in rows],
        name=[strings(c.name) for c in rows],
    )


def _named(slot: int, engine: Engine, number: int) -> Core:
    return Core(slot, f"{engine.name}_{number}", engine, number)


def _by_core_id(slot_map: Mapping[str, Any], slots: int) -> Iterator[Core]:
    kinds = slot_map.get("core_types")
    known: list[str] = []
    if isinstance(kinds, list | tuple):
        known = [str(kind).lower() for kind in kinds]
    for slot in range(slots):
        engine = Engine.UNKNOWN
        if slot < len(known):
            engine = _ENGINES.get(known[slot], Engine.UNKNOWN)
        if engine is Engine.UNKNOWN:
            yield Core(slot, f"core_{slot}", engine, slot)
        else:
            yield _named(slot, engine, slot)


def _by_block(slot_map: Mapping[str, Any], slots: int) -> Iterator[Core]:
    num_aic = _needed(slot_map, "num_aic", 1 << 12)
    aiv_per_aic = _needed(slot_map, "aiv_per_aic", 1 << 4)
    for block in range(num_aic):
        yield _named(block, Engine.AIC, block)
    for core in range(num_aic * aiv_per_aic):
        yield _named(num_aic + core, Engine.AIV, core)


def _by_threes(slot_map: Mapping[str, Any], slots: int) -> Iterator[Core]:
    for slot in range(slots):
        block, member = divmod(slot, 3)
        # The AIC of a block comes first, then its two AIVs.
        if member == 0:
            yield _named(slot, Engine.AIC, block)
        else:
            yield _named(slot, Engine.AIV, 2 * block + member - 1)


def _by_table(slot_map: Mapping[str, Any], slots: int) -> Iterator[Core]:
    table: Any = slot_map.get("slots")
    if isinstance(table, Mapping):
        table = [{"name": name, "slot": slot} for name, slot in table.items()]
    elif _is_slot_list(table):
        slot_of_core = table
        table = []
        for core, slot in enumerate(slot_of_core):
            table.append({"name": f"core_{core}", "slot": slot, "core": core})
    if not _is_row_list(table):
        raise RecordError(
            f"a slot map of kind table whose slots are {table!r:.80}",
            where="slot_map.slots",
            remedy=(
                'Give {"AIC_0": 0, ...}, a list of {"slot", "name", "engine", "core"}, or the slot of each core'
            ),
        )
    for row in table:
        slot = exact(row["slot"], "slot_map.slots")
        name = str(row.get("name", f"slot_{slot}"))
        engine = _ENGINES.get(str(row.get("engine", name[:3])).lower(), Engine.UNKNOWN)
        yield Core(slot, name, engine, exact(row.get("core", -1), "slot_map.slots"))


def _is_slot_list(table: Any) -> bool:
    """Whether a table is a non-empty list of integers: the slot of each core."""
    if not isinstance(table, list | tuple) or not table:
        return False
    return all(isinstance(slot, int) for slot in table)


def _is_row_list(table: Any) -> bool:
    """Whether a table is a sequence of rows that state their slot."""
    if not isinstance(table, Sequence):
        return False
    return all(isinstance(row, Mapping) and "slot" in row for row in table)


def _needed(slot_map: Mapping[str, Any], key: str, most: int) -> int:
    if key not in slot_map:
        raise RecordError(
            f"a slot map of kind {slot_map['kind']} without {key}",
            where="slot_map",
            remedy=f"Give {key} as an integer",
        )
    value = exact(slot_map[key], f"slot_map.{key}")
    if not 0 <= value <= most:
        raise RecordError(
            f"{key} is {value}", where="slot_map", remedy=f"Give a number from 0 to {most}"
        )
    return value
