"""Every question has an answer, also to a profile that holds nothing for it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from stepscope.lenses.trace.executions import Executions, panes
from stepscope.model.columns import StringBuilder
from stepscope.model.profile import Executions as Runs
from stepscope.model.profile import Nodes, Profile

QUESTIONS = ("timeline", "memory", "shapes", "kernels")


def without_lanes() -> Profile:
    """A node that ran, on no lane that is known."""
    strings = StringBuilder()
    name = np.array([strings("op")])
    runs = Runs(node=np.array([0]), start_ticks=np.array([5]), duration_ticks=np.array([3]))
    return Profile(nodes=Nodes(name=name), executions=runs, strings=strings.build())


@pytest.mark.parametrize("profile", [Profile(), without_lanes()], ids=["empty", "without lanes"])
def test_a_profile_with_nothing_is_answered(profile: Profile) -> None:
    asked = Executions(profile)
    for question in QUESTIONS:
        json.dumps(getattr(asked, question)())
    json.dumps([asked.breakdown.to_json(), asked.launches.to_json()])
    assert panes(profile) == []


def test_a_damaged_trace_is_answered(shared: Path) -> None:
    from stepscope.errors import StepscopeError
    from stepscope.sources import torch_trace

    answered = 0
    for path in sorted((shared / "golden" / "torch-bugs").glob("*.pt.trace.json*")):
        try:
            profile = torch_trace.read(path).records[0].record
        except StepscopeError:
            continue
        assert isinstance(profile, Profile)
        asked = Executions(profile)
        for question in QUESTIONS:
            json.dumps(getattr(asked, question)())
        found = asked.breakdown
        assert found.parts.sum(axis=1).tolist() == (found.steps.end - found.steps.start).tolist()
        json.dumps([found.to_json(), asked.launches.to_json()])
        answered += 1
    assert answered > 15
