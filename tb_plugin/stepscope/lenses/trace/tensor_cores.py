"""Whether kernels use Tensor Cores (on AMD: Matrix Cores), as far as their names say. No trace has a field for it."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from stepscope.lenses.trace.categories import Category, node_categories
from stepscope.model.columns import Ints
from stepscope.model.profile import Profile

_USES = re.compile(
    r"(?<![a-z])tensorop(?![a-z])|(?:Mma|OpClass)TensorOp"  # CUTLASS: cutlass_80_tensorop_s1688gemm_128x128_32x3_nn
    r"|(?<![a-z])(?:[hidqw]|wg|g|u|mf)mma(?![a-z])|[xX]dl"  # the instruction: hmma, wgmma, mfma, xdlops
    r"|(?<![a-z])[hsdicz](?:884|1688|8816|8832|88128|161616|16816|16832|16864)(?=[a-z_])"  # its shape: s16816gemm
    r"|_tensor\d+x\d+x\d+_|_warpgroupsize\d"  # cuDNN and cuBLAS: sm80_xmma_fprop_..._tensor16x8x8_execute_kernel
    r"|cute::SM\d+_\d+x\d+x\d+_|Sm\d+Tma[GU]mma"  # CuTe: SM80_16x8x16_F32F16F16F32_TN, MainloopSm90TmaGmma
    r"|_MI\d+x\d+x\d+_|_gtcx\d*_"  # Tensile's matrix instruction, MIOpen's kernels for xdlops
)
_DOES_NOT = re.compile(
    r"(?<![a-z])(?:simt|ffma)(?![a-z])"  # CUTLASS and cuDNN have a word for the plain instructions, too
    r"|(?:maxwell|pascal|volta|turing|ampere)_(?:g|gc)?[sdcz]gemm"  # cuBLAS in the precision of the name
)
SAYS_NOTHING, NO, YES = -1, 0, 1


@lru_cache(8192)
def uses_tensor_cores(name: str) -> bool | None:
    """Whether a kernel of this name uses Tensor Cores; None where the name says nothing.

    A name says so by the matrix instruction, by its shape, or by the library's word for such kernels, and the contrary
    by the word for plain instructions. Names that only suggest it (`gemm`, `conv`, `flash`) say nothing.
    """
    if _USES.search(name):
        return True
    return False if _DOES_NOT.search(name) else None


def tensor_core_words(profile: Profile) -> Ints:
    """Of each node `YES`, `NO` or `SAYS_NOTHING`; the last of all that is no kernel."""
    kernel = np.flatnonzero(node_categories(profile) == Category.KERNEL)
    used, place = np.unique(profile.nodes.name[kernel], return_inverse=True)
    words = [uses_tensor_cores(profile.strings[i]) if i >= 0 else None for i in used.tolist()]
    found: Ints = np.full(len(profile.nodes), SAYS_NOTHING, np.int64)
    found[kernel] = np.array(
        [SAYS_NOTHING if word is None else int(word) for word in words], np.int64
    )[place]
    return found
