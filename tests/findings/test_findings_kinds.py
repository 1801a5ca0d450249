"""Kernels and ops are of the kind that their library's names say."""

from __future__ import annotations

import pytest

from stepscope.findings.kernel_kinds import KINDS, kernel_kind

NAMES = {
    "matrix multiply": [
        "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
        "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNN",
        "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1",
        "cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4",
        "aten::addmm",
    ],
    "convolution": [
        "sm80_xmma_fprop_implicit_gemm_f16",
        "miopenSp3AsmConv_v30",
        "aten::cudnn_convolution",
    ],
    "attention": [
        "void pytorch_flash::flash_fwd_kernel<64>",
        "fmha_cutlassF_bf16_aligned_64x64_rf_sm80",
    ],
    "normalisation": [
        "void at::native::vectorized_layer_norm_kernel<c10::BFloat16>",
        "aten::native_batch_norm",
    ],
    "elementwise": [
        "void at::native::vectorized_elementwise_kernel<4>",
        "triton_poi_fused_add_0",
        "aten::gelu",
    ],
    "reduction": [
        "void at::native::reduce_kernel<512>",
        "triton_red_fused_sum_1",
        "aten::_softmax",
    ],
    "copy": [
        "Memcpy HtoD (Pinned -> Device)",
        "Memset (Device)",
        "nchwToNhwcKernel",
        "CopyHostToDevice",
    ],
    "embedding": ["void at::native::indexing_backward_kernel", "aten::embedding"],
    "optimizer": ["void at::native::multi_tensor_apply_kernel<adam>", "Optimizer.step#AdamW.step"],
    "communication": ["ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "gloo:all_reduce"],
    "other": ["my_kernel"],
}
CASES = [(kind, name) for kind, names in NAMES.items() for name in names]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_kernel_kind_follows_the_library_names(kind: str, name: str) -> None:
    assert kernel_kind(name) == kind
    assert kind in KINDS
