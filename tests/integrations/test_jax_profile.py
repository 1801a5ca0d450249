"""Profiles of a JAX loop: which steps are profiled, and what is logged of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.errors import OptionError
from stepscope.integrations.jax_profile import profile_steps
from stepscope.model.profile import Profile
from stepscope.shim.writer import Writer
from stepscope.store.local import LocalStore

EXAMPLE = Path(__file__).parents[2] / "examples" / "jax_train.py"

jax = pytest.importorskip("jax", reason="JAX is not installed")


def _profiles(folder: Path) -> list[tuple[int | None, Profile]]:
    store = LocalStore(logdir=str(folder))
    store.refresh()
    found = []
    for entry in store.entries():
        if entry.kind == "profile":
            record = store.read(entry)
            assert isinstance(record, Profile)
            found.append((entry.last_step, record))
    return found


def _train(folder: Path, count: int, **settings: object) -> Writer:
    step = jax.jit(lambda x: jax.numpy.tanh(x @ x.T).sum())
    batch = jax.numpy.ones((64, 64))
    with Writer(str(folder)) as writer, profile_steps(writer, **settings) as profiler:  # type: ignore[arg-type]
        for _ in range(count):
            profiler.step(step(batch))
    return writer


def test_each_run_of_chosen_steps_becomes_a_profile_with_its_steps(tmp_path: Path) -> None:
    writer = _train(tmp_path, 8, steps=[1, 2, 5])
    assert writer.failures == 0
    found = sorted(_profiles(tmp_path), key=lambda pair: pair[0] or 0)
    assert [(last, record.steps.id.tolist()) for last, record in found] == [(2, [1, 2]), (5, [5])]


def test_the_ops_of_the_jitted_step_are_in_the_profile(tmp_path: Path) -> None:
    _train(tmp_path, 4, steps=range(2, 4))
    ((_, record),) = _profiles(tmp_path)
    names = {record.strings[i] for i in record.nodes.name}
    assert any("fusion" in name or "dot" in name for name in names)
    assert record.has_traces


def test_a_loop_that_ends_within_chosen_steps_logs_what_was_profiled(tmp_path: Path) -> None:
    _train(tmp_path, 3, steps=range(1, 100))
    ((_, record),) = _profiles(tmp_path)
    assert record.steps.id.tolist()[:2] == [1, 2]


def test_a_profiler_that_is_taken_does_not_stop_the_loop(tmp_path: Path) -> None:
    with jax.profiler.trace(str(tmp_path / "other")):
        writer = _train(tmp_path / "ours", 3, steps=[1])
    assert writer.failures == 1


@pytest.mark.parametrize("steps", [[], [-1]])
def test_a_choice_of_no_steps_is_refused(tmp_path: Path, steps: list[int]) -> None:
    with (
        Writer(str(tmp_path)) as writer,
        pytest.raises(OptionError),
        profile_steps(writer, steps=steps),
    ):
        pass


def test_the_example_logs_a_profile_of_its_devices(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(EXAMPLE), str(tmp_path), "--steps", "6"], check=True, timeout=300
    )
    ((_, record),) = _profiles(tmp_path)
    devices = {record.strings[i] for i in record.nodes.device}
    assert {f"CPU:{n}" for n in range(8)} <= devices
    assert record.steps.id.tolist() == [2, 3]
    assert "hidden" in " ".join(record.strings[i] for i in record.scopes.name)
