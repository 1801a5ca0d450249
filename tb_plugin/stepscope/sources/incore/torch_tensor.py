"""Tensors in .pt files, read without PyTorch and without running what a pickle may ask for.

A .pt file is a zip archive of a pickle, which describes the tensors, and one file per storage. Only the names that
describe plain tensors are allowed in the pickle; anything else is refused.
"""

from __future__ import annotations

import io
import math
import pickle
import struct
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.errors import DamagedSource, LimitExceeded, UnsupportedSource

_TYPES = {
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "UntypedStorage": "uint8",
}
_DTYPES = (
    "uint64",
    "int64",
    "uint32",
    "int32",
    "uint16",
    "int16",
    "uint8",
    "int8",
    "float64",
    "float32",
)
_MAX_BYTES = 4 << 30
_MAX_PICKLE_BYTES = 1 << 20
# What zipfile, zlib and pickle raise on bytes that are not what they should be.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    pickle.UnpicklingError,
    struct.error,
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


def is_tensor_file(head: bytes) -> bool:
    """Whether a file starts as a zip archive with the pickle of tensors."""
    return head.startswith(b"PK\x03\x04") and b"data.pkl" in head[:256]


def load_tensor(path: Path) -> NDArray[Any]:
    """The one tensor of a .pt file, or the one named `timing`.

    Raises:
        DamagedSource: The archive is broken, or a tensor reaches beyond its storage.
        UnsupportedSource: It holds more than plain tensors, or several of which none is named timing.
        LimitExceeded: It is larger than 4 GiB.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _only_tensor(_Archive(archive, str(path)).load(), str(path))
    except _BROKEN as error:
        raise DamagedSource(
            f"a broken .pt file ({error})",
            where=str(path),
            remedy="Save the tensor again",
        ) from error


def _only_tensor(content: Any, where: str) -> NDArray[Any]:
    if isinstance(content, dict):
        tensors = {name: value for name, value in content.items() if isinstance(value, np.ndarray)}
        content = tensors.get("timing")
        if content is None and len(tensors) == 1:
            content = next(iter(tensors.values()))
    if not isinstance(content, np.ndarray):
        raise UnsupportedSource(
            "a .pt file without a single tensor",
            where=where,
            remedy="Save the timing tensor alone, or as 'timing'",
        )
    return content


class _Archive:
    """The zip archive of a .pt file."""

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self._archive = archive
        self._where = where
        names = [*archive.namelist(), "data.pkl"]
        pickle_name = next(name for name in names if name.endswith("data.pkl"))
        self._folder = pickle_name.removesuffix("data.pkl")

    def load(self) -> Any:
        described = io.BytesIO(self._read("data.pkl", _MAX_PICKLE_BYTES))
        return _TensorUnpickler(described, self._storage, self._where).load()

    def _read(self, name: str, limit: int = _MAX_BYTES) -> bytes:
        info = self._archive.getinfo(self._folder + name)
        if info.file_size > limit:
            raise LimitExceeded(
                f"{name} of {info.file_size} bytes",
                where=self._where,
                remedy="Save fewer invocations per file",
            )
        return self._archive.read(info)

    def _storage(self, identity: tuple[Any, ...]) -> NDArray[Any]:
        _, kind, key, *_ = identity
        element = np.dtype(kind).newbyteorder(self._byte_order())
        return np.frombuffer(self._read(f"data/{key}"), element)

    def _byte_order(self) -> str:
        name = f"{self._folder}byteorder"
        # Archives of older versions lack the file; those were little-endian.
        if name in self._archive.namelist() and self._read("byteorder", 16) == b"big":
            return ">"
        return "<"


class _TensorUnpickler(pickle._Unpickler):
    """Unpickles tensors as numpy arrays, and refuses every other name.

    The unpickler in C allocates as much memory as an index in the file asks for; this one does not.
    """

    def __init__(
        self, stream: io.BytesIO, storage: Callable[[tuple[Any, ...]], NDArray[Any]], where: str
    ) -> None:
        super().__init__(stream)
        self._storage = storage
        self._where = where

    def persistent_load(self, pid: Any) -> Any:
        return self._storage(pid)

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor_v3"):
            return _rebuild
        if module in ("torch", "torch.storage") and name in _TYPES:
            return _TYPES[name]
        if module == "torch" and name in _DTYPES:
            return name
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        raise UnsupportedSource(
            f"a .pt file that asks for {module}.{name}",
            where=self._where,
            remedy="Save the plain tensor, with tensor.detach().cpu()",
        )


def _rebuild(
    storage: NDArray[Any],
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    _grad: Any,
    _hooks: Any,
    dtype: Any = None,
    *_: Any,
) -> NDArray[Any]:
    if isinstance(dtype, str):
        storage = storage.view(np.dtype(dtype).newbyteorder(storage.dtype.byteorder))
    numbers = (offset, *size, *stride)
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        raise ValueError("a tensor of negative size or stride")
    if len(size) != len(stride):
        raise ValueError("a tensor with more sizes than strides, or fewer")
    elements = math.prod(size)
    if elements > len(storage):
        raise ValueError(f"a tensor of {elements} elements in a storage of {len(storage)}")
    # An empty tensor may have any strides, for it reads nothing.
    if elements:
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if last >= len(storage):
            raise ValueError(
                f"a tensor that reaches to element {last} of a storage of {len(storage)}"
            )
    strides = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], size, strides, writeable=False)
