"""Tensor Cores by the names of kernels: said, denied, or left open; never guessed."""

from __future__ import annotations

from typing import Any

import pytest
from torch_traces import profile_of, range_, read_golden, step

from stepscope.lenses.trace import tables
from stepscope.lenses.trace.breakdown import breakdown
from stepscope.lenses.trace.tensor_cores import (
    NO,
    SAYS_NOTHING,
    YES,
    tensor_core_words,
    uses_tensor_cores,
)
from stepscope.model.profile import NodeKind

SAID = (
    "volta_h884gemm_128x64_ldg8_nn",
    "volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc_tn_v1",
    "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn",
    "ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5_nn",
    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
    "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_32x1_nn_align8>(Params)",
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4>",
    "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_tilesize64x128x32_g1_tensor16x8x8_execute_kernel_cudnn_infer",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_kernel__5x_cublas",
    "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64",
    "void cutlass::device_kernel<MainloopSm90TmaGmmaWarpSpecialized<7>>",
    "void flash_fwd<cute::SM80_16x8x16_F32F16F16F32_TN>",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32_MI16x16x1_SN_LDSB1",
    "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt64x64x64",
    "kernel_gemm_xdl_cshuffle_v3",
)
DENIED = (
    "volta_sgemm_128x64_nn",
    "ampere_sgemm_32x32_sliced1x4_tn",
    "volta_gcgemm_32x32_nt",
    "void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>",
    "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_tilesize128x128x8_g1_ffma_execute_kernel_cudnn",
)
OPEN = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>",
    "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>",
    "SubTensorOpWithCastTensor1d",
    "nvjet_tst_192x8_64x8_4x1_v_bz_TNT",
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128>>",
    "implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, false>",
    "triton_poi_fused_add_0",
)


@pytest.mark.parametrize(
    ("name", "uses"),
    [(n, True) for n in SAID] + [(n, False) for n in DENIED] + [(n, None) for n in OPEN],
)
def test_a_name_says_whether_its_kernel_uses_tensor_cores(name: str, uses: bool | None) -> None:
    assert uses_tensor_cores(name) is uses


def _launched(op: str, at: float, kernels: dict[str, float]) -> list[dict[str, Any]]:
    events = [range_(op, at, 20, cat="cpu_op")]
    for i, (name, duration) in enumerate(kernels.items()):
        number = int(at) * 10 + i + 1
        events.append(range_("launch", at + 2 * i + 1, 1, cat="cuda_runtime", correlation=number))
        cat = "gpu_memcpy" if name.startswith("Memcpy") else "kernel"
        start, place = at + 30 * (i + 1), {"device": 0, "stream": 7}
        events.append(
            range_(name, start, duration, cat=cat, pid=0, tid=7, correlation=number, **place)
        )
    return events


def test_kernels_ops_and_devices_show_what_names_say() -> None:
    profile = profile_of(
        step(1, 0, 400),
        *_launched("aten::mm", 0, {"volta_h884gemm_nn": 20, "splitKreduce_kernel": 5}),
        *_launched("aten::addmm", 100, {"volta_sgemm_nn": 10, "Memcpy HtoD h884gemm": 8}),
        *_launched("aten::relu", 200, {"relu_kernel": 4}),
    )
    rows = {row["name"]: row["tensor_core"] for row in tables.kernels(profile)["rows"]}
    assert rows == {
        "volta_h884gemm_nn": True,
        "volta_sgemm_nn": False,
        "splitKreduce_kernel": None,
        "relu_kernel": None,
        "Memcpy HtoD h884gemm": None,
    }
    ops = {
        row["name"]: (row["tensor_core_ps"], row["tensor_core_total_ps"])
        for row in tables.ops_by_shape(profile)["rows"]
    }
    assert ops == {
        "aten::mm": (20_000_000, 20_000_000),
        "aten::addmm": (0, 0),
        "aten::relu": (None, None),
    }
    (device,) = breakdown(profile).to_json()["devices"]
    assert device["tensor_cores"] == {
        "uses_ps": 20_000_000,
        "silent_ps": 9_000_000,
        "kernel_ps": 39_000_000,
    }


def test_an_op_has_the_tensor_core_time_of_what_it_called_in_its_total() -> None:
    outer = range_("aten::linear", 0, 40, cat="cpu_op")
    profile = profile_of(outer, *_launched("aten::addmm", 1, {"ampere_fp16_s16816gemm_nn": 3}))
    (linear,) = [
        row for row in tables.ops_by_shape(profile)["rows"] if row["name"] == "aten::linear"
    ]
    assert (linear["tensor_core_ps"], linear["tensor_core_total_ps"]) == (None, 3_000_000)


def test_where_no_name_says_anything_the_device_says_nothing() -> None:
    profile = profile_of(step(1, 0, 90), *_launched("aten::relu", 0, {"relu_kernel": 4}))
    (device,) = breakdown(profile).to_json()["devices"]
    assert device["tensor_cores"] is None


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tracelens~h100~Falconsai_nsfw_image_detection__1016002", {YES, SAYS_NOTHING}),
        (
            "kineto_samples~resnet50_num_workers_4~worker0.1623213129365.pt.trace",
            {NO, SAYS_NOTHING},
        ),
        ("hta~trace_filter~sampled_rank-0", {YES, NO, SAYS_NOTHING}),
        ("generated~conv_full~worker0.1795977105245.pt.trace", {SAYS_NOTHING}),
    ],
)
def test_real_traces_say_what_their_kernels_are_named(name: str, words: set[int]) -> None:
    profile = read_golden(name)
    found = tensor_core_words(profile)
    assert set(found.tolist()) == words
    assert (profile.nodes.kind[found != SAYS_NOTHING] == NodeKind.DEVICE).all()
