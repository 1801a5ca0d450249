"""Verdicts over collectives whose cause is planted: which are named, and which healthy ones are left alone."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from xplane_builder import PROGRAM, Core, profile, write

from stepscope.findings.dcn import advice
from stepscope.lenses import dcn
from stepscope.lenses.dcn import DcnOptions
from stepscope.lenses.dcn.diagnosis import causes
from stepscope.sources import xplane

SEEDS = range(25)


def planted(cause: str, seed: int) -> tuple[list[tuple[str, int, int]], int]:
    """The ops of one occurrence in us, and the length of the profile, for a planted cause."""
    rng = random.Random(seed)
    send, done = rng.randint(1, 3), rng.randint(1, 3)
    slack = {"healthy": 20_000, "hardware": 1_000, "bandwidth": 1_000, "no_overlap": 0}[cause]
    slack += rng.randint(0, slack // 4)
    if cause == "healthy":
        wait = rng.randint(1, slack // 200)
    elif cause == "hardware":
        wait = rng.randint(slack // 10, slack // 3)
    elif cause == "bandwidth":
        wait = rng.randint(slack * 6 // 10, slack * 2)
    else:
        wait = rng.randint(200, 900)
    send_done = send + slack // 2
    recv_done = send + done + slack
    ops = [
        ("send", 0, send),
        ("send-done", send_done, done),
        ("recv-done", recv_done, wait),
    ]
    return ops, recv_done + wait + 10


def verdict_of(folder: Path, cause: str, seed: int) -> str | None:
    ops, end = planted(cause, seed)
    (record,) = xplane.read_collectives(write(folder, profile(Core([(PROGRAM, 0, end)], [ops]))))
    (found,) = causes(dcn.analyze(record, DcnOptions(network_gbps=1e6)))
    return found.verdict


@pytest.mark.parametrize("cause", ["healthy", "hardware", "bandwidth", "no_overlap"])
def test_a_planted_cause_is_named_each_time(tmp_path: Path, cause: str) -> None:
    verdicts = [verdict_of(tmp_path / str(seed), cause, seed) for seed in SEEDS]
    assert verdicts == [cause] * len(SEEDS)


def test_collectives_that_hardly_stall_are_healthy(shared: Path) -> None:
    path = next((shared / "cases/xplane/healthy_collectives").glob("*.pb"))
    (record,) = xplane.read_collectives(path)
    assert [cause.verdict for cause in causes(dcn.analyze(record))] == ["healthy"]


@pytest.mark.parametrize(("kind", "named"), [("ALL_TO_ALL", True), ("ALL_REDUCE", False)])
def test_advice_names_resharding_where_the_transfer_type_shows_it(
    tmp_path: Path, kind: str, named: bool
) -> None:

    ops, end = planted("hardware", 0)
    (record,) = xplane.read_collectives(write(tmp_path, profile(Core([(PROGRAM, 0, end)], [ops]))))
    result = dcn.analyze(record)
    (cause,) = causes(result)
    text = advice(result, replace(cause, row=replace(cause.row, transfer_type=kind)))
    assert ("reshard" in text) is named
