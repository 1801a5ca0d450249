"""Names of collectives by the kernels that run them."""

from __future__ import annotations

import re

from stepscope.model.profile import Profile

_KERNEL = re.compile(r"(?:nccl|rccl|hccl|oneccl)(?:Dev)?Kernel_?([A-Za-z0-9]+)", re.IGNORECASE)


def collective_name(profile: Profile, node: int) -> str:
    """The collective that a kernel's name says, such as AllReduce; otherwise the kernel's name."""
    text = profile.strings[int(profile.nodes.name[node])]
    found = _KERNEL.match(text)
    return found[1] if found else text
