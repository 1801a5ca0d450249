"""What is left unexplained is told without a saving, and changes are named in the words of the framework."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from torch_traces import range_, step

import stepscope
from stepscope.cli.main import main

Event = dict[str, Any]


def call(name: str, start: float, duration: float, correlation: int) -> Event:
    return range_(name, start, duration, cat="cuda_runtime", correlation=correlation)


def kernel(
    start: float, duration: float, correlation: int, name: str = "gemm", cat: str = "kernel"
) -> Event:
    args = {"device": 0, "stream": 7, "correlation": correlation}
    return range_(name, start, duration, cat=cat, pid=0, tid=7, **args)


def findings(folder: Path, *events: Event) -> dict[str, Any]:
    path = folder / "worker0.pt.trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return {finding["rule"]: finding for finding in stepscope.open(path).findings()}


def waiting_trace(copy_name: str) -> list[Event]:
    """A kernel launched at 20 us that starts at 5,000 us, for nothing that is recorded, before a copy."""
    return [
        step(1, 0, 10_000),
        range_("aten::mm", 5, 30, cat="cpu_op"),
        call("cudaLaunchKernel", 6, 3, 1),
        kernel(10, 5, 1),
        call("cudaLaunchKernel", 20, 3, 2),
        kernel(5_000, 5, 2),
        range_("aten::copy_", 50, 4_970, cat="cpu_op"),
        call(copy_name, 52, 4_965, 3),
        kernel(5_006, 4, 3, "Memcpy DtoH (Device -> Host)", "gpu_memcpy"),
        range_("aten::mm", 5_030, 30, cat="cpu_op"),
        call("cudaLaunchKernel", 5_032, 3, 4),
        kernel(5_040, 4_960, 4),
    ]


def test_idle_time_behind_a_blocking_copy_names_the_copy_and_no_saving(tmp_path: Path) -> None:
    finding = findings(tmp_path, *waiting_trace("hipMemcpyWithStream"))["unexplained-idle"]
    assert "idle 49% of the step" in finding["title"]
    assert "hipMemcpyWithStream of aten::copy_ blocks the host" in finding["title"]
    assert finding["saving"] is None
    assert finding["saving_share"] is None
    # From 40 us after the launch at 20 us.
    assert finding["cost"] == pytest.approx(4_940, abs=5)


def test_idle_time_without_a_waiting_call_names_none(tmp_path: Path) -> None:
    finding = findings(tmp_path, *waiting_trace("hipMemcpyAsync"))["unexplained-idle"]
    assert "blocks" not in finding["title"]


def late_launches(*names: str) -> list[Event]:
    """Ops with 10 us of device work each 100 us."""
    events = [step(1, 0, 2_000)]
    for number in range(20):
        start = 100 * number
        events.append(range_(names[number % len(names)], start + 60, 20, cat="cpu_op"))
        events.append(call("cudaLaunchKernel", start + 62, 3, number + 1))
        events.append(kernel(start + 68, 10, number + 1))
    return events


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (
            ("aten::mm", "autograd::engine::evaluate_function: MmBackward0"),
            'mode="reduce-overhead"',
        ),
        (("aten::mm", "vllm::moe_forward"), "vLLM without --enforce-eager"),
        (("aten::mm", "sgl_kernel::fwd"), "SGLang without --disable-cuda-graph"),
        (("aten::mm",), 'CUDA graphs: torch.compile(model, mode="reduce-overhead")'),
        (("dot.1", "fusion.2"), "jax.jit"),
    ],
)
def test_a_slow_host_is_told_in_the_words_of_the_framework(
    tmp_path: Path, names: tuple[str, ...], words: str
) -> None:
    events = late_launches(*names)
    if "aten::mm" not in names:
        del events[0]  # ProfilerStep is PyTorch's.
    finding = findings(tmp_path, *events)["host-bound"]
    assert words in finding["try"][0]
    trains = any("Backward" in name for name in names)
    assert any("optimizer" in change for change in finding["try"]) == trains


@pytest.mark.parametrize(
    ("op", "framework"), [("aten::contiguous", "channels_last"), ("transpose.3", "jit boundary")]
)
def test_layout_copies_are_avoided_in_the_words_of_the_framework(
    tmp_path: Path, op: str, framework: str
) -> None:
    events = [range_(op, 5, 20, cat="cpu_op"), call("cudaLaunchKernel", 6, 3, 1)]
    events.append(kernel(15, 900, 1, op if op == "transpose.3" else "elementwise_kernel"))
    finding = findings(tmp_path, *events)["layout-copies"]
    assert any(framework in change for change in finding["try"])
    assert any("jit" in change for change in finding["try"]) == (op == "transpose.3")


def test_a_finding_without_a_known_saving_shows_a_dash(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["findings", str(shared / "cases/findings/fp32.pt.trace.json.gz")]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "FP32 kernels" in line)
    assert line.split()[0] == "—"


def test_largest_costs_name_ops_and_not_their_wrappers(tmp_path: Path) -> None:
    wrapper = range_("autograd::engine::evaluate_function: MmBackward0", 0, 100, cat="cpu_op")
    path = tmp_path / "worker0.pt.trace.json"
    events = [wrapper, range_("MmBackward0", 1, 98, cat="cpu_op"), range_("forward", 0, 200)]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [step(1, 0, 200), *events]}))
    (summary,) = stepscope.open(path).summary()
    assert [cost["evidence"][0]["key"] for cost in summary["costs"]] == ["MmBackward0"]
