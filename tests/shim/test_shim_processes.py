"""Real processes that end in every way, through every kind of writer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from stepscope.model.throughput import Throughput
from stepscope.model.throughput_merge import merge
from stepscope.store.local import LocalStore

OWN = "target = logdir"
TORCH = "from torch.utils.tensorboard import SummaryWriter; target = SummaryWriter(logdir)"
TENSORBOARDX = "from tensorboardX import SummaryWriter; target = SummaryWriter(logdir)"
TENSORFLOW = "import tensorflow as tf; target = tf.summary.create_file_writer(logdir)"
TARGETS = {"own": OWN, "torch": TORCH, "tensorboardX": TENSORBOARDX, "tensorflow": TENSORFLOW}

LOOP = """
import os, sys, time, signal
logdir = sys.argv[1]
{target}
import stepscope
writer = stepscope.Writer(target, flush_secs=0.2{options})
rate = writer.throughput("train", log_every=10)
for step in range(1, 101):
    rate.add(2, step=step)
"""


def start(tmp_path: Path, body: str, target: str = OWN, options: str = "") -> subprocess.Popen[str]:
    script = tmp_path / "loop.py"
    script.write_text(LOOP.format(target=target, options=options) + textwrap.dedent(body))
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", str(script), str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def run(tmp_path: Path, body: str, target: str = OWN, options: str = "") -> tuple[int, str]:
    with start(tmp_path, body, target, options) as process:
        _, errors = process.communicate(timeout=120)
    return process.returncode, errors


def sessions(tmp_path: Path) -> list[Throughput]:
    """The series of each process, in order of their start."""
    store = LocalStore(logdir=str(tmp_path / "run"))
    store.refresh()
    assert store.problems() == []
    blocks: dict[str, list[Throughput]] = {}
    for entry in store.entries():
        blocks.setdefault(entry.session, []).append(store.read(entry))  # type: ignore[arg-type]
    return sorted(
        (merge(found) for found in blocks.values()), key=lambda record: record.header.wall_anchor_ns
    )


@pytest.fixture(params=list(TARGETS))
def target(request: pytest.FixtureRequest) -> str:
    module = {"torch": "torch", "tensorboardX": "tensorboardX", "tensorflow": "tensorflow"}.get(
        request.param
    )
    if module is not None and not _installed(module):
        pytest.skip(f"{module} is not installed")
    return TARGETS[request.param]


def _installed(module: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(module) is not None


def test_a_normal_exit_without_close_loses_nothing(tmp_path: Path, target: str) -> None:
    code, errors = run(tmp_path, "", target)
    assert code == 0
    assert "StepScope" not in errors
    (record,) = sessions(tmp_path)
    assert record.marks.step.tolist() == list(range(1, 101))
    assert record.samples.step.tolist() == list(range(10, 101, 10))


def test_an_exception_loses_nothing(tmp_path: Path, target: str) -> None:
    code, errors = run(tmp_path, "raise RuntimeError('out of memory')", target)
    assert code == 1
    assert errors.splitlines()[-1] == "RuntimeError: out of memory"
    (record,) = sessions(tmp_path)
    assert record.marks.step.tolist() == list(range(1, 101))


def test_a_fork_neither_loses_nor_doubles(tmp_path: Path, target: str) -> None:
    if target == TENSORFLOW:
        pytest.skip("TensorFlow does not survive a fork")
    body = """
    child = os.fork()
    if not child:
        for step in range(500, 520):
            rate.add(3, step=step)
        writer.close()
        os._exit(0)  # tensorboardX's own exit handler waits for ever in a forked process
    assert os.waitpid(child, 0)[1] == 0
    rate.add(2, step=101)
    """
    code, errors = run(tmp_path, body, target)
    assert (code, errors) == (0, "")
    parent, child = sessions(tmp_path)
    assert parent.marks.step.tolist() == list(range(1, 102))
    assert child.marks.step.tolist() == list(range(500, 520))


def test_a_fork_that_logs_nothing_leaves_no_file(tmp_path: Path) -> None:
    body = """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    """
    code, errors = run(tmp_path, body)
    assert (code, errors) == (0, "")
    assert len(list((tmp_path / "run").iterdir())) == 1


def test_processes_of_multiprocessing_lose_nothing(tmp_path: Path) -> None:
    body = """
    import multiprocessing
    def work():
        for step in range(7):
            rate.add(1, step=step)
    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start(); worker.join()
    assert worker.exitcode == 0
    """
    code, errors = run(tmp_path, body)
    assert (code, errors) == (0, "")
    parent, child = sessions(tmp_path)
    assert (len(parent.marks), len(child.marks)) == (100, 7)


WAIT = """
print("ready", flush=True)
step = 100
while True:
    step += 1
    rate.add(2, step=step)
    print(step, flush=True)
    time.sleep(0.01)
"""


def next_step(process: subprocess.Popen[str]) -> int:
    """Returns the next step that the loop says it has added."""
    assert process.stdout is not None
    return int(process.stdout.readline())


def stored_steps(tmp_path: Path) -> list[int]:
    """Returns the steps that a reader sees while the process still runs."""
    records = sessions(tmp_path)
    return records[0].marks.step.tolist() if records else []


def wait_until_stored(process: subprocess.Popen[str], tmp_path: Path, step: int) -> None:
    """Waits until a flush has written a step; on a busy machine that may take long."""
    give_up = time.monotonic() + 120
    while step not in stored_steps(tmp_path):
        assert time.monotonic() < give_up, f"step {step} was never written"
        next_step(process)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_process_keeps_all_that_was_flushed(
    tmp_path: Path, target: str, number: signal.Signals
) -> None:
    with start(tmp_path, WAIT, target) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        added = next_step(process)
        wait_until_stored(process, tmp_path, added)
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode == -number
    steps = stored_steps(tmp_path)
    assert steps == list(range(1, len(steps) + 1))
    assert added in steps


def test_sigterm_with_the_handler_loses_nothing_and_goes_on_to_the_one_before(
    tmp_path: Path,
) -> None:
    body = "writer._flush_secs = 3600\n" + WAIT
    script = "signal.signal(signal.SIGTERM, lambda *_: (print('stop', flush=True), os._exit(5)))\n"
    with start(tmp_path, body, OWN + "\n" + script, ", flush_on_sigterm=True") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        first = next_step(process)
        process.send_signal(signal.SIGTERM)
        said = [str(first), *process.stdout.read().split()]
    assert process.returncode == 5
    assert said[-1] == "stop"
    (record,) = sessions(tmp_path)
    assert int(said[-2]) in record.marks.step.tolist()[-2:]


def test_sigterm_with_the_handler_still_ends_a_process_that_has_no_other(tmp_path: Path) -> None:
    with start(tmp_path, WAIT, OWN, ", flush_on_sigterm=True") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        next_step(process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM


def test_several_processes_log_into_one_directory(tmp_path: Path) -> None:
    body = """
    children = []
    for number in range(3):
        child = os.fork()
        if not child:
            for step in range(50):
                rate.add(number + 1, step=step)
            sys.exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    """
    code, errors = run(tmp_path, body)
    assert (code, errors) == (0, "")
    found = sessions(tmp_path)
    assert sorted(int(record.marks.count.sum()) for record in found) == [50, 100, 150, 200]
