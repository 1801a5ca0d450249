"""Odd tables and logs give an error of StepScope's own, or are read; they never raise anything else."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from stepscope.errors import DamagedSource
from stepscope.sources import registry

HEADER = "epoch,step,train/samples_per_sec\n"
LINE = (
    "2024-01-01 10:0{minute}:00,154 INFO:   | Train Device=xla:0, Step={step}, "
    "Rate={rate} samples/sec, GlobalRate={whole} samples/sec\n"
)


@pytest.mark.parametrize("case", ["l.csv", "l2.csv.gz"])
def test_shared_table_is_refused(shared: Path, case: str) -> None:
    with pytest.raises(DamagedSource, match="CSV invalid at line 2"):
        registry.read(shared / "cases" / "trust" / case)


@pytest.mark.parametrize("cell", ["13\r0.1", '"' + "a" * 200_000 + '"'])
@pytest.mark.parametrize("packed", [False, True])
def test_table_with_an_odd_cell_is_refused_with_its_line(
    tmp_path: Path, cell: str, packed: bool
) -> None:
    content = f"{HEADER}0,9,120.5\n0,19,{cell}\n".encode()
    path = tmp_path / "metrics.csv"
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(DamagedSource, match="CSV invalid at line 2"):
        registry.read(path)


def test_shared_log_with_a_vanishing_rate_is_read(shared: Path) -> None:
    (named,) = registry.read(shared / "cases" / "trust" / "n0.txt").records
    assert named.record.rows > 0


@pytest.mark.parametrize("field", ["rate", "whole"])
@pytest.mark.parametrize("value", ["0.00", "1e-320", "1e-200", "1e-9", "1e300", "5e-324"])
def test_log_with_an_extreme_rate_is_read(tmp_path: Path, field: str, value: str) -> None:
    lines = []
    for minute in range(1, 8):
        rates = {"rate": "500.00", "whole": "500.00"}
        if minute == 3:
            rates[field] = value
        lines.append(LINE.format(minute=minute, step=minute * 100, **rates))
    path = tmp_path / "run.log"
    path.write_text("".join(lines))
    (named,) = registry.read(path).records
    named.record.validate()
    assert len(named.record.samples.step) >= 6
