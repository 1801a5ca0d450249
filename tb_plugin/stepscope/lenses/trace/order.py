"""The scopes of a profile in the order in which they first run."""

from __future__ import annotations

import numpy as np

from stepscope.model.profile import Profile


def scopes_in_time(profile: Profile, path: str = "") -> list[str]:
    """What is directly in a scope, in order of its first start.

    Args:
        path: The scope: names from the top joined by `/`, as rows of the scope view are called; '' for the top.

    Returns:
        The paths of named ranges, modules and ops; empty where there is no such scope.
    """
    scopes = profile.scopes
    parents = scopes.parent.tolist()
    first = _first_starts(profile, parents)
    names = [profile.strings[i] for i in scopes.name.tolist()]
    rows = _find(parents, names, path)
    found: dict[str, int] = {}
    for row, parent in enumerate(parents):
        if parent in rows:
            key = f"{path}/{names[row]}" if path else names[row]
            found[key] = min(first[row], found.get(key, first[row]))
    return sorted(found, key=lambda key: found[key])


def merged(mine: list[str], theirs: list[str]) -> list[str]:
    """Both orders in one: what only the other has stands behind what it follows there."""
    behind: dict[str, list[str]] = {key: [] for key in mine}
    first: list[str] = []
    place = first
    for key in theirs:
        if key in behind:
            place = behind[key]
        else:
            place.append(key)
    return first + [one for key in mine for one in (key, *behind[key])]


def _first_starts(profile: Profile, parents: list[int]) -> list[int]:
    runs = profile.executions
    own = np.full(len(parents) + 1, np.iinfo(np.int64).max)
    np.minimum.at(own, profile.nodes.scope[runs.node], runs.start_ticks)
    first: list[int] = own.tolist()
    for row in range(len(parents) - 1, -1, -1):
        if parents[row] >= 0:
            first[parents[row]] = min(first[parents[row]], first[row])
    return first


def _find(parents: list[int], names: list[str], path: str) -> set[int]:
    """The scopes of a path; -1 is the top. Names may hold `/` themselves."""
    if not path:
        return {-1}
    left: dict[int, str] = {-1: path}
    found: set[int] = set()
    for row, (parent, name) in enumerate(zip(parents, names, strict=True)):
        rest = left.get(parent, "")
        if rest == name:
            found.add(row)
        elif rest.startswith(f"{name}/"):
            left[row] = rest[len(name) + 1 :]
    return found
