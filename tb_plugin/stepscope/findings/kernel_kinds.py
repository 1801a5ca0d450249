"""What kind of work a kernel or op does, by its name.

The names are those of the kernel families of cuBLAS, cuDNN, CUTLASS, FlashAttention, Triton, MIOpen, hipBLASLt, oneDNN
and ATen. The first rule that matches decides; a name that no rule knows is of kind `other`.
"""

from __future__ import annotations

import re
from functools import lru_cache

_KINDS: dict[str, tuple[str, ...]] = {
    "communication": (
        r"nccl|rccl|hccl|oneccl|gloo:|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|collective",
        r"broadcast_kernel|deep_?ep|cross_device_reduce|symm_mem",
    ),
    "copy": (
        r"^mem_?(?:cpy|set)|memcpy|copyhost|copydevice|fillbuffer",
        r"nchwtonhwc|nhwctonchw|transpose|permute|reorder",
        r"direct_copy|copy_kernel|contiguous|cat_?array|^copy|^convert|^bitcast",
        r"aten::(?:copy_|_to_copy|to|clone|contiguous|cat|stack)$",
    ),
    "optimizer": (r"multi_?tensor|fused_?adam|adamw?_kernel|foreach|optimizer|sgd|lamb_|adagrad",),
    "attention": (r"flash|fmha|attention|attn|sdpa|mha_|paged_|aotriton",),
    "convolution": (
        r"conv|scudnn|wgrad|dgrad|fprop|winograd|im2col|implicit_gemm",
        r"miopen.*conv|igemm_(?:fwd|bwd|wrw)",
    ),
    "normalisation": (r"norm|welford|bn_fw|bn_bw|rsqrt_mean",),
    "matrix multiply": (
        r"gemm|gemv|matmul|cutlass|cijk_|nvjet|xmma|wgmma|splitk|brgemm|hipblaslt|tensile|einsum",
        r"::(?:mm|addmm|bmm|linear|baddbmm)\b|dot_kernel|^dot|triton_(?:mm|tem)",
    ),
    "embedding": (
        r"embedding|index_select|gather|scatter|indexing_backward|index_put|index_kernel|lookup",
    ),
    "reduction": (
        r"reduce|triton_(?:red|per)_|softmax|argm(?:ax|in)|sum_|cumsum|topk|sort|radix",
        r"::(?:sum|mean|max)\b|nll_loss|cross_entropy",
    ),
    "elementwise": (
        r"elementwise|triton_poi|pointwise|add_|mul_|gelu|relu|silu|sigmoid|dropout|tanh|activation",
        r"aten::(?:add|mul|sub|div|fill_|zero_|exp|sqrt|pow)|^loop_|fusion",
    ),
}
_RULES = tuple(
    (kind, re.compile("|".join(patterns), re.IGNORECASE)) for kind, patterns in _KINDS.items()
)

KINDS = (*_KINDS, "other", "idle")


@lru_cache(8192)
def kernel_kind(name: str) -> str:
    """The kind of a kernel or op: one of `KINDS`."""
    for kind, rule in _RULES:
        if rule.search(name):
            return kind
    return "other"
