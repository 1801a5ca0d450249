"""Profiles straight from a PyTorch loop, with the real PyTorch."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.errors import OptionError
from stepscope.integrations.torch import module_scopes, profile_steps, trace_handler
from stepscope.lenses.throughput import analyze
from stepscope.model.profile import Profile
from stepscope.model.throughput import Throughput
from stepscope.store.local import LocalStore
from stepscope.store.reading import RecordEntry

torch = pytest.importorskip("torch")
# PyTorch warns that a cycle's events are gone after it; they are logged by then.
pytestmark = pytest.mark.filterwarnings("ignore:.*Profiler clears events:UserWarning")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)])

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def entries(directory: Path) -> list[RecordEntry]:
    store = LocalStore(logdir=str(directory))
    store.refresh()
    return sorted(store.entries(), key=lambda entry: entry.first_step or 0)


def records(directory: Path) -> list[Any]:
    store = LocalStore(logdir=str(directory))
    store.refresh()
    return [store.read(entry) for entry in entries(directory)]


def scope_names(profile: Profile) -> set[str]:
    texts = list(profile.strings)
    return {texts[name] for name in profile.scopes.name}


def run_counts(profile: Profile) -> dict[str, int]:
    texts, counts = list(profile.strings), dict.fromkeys(profile.strings, 0)
    for node, count in zip(
        profile.node_steps.node, profile.node_steps.run_count.tolist(), strict=True
    ):
        counts[texts[profile.nodes.name[node]]] += count
    return counts


def test_chosen_steps_are_logged_with_attribute_paths(tmp_path: Path) -> None:
    model = Block()
    with (
        stepscope.Writer(tmp_path) as writer,
        profile_steps(writer, steps=[1, 3, 4], model=model) as profiler,
    ):
        for _ in range(6):
            model(torch.ones(2, 4)).sum().backward()
            profiler.step()
    assert writer.failures == 0
    first, second = records(tmp_path)
    assert [entry.first_step for entry in entries(tmp_path)] == [1, 3]
    assert first.steps.id.tolist() == [1]
    assert second.steps.id.tolist() == [3, 4]
    assert run_counts(second)["aten::linear"] == 4
    assert {"Block", "layers.0", "layers.1"} <= scope_names(second)
    assert not {name for name in scope_names(second) if name.startswith(("Block_", "Linear_"))}
    assert len(second.traces) > 0
    assert len(second.allocations) > 0


def test_the_handler_logs_every_cycle_of_a_schedule(tmp_path: Path) -> None:
    schedule = torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=2)
    with (
        stepscope.Writer(tmp_path) as writer,
        torch.profiler.profile(schedule=schedule, on_trace_ready=trace_handler(writer)) as profiler,
    ):
        for _ in range(4):
            torch.ones(3).add(1)
            profiler.step()
    assert [run_counts(profile)["aten::add"] for profile in records(tmp_path)] == [1, 1]


def rate_record(directory: Path) -> Throughput:
    (record,) = [one for one in records(directory) if isinstance(one, Throughput)]
    return record


def train_slowly_exported(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Throughput:
    """A loop of 40 steps, one of them profiled, whose trace takes 0.3 s to be logged."""
    log_profile = stepscope.Writer.log_profile

    def slowly(*args: Any, **kwargs: Any) -> None:
        time.sleep(0.3)
        log_profile(*args, **kwargs)

    monkeypatch.setattr(stepscope.Writer, "log_profile", slowly)
    with stepscope.Writer(directory) as writer, profile_steps(writer, steps=20) as profiler:
        rate = writer.throughput()
        for step in range(40):
            torch.ones(3).add(1)
            rate.add(1, step=step)
            profiler.step()
    return rate_record(directory)


def test_the_time_of_the_profiler_is_no_stall_and_no_time_of_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = train_slowly_exported(tmp_path, monkeypatch)
    assert [record.strings[kind] for kind in record.spans.kind] == ["profile"] * 2, (
        "it starts, and it is logged"
    )
    (series,) = analyze(record).series
    kinds = [note.kind for note in series.annotations]
    assert "stall" not in kinds
    longest = max(
        (note for note in series.annotations if note.kind == "profile"),
        key=lambda n: n.evidence["duration_ns"],
    )
    assert longest.title.startswith("Profiling of ")
    whole, training = series.statistics["whole_time"], series.statistics["training_only"]
    assert training["left_out_ns"]["profile"] >= 300_000_000
    assert whole["duration_ns"] - training["duration_ns"] == training["left_out_ns"]["profile"]


def test_a_handler_of_ones_own_profiler_marks_its_time_too(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        train, other = writer.throughput("train"), writer.throughput("other")
        train.add(1)
        other.close()
        with torch.profiler.profile() as profiler:
            torch.ones(3).add(1)
        trace_handler(writer)(profiler)
    record = rate_record(tmp_path)
    assert [record.strings[kind] for kind in record.spans.kind] == ["profile"]


def test_ops_agree_with_the_profilers_own_table(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        with torch.profiler.profile() as profiler:
            torch.relu(torch.ones(8, 8) @ torch.ones(8, 8))
        trace_handler(writer)(profiler)
    (profile,) = records(tmp_path)
    counts = run_counts(profile)
    for row in profiler.key_averages():
        assert counts[row.key] == row.count


def test_a_module_that_raises_closes_its_scope(tmp_path: Path) -> None:
    class Failing(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("no")

    model = torch.nn.Sequential(torch.nn.Linear(2, 2), Failing())
    with torch.profiler.profile() as profiler, module_scopes(model):
        with pytest.raises(ValueError, match="no"):
            model(torch.ones(1, 2))
        torch.ones(2).mul(2)
    ranges = {event.name: event.time_range for event in profiler.events()}
    assert ranges["1"].end <= ranges["aten::mul"].start
    assert ranges["Sequential"].end <= ranges["aten::mul"].start


def test_hooks_are_gone_afterwards() -> None:
    model = Block()
    with module_scopes(model):
        assert model.layers[0]._forward_pre_hooks
    assert not any(module._forward_pre_hooks or module._forward_hooks for module in model.modules())


def test_wrappers_leave_no_mark_in_paths() -> None:
    class Compiled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self._orig_mod = torch.nn.Sequential(torch.nn.Linear(2, 2))

        def forward(self, x: Any) -> Any:
            return self._orig_mod(x)

    model = torch.nn.DataParallel(torch.nn.Sequential(Compiled()))
    with torch.profiler.profile() as profiler, module_scopes(model):
        model.module(torch.ones(1, 2))
    names = [event.name for event in profiler.events() if not event.name.startswith("aten::")]
    assert sorted(names) == ["0", "0.0", "Sequential"]


@pytest.mark.filterwarnings("ignore")
def test_a_profiler_that_cannot_export_stops_nothing(tmp_path: Path) -> None:
    class Broken:
        step_num = 1

        def export_chrome_trace(self, path: str) -> None:
            raise RuntimeError("nothing was recorded")

    with stepscope.Writer(tmp_path) as writer:
        trace_handler(writer)(Broken())
    assert writer.failures == 1


@pytest.mark.parametrize("steps", [[], [-1], -1])
def test_steps_must_be_chosen(steps: Any, tmp_path: Path) -> None:
    with (
        stepscope.Writer(tmp_path) as writer,
        pytest.raises(OptionError, match="steps to profile"),
        profile_steps(writer, steps=steps),
    ):
        pass


def test_torch_is_imported_only_when_used() -> None:
    code = "import sys, stepscope.integrations.torch; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ranks_of_a_job_are_runs_of_their_own(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "torch_ddp.py"), str(tmp_path), "--steps", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for rank in (0, 1):
        (profile,) = (
            record for record in records(tmp_path / f"rank{rank}") if isinstance(record, Profile)
        )
        assert (profile.header.rank, profile.header.world_size) == (rank, 2)
        assert run_counts(profile)["gloo:all_reduce"] >= 1


def test_the_training_example_logs_both_models(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "torch_train.py"), str(tmp_path), "--steps", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for run, scope in (("conv", "4"), ("transformer", "layers.1.self_attn")):
        kinds = {type(record).__name__: record for record in records(tmp_path / run)}
        assert set(kinds) == {"Profile", "Throughput"}
        assert scope in scope_names(kinds["Profile"])
