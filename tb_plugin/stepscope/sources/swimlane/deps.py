"""Files beside a capture: deps.json with the task graph, name_map_*.json with kernel names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope.errors import DamagedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.swimlane.draft import Draft
from stepscope.sources.swimlane.json import load

_AIC = 0
_AIV0 = 1
_AIV1 = 2
_MAX_TASKS = 1 << 64
_MAX_FUNCTIONS = 1 << 31


def add_neighbours(draft: Draft, folder: Path) -> None:
    """Adds dependencies, function ids and names from the folder's files; broken ones become losses."""
    for name, reader in (("deps.json", _add_deps), ("name_map_*.json", _add_names)):
        for path in sorted(folder.glob(name)):
            try:
                reader(draft, load(path))
            except (DamagedSource, LookupError, TypeError, ValueError, AttributeError) as error:
                loss = Diagnostic(
                    where=path.name,
                    what=f"cannot be read ({error!r:.120})",
                    count=1,
                    remedy="Write the file again",
                )
                draft.losses.append(loss)


def _add_deps(draft: Draft, document: Mapping[str, Any]) -> None:
    edges = {}
    for edge in document["edges"]:
        predecessor = int(edge["pred"])
        successor = int(edge["succ"])
        if 0 <= predecessor < _MAX_TASKS and 0 <= successor < _MAX_TASKS:
            edges[predecessor, successor] = str(edge.get("source", ""))
    draft.edges |= edges

    kernels = {int(task["task_id"]): task["kernel_ids"] for task in document["tasks"]}
    functions = draft.tasks["function"]
    for row, task in enumerate(draft.tasks["task"]):
        if functions[row] < 0 and task in kernels:
            core = draft.tasks["core"][row]
            functions[row] = _function(kernels[task], draft.core_types, core)


def _function(kernels: list[int], core_types: list[str], core: int) -> int:
    """The kernel that a task runs on a core: slot 0 on AIC, on AIV slot 1 or else slot 2."""
    if core < len(core_types) and core_types[core] == "aic":
        return _in_range(kernels[_AIC])
    if kernels[_AIV0] >= 0:
        return _in_range(kernels[_AIV0])
    return _in_range(kernels[_AIV1])


def _in_range(number: int) -> int:
    """A function id, -1 where the number cannot be one."""
    if -1 <= number < _MAX_FUNCTIONS:
        return int(number)
    return -1


def _add_names(draft: Draft, document: Mapping[str, Any]) -> None:
    names = {}
    for number, name in document["callable_id_to_name"].items():
        names[int(number)] = str(name)
    draft.names |= names
