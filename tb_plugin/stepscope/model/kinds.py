"""The kinds of records."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping

from stepscope.errors import NewerSchema
from stepscope.model import columns
from stepscope.model.collectives import Collectives
from stepscope.model.columns import Group, Record
from stepscope.model.incore import InCore
from stepscope.model.profile import Profile
from stepscope.model.throughput import Throughput
from stepscope.model.wire import Buffer

_TYPES: tuple[type[Record], ...] = (Profile, Throughput, InCore, Collectives)
KINDS: Mapping[str, type[Record]] = {record.KIND: record for record in _TYPES}

UPGRADE = "Upgrade StepScope where you look at it: pip install -U tensorboard-plugin-stepscope"


def why_unsupported(kind: str, schema: int) -> str | None:
    """Why this StepScope cannot decode such a record, as a clause; None where it can."""
    known = KINDS.get(kind)
    if known is None:
        return f"a record of unknown kind {kind[:80]!r} (known: {', '.join(KINDS)})"
    if schema > known.SCHEMA:
        return (
            f"a {kind} record of schema {schema}, newer than the {known.SCHEMA} that is known here"
        )
    return None


def with_first_columns(kind: str, groups: Collection[str]) -> set[str]:
    """The groups and columns, and the first column of each group of which a column is asked for.

    The first column is always stored, and tells the length of the columns that are not because they hold their default.
    """
    wanted = set(groups)
    for spec in dataclasses.fields(KINDS[kind]) if kind in KINDS else ():
        group = spec.default_factory
        if (
            isinstance(group, type)
            and issubclass(group, Group)
            and any(g.startswith(f"{spec.name}.") for g in groups)
        ):
            wanted.add(f"{spec.name}.{dataclasses.fields(group)[0].name}")
    return wanted


def groups_of(kind: str) -> frozenset[str]:
    """The names of the groups and string tables of a kind of record; empty for a kind that is not known."""
    if kind not in KINDS:
        return frozenset()
    return frozenset(
        spec.name for spec in dataclasses.fields(KINDS[kind]) if columns.is_group(spec)
    )


def decode(
    kind: str,
    schema: int,
    bodies: Iterable[Buffer],
    where: str = "",
    *,
    wanted: Collection[str] | None = None,
) -> Record:
    """Decodes a record of any kind from the bodies of its elements, or from some of them: see `columns.decode`.

    Raises:
        NewerSchema: The kind or its schema is not known to this version.
        RecordError: A body is no part of such a record.
    """
    reason = why_unsupported(kind, schema)
    if reason is not None:
        raise NewerSchema(reason, where=where, remedy=UPGRADE)
    return columns.decode(KINDS[kind], bodies, where, wanted=wanted)
