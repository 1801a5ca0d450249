"""Two processes that train together log two ranks of one job."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

import stepscope

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "torch_ddp.py"


def test_ranks_that_were_logged_live_are_compared(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(EXAMPLE), str(tmp_path), "--steps", "4"], check=True, timeout=240
    )
    job = stepscope.open(tmp_path)
    assert sorted(job.catalog.runs()) == ["rank0", "rank1"]
    document = job.select(run="rank1").ranks().to_json()
    assert [one["rank"] for one in document["ranks"]] == [0, 1]
    assert {row["name"] for row in document["rows"]} == {"gloo:all_reduce"}
    first, second = document["ranks"]
    assert first["transfer_ps"] == second["transfer_ps"] > 0
    for one in document["ranks"]:
        parts = ("computation_ps", "overlap_ps", "communication_ps", "other_ps")
        assert sum(one[part] for part in parts) == one["span_ps"]
