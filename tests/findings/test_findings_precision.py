"""Mixed precision is suggested where Tensor Cores are there and kernels say that they do not use them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.findings import Finding, LensResult, find
from stepscope.findings.precision import RULE
from stepscope.lenses.views import ViewEngine
from stepscope.sources import torch_trace

PLAIN, MATRIX = (
    "ampere_sgemm_128x64_nn",
    "ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5_nn",
)
OTHER = "vectorized_elementwise_kernel"
A100: dict[str, Any] = {
    "id": 0,
    "name": "NVIDIA A100-SXM4-40GB",
    "computeMajor": 8,
    "computeMinor": 0,
}


def found(folder: Path, kernels: dict[str, float], device: dict[str, Any] = A100) -> list[Finding]:
    """What the rule says of kernels that run one after the other, each for so many us."""
    step = {
        "ph": "X",
        "cat": "user_annotation",
        "name": "ProfilerStep#1",
        "pid": 1,
        "tid": 1,
        "ts": 0,
        "dur": 1000,
    }
    events, start = [step], 10.0
    for name, duration in kernels.items():
        place = {"pid": 0, "tid": 7, "args": {"device": 0, "stream": 7}}
        events.append(
            {"ph": "X", "cat": "kernel", "name": name, "ts": start, "dur": duration, **place}
        )
        start += duration
    path = folder / "worker0.pt.trace.json"
    path.write_text(
        json.dumps({"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events})
    )
    return find(
        [LensResult("views", "a", "torch", ViewEngine(torch_trace.read(path).records[0].record))],
        [RULE],
    )


def test_plain_multiplications_on_a_device_with_tensor_cores_are_hinted_at(tmp_path: Path) -> None:
    (one,) = found(tmp_path, {PLAIN: 30, "ampere_sgemm_64x32_tn": 10, OTHER: 60})
    assert (
        one.title
        == "40% of the device's time is in FP32 kernels without Tensor Cores, judging by name"
    )
    assert (one.cost, one.unit, one.certainty, one.saving) == (40, "us", "hint", None)
    assert {place.key for place in one.evidence} == {PLAIN}
    assert 'torch.set_float32_matmul_precision("high")' in one.changes[0]


@pytest.mark.parametrize(
    "kernel",
    [
        "ampere_scudnn_128x64_relu_medium_nn_v1",
        "implicit_convolve_sgemm",
        "void cudnn::cnn::wgrad_alg0_engine<float, 128>",
    ],
)
def test_kernels_of_cudnn_are_known_by_their_names(tmp_path: Path, kernel: str) -> None:
    assert len(found(tmp_path, {kernel: 90, MATRIX: 1})) == 1


@pytest.mark.parametrize(
    "kernels",
    [
        pytest.param({PLAIN: 40, MATRIX: 60}, id="most kernels use them"),
        pytest.param({PLAIN: 19, OTHER: 81}, id="multiplications are a small part"),
        pytest.param({"implicit_convolve": 90}, id="the name leaves it open"),
        pytest.param({"volta_dgemm_64x64_nn": 90}, id="of doubles"),
        pytest.param({OTHER: 90}, id="nothing is multiplied"),
        pytest.param({}, id="nothing runs"),
    ],
)
def test_nothing_is_said_where_tensor_cores_are_used_or_would_not_help(
    tmp_path: Path, kernels: dict[str, float]
) -> None:
    assert found(tmp_path, kernels) == []


@pytest.mark.parametrize(
    "device",
    [
        pytest.param(
            {"id": 0, "name": "Tesla P100-PCIE-16GB", "computeMajor": 6, "computeMinor": 0},
            id="Pascal",
        ),
        pytest.param(
            {"id": 0, "name": "NVIDIA GeForce GTX 1660", "computeMajor": 7, "computeMinor": 5},
            id="GTX",
        ),
        pytest.param(
            {"id": 0, "name": "AMD Instinct MI50", "computeMajor": 9, "computeMinor": 0}, id="AMD"
        ),
        pytest.param({"id": 0, "name": "unknown"}, id="no capability known"),
        pytest.param({**A100, "id": 1}, id="another device"),
    ],
)
def test_nothing_is_said_of_a_device_that_is_not_known_to_have_them(
    tmp_path: Path, device: dict[str, Any]
) -> None:
    assert found(tmp_path, {PLAIN: 90}, device) == []


def test_twenty_percent_is_enough(tmp_path: Path) -> None:
    assert len(found(tmp_path, {PLAIN: 20, OTHER: 80})) == 1
