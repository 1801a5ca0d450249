"""Rules over several lenses join what single lenses see of one cause."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto import tfprof_log_pb2

from stepscope.findings import RULES, Finding, LensResult, find
from stepscope.lenses import dcn, incore
from stepscope.lenses.throughput.result import Annotation, Series, Span, ThroughputResult
from stepscope.lenses.views import ViewEngine
from stepscope.sources import registry, tfprof

SECOND = 1_000_000_000
GPU = "/job:w/task:0/device:gpu:0"


def rates(
    *annotations: Annotation, run: str = "run", spans: tuple[Span, ...] = (), **spans_s: float
) -> Series:
    """A series of 100 s, of steps of 80 ms."""
    left_out = {kind: int(seconds * SECOND) for kind, seconds in spans_s.items()}
    training = {"duration_ns": 100 * SECOND - sum(left_out.values()), "left_out_ns": left_out}
    none = np.empty(0)
    return Series(
        *(run, "train", "host", 0, "samples", 0.4, "step", "host", "unix", "computed"),
        *(
            np.array([0, 1]),
            np.array([0, 100 * SECOND]),
            np.array([0, 10]),
            none,
            none,
            none,
            none,
            2,
        ),
        spans=spans,
        annotations=annotations,
        statistics={"training_only": training, "step_time": {"p50_ns": 80_000_000}},
    )


def logged(*series: Series, run: str = "run", job: str = "") -> LensResult[Any]:
    return LensResult("throughput", run, "train", ThroughputResult(series), job)


def profile(busy_us: int, op: str = "Conv2D") -> LensResult[Any]:
    """A profile in which an accelerator is busy for so many of 100 us."""
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    node = message.nodes[0]
    node.name, node.op, node.canonical_device = "conv", op, GPU
    node.op_types.extend(sorted([op, GPU]))
    execs = node.execs[1]
    execs.run_count, execs.all_start_micros, execs.latest_end_micros = 1, 1000, 1100
    execs.cpu_execs[GPU].times.add().int64_values.extend([1000, 100])
    execs.accelerator_execs[f"{GPU}/stream:all"].times.add().int64_values.extend([1000, busy_us])
    return LensResult(
        "views", "run", "p", ViewEngine(tfprof.read_profile(message.SerializeToString(), "p.pb"))
    )


def rules_of(found: list[Finding]) -> list[str]:
    return [f.rule for f in found]


def test_an_idle_accelerator_and_a_wait_for_input_are_one_finding() -> None:
    found = find([profile(20), logged(rates(data=30.0))], RULES)
    names = rules_of(found)
    assert "starved-accelerator" in names
    assert not {"idle-accelerator", "lost-to-data-wait"} & set(names)
    (starved,) = [f for f in found if f.rule == "starved-accelerator"]
    assert starved.cost_share == pytest.approx(0.3)
    assert {place.lens for place in starved.evidence} == {"views", "throughput"}


def test_a_busy_accelerator_leaves_the_wait_alone() -> None:
    names = rules_of(find([profile(90), logged(rates(data=30.0))], RULES))
    assert "starved-accelerator" not in names
    assert "lost-to-data-wait" in names


def test_runs_that_do_not_belong_together_are_not_joined() -> None:
    names = rules_of(find([profile(20), logged(rates(data=30.0), run="other")], RULES))
    assert "starved-accelerator" not in names
    assert {"idle-accelerator", "lost-to-data-wait"} <= set(names)


def stall(at_s: int) -> Annotation:
    evidence = {"extra_ns": 4 * SECOND}
    return Annotation(
        "stall", "", "", start_ns=at_s * SECOND, end_ns=(at_s + 5) * SECOND, evidence=evidence
    )


@pytest.mark.parametrize(("checkpoint_s", "lined_up"), [(21, True), (60, False)])
def test_stalls_inside_another_ranks_checkpoints_are_theirs(
    checkpoint_s: int, lined_up: bool
) -> None:
    span = Span("checkpoint", checkpoint_s * SECOND, (checkpoint_s + 4) * SECOND, False)
    waits = logged(rates(stall(20), run="rank1"), run="rank1", job="j")
    writes = logged(rates(run="rank0", spans=(span,)), run="rank0", job="j")
    names = rules_of(find([waits, writes], RULES))
    assert names == (["checkpoint-dips"] if lined_up else ["lost-to-stall"])


def test_the_stall_of_collectives_is_told_per_step(data: Path) -> None:
    told = 0
    for case in sorted((data / "dcn" / "cases").iterdir()):
        result = dcn.analyze(
            [n.record for n in registry.read(case).records if n.record.KIND == "collectives"]
        )
        found = find([LensResult("dcn", "run", "c", result), logged(rates())], RULES)
        for one in (f for f in found if f.rule == "stall-of-step"):
            assert one.cost == pytest.approx((one.cost_share or 0) * 80_000)
            assert one.cost_share is not None
            assert one.cost_share >= 0.1
            single = [f for f in found if f.rule == "stalling-collective"]
            assert all(f.evidence[0].key != one.evidence[0].key for f in single), (
                "the worst is told once"
            )
            told += 1
        assert "stall-of-step" not in rules_of(find([LensResult("dcn", "run", "c", result)], RULES))
    assert told > 0


def kernel(data: Path, title: str) -> LensResult[Any]:
    (named,) = registry.read(data / "incore" / "o18_uint64_high_bit").records
    record = dataclasses.replace(named.record, title=title, clock_freq_hz=10**9, unit="cycles")
    return LensResult("incore", "run", "k", incore.analyze([record]))


def test_an_op_that_takes_longer_than_its_kernel_is_found(data: Path) -> None:
    subject = kernel(data, "Fused")
    inside_us = float(subject.result.phases.total.mean()) / 1000
    found = [f for f in find([subject, profile(0, "Fused")], RULES) if f.rule == "kernel-in-op"]
    assert len(found) == (1 if inside_us < 75 else 0)
    assert [f.cost for f in found] == [pytest.approx(100 - inside_us)][: len(found)]


def test_an_op_of_another_name_has_nothing_to_do_with_a_kernel(data: Path) -> None:
    assert "kernel-in-op" not in rules_of(find([kernel(data, "Fused"), profile(0, "Other")], RULES))
