"""There is one utilization, and it is right."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from torch_traces import profile_of, range_, read, step

from paths import SHARED
from stepscope.lenses.trace.breakdown import breakdown
from stepscope.lenses.trace.ranks import ranks
from stepscope.lenses.trace.utilization import utilization
from stepscope.model.profile import Profile
from stepscope.sources import registry

PACKAGE = Path(__file__).resolve().parents[3] / "tb_plugin" / "stepscope"


def kernel(start: float, duration: float, stream: int = 7, **args: object) -> dict[str, object]:
    return range_(
        "k", start, duration, cat="kernel", pid=0, tid=stream, device=0, stream=stream, **args
    )


def used(profile: Profile) -> tuple[float, float]:
    """Busy and elapsed us of the only device."""
    ((busy, window),) = utilization(profile).values()
    return busy * profile.tick_ps / 1e6, window * profile.tick_ps / 1e6


def test_only_one_module_unites_device_work_to_busy_time() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert [path.name for path, text in texts.items() if re.search(r"def utilization\(", text)] == [
        "utilization.py"
    ]
    users = {path.name for path, text in texts.items() if "lenses.trace.utilization import" in text}
    assert {"devices.py", "ranks.py", "timeline.py", "views.py", "cross.py"} <= users


def test_streams_that_run_at_once_are_busy_once() -> None:
    assert used(profile_of(step(1, 0, 100), kernel(10, 40), kernel(30, 40, stream=8))) == (60, 100)


def test_work_outside_steps_is_in_no_step() -> None:
    assert used(profile_of(kernel(0, 5), step(1, 10, 100), kernel(20, 50), kernel(400, 50))) == (
        50,
        100,
    )


def test_a_profile_without_steps_reaches_from_its_first_to_its_last_work() -> None:
    record = profile_of(range_("op", 10, 90, cat="cpu_op"), kernel(0, 50), kernel(100, 200))
    assert used(record) == (250, 300)


def test_steps_of_which_the_device_runs_behind_share_no_moment() -> None:
    events = []
    for number in range(3):
        events.append(step(number, 100 * number, 90))
        events.append(
            range_("launch", 100 * number + 5, 1, cat="cuda_runtime", correlation=number + 1)
        )
        events.append(kernel(80 + 100 * number, 100, correlation=number + 1))
    steps = breakdown(profile_of(*events)).steps
    assert (steps.start[1:] >= steps.end[:-1]).all()
    assert used(profile_of(*events)) == (300, 380)


@pytest.mark.parametrize(
    ("name", "busy", "window"),
    [
        ("i01_host_ahead.pt.trace.json", 50_000, 51_000),
        ("i13_two_streams.pt.trace.json", 1000, 1200),
        ("ahead.pt.trace.json.gz", None, None),
        ("stray.pt.trace.json", None, None),
    ],
)
def test_cases_have_their_right_utilization(
    shared: Path, name: str, busy: float | None, window: float | None
) -> None:
    (path,) = (shared / "cases/torch").glob(f"{name.split('.')[0]}.pt.trace.json*")
    got = used(read(path))
    if busy is None:
        assert got[0] / got[1] > 0.83
    else:
        assert got == (busy, window)


def xplanes() -> list[Path]:
    return sorted((SHARED / "cases/xplane").glob("*.xplane.pb"))


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("path", xplanes(), ids=lambda path: path.name)
def test_xplane_cases_have_their_right_windows(path: Path) -> None:
    right = json.loads(path.with_name(path.name.removesuffix(".xplane.pb") + ".json").read_text())
    (record,) = [n.record for n in registry.read(path).records if isinstance(n.record, Profile)]
    found = breakdown(record)
    tick_us = record.tick_ps / 1e6
    if "whole_us" in right:
        assert float((found.steps.end - found.steps.start).sum()) * tick_us == right["whole_us"]
    if "device_busy_us" in right:
        assert used(record)[0] == right["device_busy_us"]
    if "breakdown_us" in right:
        parts = found.to_json()["total_ps"]
        assert {
            name: us for name, us in right["breakdown_us"].items() if parts[name] == us * 10**6
        } == right["breakdown_us"]


@pytest.mark.parametrize("name", ["gloo"])
def test_a_host_collective_that_ends_late_stretches_no_step(shared: Path, name: str) -> None:
    (path,) = (shared / "cases/torch").glob(f"{name}.pt.trace.json*")
    right = json.loads((shared / f"cases/torch/{name}.right.json").read_text())
    record = read(path)
    steps = breakdown(record).steps
    assert ((steps.end - steps.start) * record.tick_ps / 1e6).tolist() == right["steps_us"]
    assert steps.complete.tolist() == right["complete"]


def test_ranks_say_the_same_utilization() -> None:
    record = profile_of(step(1, 0, 100), kernel(10, 40), kernel(30, 40, stream=8))
    (rank,) = ranks([record]).to_json()["ranks"]
    (device,) = breakdown(record).devices
    assert (
        (rank["busy_ps"], rank["span_ps"])
        == (device.busy_ps, device.span_ps)
        == (60 * 10**6, 100 * 10**6)
    )


def communication_us(record: Profile) -> float:
    """The time of the steps that is spent on communication and nothing else."""
    return breakdown(record).to_json()["total_ps"]["communication"] / 1e6


def test_the_hosts_range_of_a_collective_is_no_communication_where_a_kernel_is_its_own(
    shared: Path,
) -> None:
    (path,) = (shared / "cases/torch").glob("nccl_enqueue.pt.trace.json*")
    assert communication_us(read(path)) == 1000


def test_collectives_of_inference_servers_are_communication(shared: Path) -> None:
    record = read(shared / "cases/torch/i23_vllm_custom_allreduce.pt.trace.json")
    found = breakdown(record)
    assert communication_us(record) == 1200
    assert found.to_json()["total_ps"]["kernel"] == 400 * 10**6
    assert len(found.steps) == 4


@pytest.mark.parametrize(
    ("name", "communicates"),
    [
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", True),
        ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>", True),
        (
            "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<2>",
            True,
        ),
        ("multimem_all_reduce_kernel", True),
        ("two_shot_all_reduce_kernel_inplace", True),
        ("nvshmemi_transfer_put_signal", True),
        ("void at::native::reduce_kernel<512, 1>", False),
        ("void cub::DeviceReduceKernel<policy>", False),
        ("gather_kernel", False),
        ("triton_red_fused_all_mean_0", False),
    ],
)
def test_kernels_communicate_by_their_name(name: str, communicates: bool) -> None:
    event = range_(name, 10, 40, cat="kernel", pid=0, tid=7, device=0, stream=7)
    parts = breakdown(profile_of(step(1, 0, 100), event)).to_json()["total_ps"]
    assert (parts["communication"] > 0) == communicates
