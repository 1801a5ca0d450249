"""The lenses, in the order of the panel's tabs. One line adds one."""

from __future__ import annotations

from typing import Any

from stepscope.errors import OptionError
from stepscope.lenses.dcn.lens import DcnLens
from stepscope.lenses.incore.lens import InCoreLens
from stepscope.lenses.lens import Lens
from stepscope.lenses.throughput.lens import ThroughputLens
from stepscope.lenses.trace.lens import TraceLens
from stepscope.lenses.views.lens import ViewsLens

AnyLens = Lens[Any, Any, Any]

LENSES: tuple[AnyLens, ...] = (
    ViewsLens(),
    TraceLens(),
    ThroughputLens(),
    InCoreLens(),
    DcnLens(),
)

BY_NAME = {lens.name: lens for lens in LENSES}


def lens_named(name: str) -> AnyLens:
    """The lens of a name.

    Raises:
        OptionError: There is no such lens.
    """
    if name not in BY_NAME:
        known = ", ".join(BY_NAME)
        raise OptionError(f"unknown lens {name!r}", where="lens", remedy=f"Choose from: {known}")
    return BY_NAME[name]
