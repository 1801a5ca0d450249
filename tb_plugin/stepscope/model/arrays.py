"""The types of numpy arrays, one alias each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Of any element type, where functions take several."""

Ints = NDArray[np.int64]
I64 = Ints
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
F64 = NDArray[np.float64]
Floats = F64
Bools = NDArray[np.bool_]
