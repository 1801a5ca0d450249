"""What lies beside a capture: deps.json with the task graph, and name_map_*.json with the kernels' names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope.errors import DamagedSource
from stepscope.model.diagnostic import Diagnostic
from stepscope.sources.swimlane.draft import Draft
from stepscope.sources.swimlane.json import load

_AIC, _AIV0, _AIV1 = 0, 1, 2


def add_neighbours(draft: Draft, folder: Path) -> None:
    """Adds dependencies, function ids and names from the files of the folder. What cannot be read becomes a loss."""
    for name, reader in (("deps.json", _add_deps), ("name_map_*.json", _add_names)):
        for path in sorted(folder.glob(name)):
            try:
                reader(draft, load(path))
            except (DamagedSource, LookupError, TypeError, ValueError, AttributeError) as error:
                draft.losses.append(
                    Diagnostic(path.name, f"cannot be read ({error!r:.120})", 1, "Write the file again")
                )


def _add_deps(draft: Draft, document: Mapping[str, Any]) -> None:
    draft.edges |= {(int(e["pred"]), int(e["succ"])): str(e.get("source", "")) for e in document["edges"]}
    draft.edges = {pair: made for pair, made in draft.edges.items() if all(0 <= task < 1 << 64 for task in pair)}
    kernels = {int(task["task_id"]): task["kernel_ids"] for task in document["tasks"]}
    rows = draft.tasks
    for index, (task, core, known) in enumerate(zip(rows["task"], rows["core"], rows["function"], strict=True)):
        if known < 0 and task in kernels:
            rows["function"][index] = _function(kernels[task], draft.core_types, core)


def _function(kernels: list[int], core_types: list[str], core: int) -> int:
    """The kernel that a task runs on a core: its first slot on AIC, on AIV its second or else its third."""
    if core < len(core_types) and core_types[core] == "aic":
        return _in_range(kernels[_AIC])
    return _in_range(kernels[_AIV0] if kernels[_AIV0] >= 0 else kernels[_AIV1])


def _in_range(number: int) -> int:
    return int(number) if -1 <= number < 1 << 31 else -1


def _add_names(draft: Draft, document: Mapping[str, Any]) -> None:
    draft.names |= {int(number): str(name) for number, name in document["callable_id_to_name"].items()}
