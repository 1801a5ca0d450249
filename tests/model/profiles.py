"""Random valid profiles."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from hypothesis import strategies as st

from stepscope.model import profile
from stepscope.model.columns import Group, Header, Strings
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import Profile

GROUPS = {
    spec.name: spec.default_factory
    for spec in dataclasses.fields(Profile)
    if isinstance(spec.default_factory, type) and issubclass(spec.default_factory, Group)
}
_REFERENCES = {(group, name): target for group, name, target in profile._REFERENCES}
_OFFSETS = {(group, name): target for group, name, target in profile._OFFSETS}
_WORDS = {(group, name): words for group, name, words in profile._WORDS}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def profiles(draw: Any, most_rows: int = 12) -> Profile:
    """Profiles whose columns hold any value that the rules allow, or are left out."""
    sizes = {name: draw(st.integers(0, most_rows)) for name in GROUPS}
    texts = draw(st.lists(TEXT, max_size=most_rows))
    for (group, _), target in _OFFSETS.items():
        sizes[target] *= sizes[group] > 0
    for group, name in sorted(profile._OWNERS, key=lambda owner: _REFERENCES[owner] != "nodes"):
        sizes[group] *= sizes[_REFERENCES[group, name]] > 0
    sizes["node_steps"] = min(sizes["node_steps"], sizes["nodes"])
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    targets = {**sizes, "strings": len(texts)}
    groups = {name: _group(name, kind, targets, random) for name, kind in GROUPS.items()}
    losses = draw(
        st.lists(st.builds(Diagnostic, TEXT, TEXT, st.integers(0, 2**64 - 1), TEXT), max_size=2)
    )
    header = Header(run=draw(TEXT), rank=draw(st.integers(-1, 9)), losses=tuple(losses))
    flags = draw(st.tuples(st.booleans(), st.booleans()))
    return Profile(header, draw(st.integers(1, 2**40)), *flags, Strings.of(texts), **groups)


def _group(group: str, kind: Any, sizes: dict[str, int], random: np.random.Generator) -> Any:
    columns = {}
    for number, spec in enumerate(dataclasses.fields(kind)):
        optional = (
            number and spec.metadata["default"] is not None and (group, spec.name) not in _OFFSETS
        )
        if not optional or random.integers(2):
            columns[spec.name] = _column(group, spec, sizes, random)
    return kind(**columns)


def _column(group: str, spec: Any, sizes: dict[str, int], random: np.random.Generator) -> Any:
    rows, dtype = sizes[group], spec.metadata["dtype"]
    if (group, spec.name) == ("node_steps", "node"):
        return random.permutation(sizes["nodes"])[:rows].astype(dtype)
    if (group, spec.name) in _REFERENCES:
        lowest = 0 if (group, spec.name) in profile._OWNERS else -1
        return random.integers(
            lowest, max(sizes[_REFERENCES[group, spec.name]], lowest + 1), rows, dtype
        )
    if (group, spec.name) in _WORDS:
        return random.integers(0, len(_WORDS[group, spec.name]), rows, dtype)
    if (group, spec.name) in profile._TREES:
        return np.array([random.integers(-1, row) for row in range(rows)], dtype)
    if (group, spec.name) in _OFFSETS:
        size = sizes[_OFFSETS[group, spec.name]]
        return np.sort(
            np.append(random.integers(0, size, max(rows - 1, 0), endpoint=True), size)[:rows]
        ).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, rows, dtype, endpoint=True)
