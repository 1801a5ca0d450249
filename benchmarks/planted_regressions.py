"""Plants one culprit in each of twelve real runs here, and looks whether `check` names it first; then A/A runs.

Run from the project's root: python benchmarks/planted_regressions.py [--work DIR]. Needs torch; takes some minutes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset

import stepscope
from stepscope.session.check import check
from stepscope.session.opening import open as open_source
from stepscope.session.run_figures import RunFigures, figures_of

STEPS = 70
PROFILED = 40
BASELINES = 5
REPETITIONS = 10
EXTRA_S = 0.004

# What is planted, and what the first cause's name has to hold.
CULPRITS = {
    "scope-data": "prepare",
    "scope-loss": "forward/loss",
    "scope-optimizer": "optimizer",
    "op-mm": "aten::mm",
    "op-sort": "aten::sort",
    "op-cumsum": "aten::cumsum",
    "phase-augment": "augment",
    "phase-log": "log",
    "collective-allreduce": "all_reduce",
    "collective-broadcast": "broadcast",
    "loader-dataset": "DataLoader",
    "loader-collate": "DataLoader",
}


class Samples(Dataset[torch.Tensor]):
    """A data set of noise whose items may be slow."""

    def __init__(self, culprit: str) -> None:
        self.culprit = culprit

    def __len__(self) -> int:
        return STEPS

    def __getitem__(self, index: int) -> torch.Tensor:
        if self.culprit == "loader-dataset":
            time.sleep(EXTRA_S)
        return torch.randn(64, 128)


def collate(culprit: str, items: list[torch.Tensor]) -> torch.Tensor:
    """Stacks the items, perhaps slowly."""
    if culprit == "loader-collate":
        time.sleep(EXTRA_S)
    return torch.stack(items)[0]


def train(folder: Path, culprit: str, trace: Path) -> None:
    """A small loop on the CPU with ranges, spans, a loader and a collective in each step."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64)
    )
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    gradient = torch.ones(300_000)
    slow_gradient = torch.ones(12_000_000)
    matrix = torch.ones(500, 500)
    noise = torch.randn(60_000)
    long_noise = torch.randn(3_000_000)
    loader = DataLoader(
        Samples(culprit), batch_size=1, collate_fn=lambda items: collate(culprit, items)
    )
    with stepscope.Writer(folder) as writer:
        rate = writer.throughput("train", log_every=1)
        profiler = profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=0, warmup=1, active=PROFILED, repeat=1),
            on_trace_ready=lambda ready: ready.export_chrome_trace(str(trace)),
        )
        profiler.start()
        for step, batch in enumerate(loader, 1):
            with rate.span("augment"):
                time.sleep(0.001 + EXTRA_S * (culprit == "phase-augment"))
            with record_function("prepare"):
                inputs = batch * 2.0
                time.sleep(0.001 + EXTRA_S * (culprit == "scope-data"))
            with record_function("forward"):
                outputs = model(inputs)
                with record_function("loss"):
                    loss = outputs.square().mean()
                    time.sleep(EXTRA_S * (culprit == "scope-loss"))
                if culprit == "op-mm":
                    torch.mm(matrix, matrix)
                if culprit == "op-sort":
                    torch.sort(noise)
                if culprit == "op-cumsum":
                    torch.cumsum(long_noise, 0)
            with record_function("backward"):
                loss.backward()
            dist.all_reduce(slow_gradient if culprit == "collective-allreduce" else gradient)
            dist.broadcast(slow_gradient if culprit == "collective-broadcast" else gradient, 0)
            with record_function("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
                time.sleep(EXTRA_S * (culprit == "scope-optimizer"))
            with rate.span("log") if culprit == "phase-log" else nullcontext():
                time.sleep(EXTRA_S * (culprit == "phase-log"))
            rate.add(64, step=step)
            if step <= PROFILED + 1:
                profiler.step()
            if step == PROFILED + 1:
                profiler.stop()
        writer.log_profile(trace, step=PROFILED)


def run(folder: Path, culprit: str, trace: Path) -> RunFigures:
    """The figures of a run."""
    train(folder, culprit, trace)
    return figures_of(open_source(folder))[0]


def main() -> None:
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29577")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=0, world_size=1)
    work = Path(tempfile.mkdtemp(prefix="stepscope-planted-"))
    trace = work / "trace.json"
    run(work / "warm-up", "", trace)
    baselines = [run(work / f"base{number}", "", trace) for number in range(BASELINES)]
    named = 0
    for culprit, name in CULPRITS.items():
        verdict = check([run(work / culprit, culprit, trace)], baselines)
        first = verdict.causes[0].name if verdict.causes else "nothing"
        named += name in first
        worse = verdict.metrics[0].worse or 0.0
        print(f"{culprit:22} {worse:+7.1%} {verdict.verdict:12} first cause: {first}", flush=True)
    print(f"named first: {named} of {len(CULPRITS)}")
    if "--aa" in sys.argv:
        verdicts = []
        for number in range(REPETITIONS):
            verdicts.append(check([run(work / f"again{number}", "", trace)], baselines).verdict)
        print(f"{REPETITIONS} repetitions of equal runs: {', '.join(verdicts)}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
