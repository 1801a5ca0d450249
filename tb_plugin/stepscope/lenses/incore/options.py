"""The options of the in-core lens."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.lenses.options import option


@dataclass(frozen=True)
class InCoreOptions:
    """What the in-core lens is asked."""

    invocation: int | None = option(
        None,
        "Show one invocation as if it were alone, counted from 0; by default all that the record has",
    )
    detail: str = option(
        "brief",
        "full adds remedies, deciding slots, stamps per core and distributions; tasks adds every row of a capture",
        choices=("brief", "full", "tasks"),
    )
    task: str | None = option(
        None, "Add one task of a capture, by its id: its rows and what it waited for"
    )
    invocations: bool = option(
        False, "List every invocation; by default a summary over the valid ones"
    )
