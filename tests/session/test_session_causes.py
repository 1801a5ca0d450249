"""Causes of slower steps, planted one at a time in made-up runs."""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.lenses.trace.step_costs import Path
from stepscope.session.causes import causes
from stepscope.session.run_figures import RunFigures, steps_mean
from stepscope.statistics import Mean, ratio_of_sums

STEPS = 40
HOST_MS: dict[Path, float] = {
    ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",): 3.0,
    ("forward",): 1.0,
    ("forward", "attention", "aten::mm"): 8.0,
    ("forward", "attention", "aten::softmax"): 2.0,
    ("forward", "mlp", "aten::mm"): 12.0,
    ("forward", "mlp", "aten::gelu"): 3.0,
    ("backward", "aten::mm"): 30.0,
    ("c10d::allreduce_",): 5.0,
    ("optimizer", "aten::add_"): 6.0,
    ("optimizer", "aten::mul_"): 6.0,
    ("outside any op or range",): 4.0,
}
PHASES_MS = {"data": 3.0, "augment": 5.0}
WORDS = {"data": "input wait"}


def run_of(
    rng: np.random.Generator, planted: Path | str | None = None, extra_ms: float = 0.0
) -> RunFigures:
    """A run with 1 % scatter of runs and 10 % of each row's steps, some ms longer in one row."""
    luck = 1.0 + 0.01 * rng.standard_normal()
    host = {}
    for path, usual_ms in HOST_MS.items():
        mean_ms = usual_ms + extra_ms * (path == planted)
        host[path] = mean_ms * 1e6 * luck * (1.0 + 0.1 * rng.standard_normal(STEPS))
    phases: dict[str, Mean] = {}
    in_phases = np.zeros(STEPS)
    for name, usual_ms in PHASES_MS.items():
        mean_ms = usual_ms + extra_ms * (name == planted)
        spent = mean_ms * 1e6 * luck * (1.0 + 0.1 * rng.standard_normal(STEPS))
        phases[name] = ratio_of_sums(spent)
        in_phases += spent
    profiled = sum(host.values())
    return RunFigures(
        run="r",
        where="r",
        metrics={"step_time": ratio_of_sums(profiled + in_phases)},
        phases=phases,
        host=host,
        profiled_step=steps_mean(profiled),
    )


@pytest.mark.parametrize("planted", [*HOST_MS, *PHASES_MS], ids=str)
def test_planted_row_is_the_first_cause_and_sure(planted: Path | str) -> None:
    rng = np.random.default_rng(7)
    baselines = [run_of(rng) for _ in range(10)]
    first = causes([run_of(rng, planted, 10.0) for _ in range(5)], baselines, alpha=0.01)[0]
    expected = WORDS.get(planted, planted) if isinstance(planted, str) else "/".join(planted)
    assert first.name == expected
    assert first.sure
    assert first.difference_ns == pytest.approx(1e7, rel=0.15)
    assert first.share == pytest.approx(1.0, abs=0.25)


def test_a_cause_in_all_of_a_scope_is_named_by_the_scope() -> None:
    rng = np.random.default_rng(8)
    baselines = [run_of(rng) for _ in range(10)]
    slow = []
    for _ in range(5):
        run = run_of(rng)
        host = dict(run.host)
        for op in ("aten::add_", "aten::mul_"):
            host["optimizer", op] = 2.0 * host["optimizer", op]
        profiled = sum(host.values())
        slow.append(RunFigures(run="s", where="s", host=host, profiled_step=steps_mean(profiled)))
    first = causes(slow, baselines, alpha=0.01)[0]
    assert (first.name, first.sure) == ("optimizer", True)


def test_equal_runs_have_no_sure_cause() -> None:
    rng = np.random.default_rng(9)
    alarms = 0
    for _ in range(100):
        found = causes([run_of(rng) for _ in range(5)], [run_of(rng) for _ in range(5)], alpha=0.01)
        alarms += any(cause.sure for cause in found)
    assert alarms <= 4


def test_faster_runs_have_no_cause_above_zero_shares() -> None:
    rng = np.random.default_rng(10)
    slow = [run_of(rng, ("forward",), 10.0) for _ in range(5)]
    assert causes([run_of(rng) for _ in range(5)], slow, alpha=0.01) == []
