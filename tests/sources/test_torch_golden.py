"""Real traces against exact reference tables in integer nanoseconds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from torch_reference import ITERATION, right_walk, trace_path, walk
from torch_tables import tables

from paths import SHARED
from stepscope.lenses.views.engine import analyze
from stepscope.lenses.views.options import ViewsOptions
from stepscope.model.columns import decode, encode
from stepscope.model.profile import Profile
from stepscope.sources import torch_trace
from stepscope.sources.content import head

GOLDEN = SHARED / "golden" / "torch"
TRACES = sorted(p.name for p in GOLDEN.iterdir()) if GOLDEN.is_dir() else ["absent"]
FIELDS = ("calls", "total_ns", "self_ns", "dev_self_ns", "dev_total_ns")
MICROS = (
    "total_cpu_exec_micros",
    "cpu_exec_micros",
    "accelerator_exec_micros",
    "total_accelerator_exec_micros",
)
"""The op view's names of the fields after the first."""
WHY = {"no_launch": torch_trace.NO_LAUNCH, "launch_outside_op": torch_trace.OUTSIDE_OP}

JOINED_BY_ABSENCE = "hta~mtia_inference_trace~mtia_inference_rank_0"
"""Of this trace 322 device events and 13 calls of the host have no correlation, and the reference joins them through
that: all of them to the last such call. Here what says nothing of its launch has none in the trace."""


@pytest.fixture(scope="module", params=TRACES)
def case(request: pytest.FixtureRequest, shared: Path) -> tuple[str, dict, Profile]:
    name = request.param
    path = shared / "data" / "torch" / (name.replace("~", "/") + ".json.gz")
    path = path if path.exists() else path.with_suffix("")
    reference = json.loads(gzip.decompress((GOLDEN / name / "ref.json.gz").read_bytes()))
    return name, reference, torch_trace.read(path).records[0].record


def _key(text: str) -> tuple[str, ...]:
    """The reference's key, with the category of today. Steps were ops in the first exports, and are annotations now."""
    category, name, *shape = text.split("\t")
    is_step = name.startswith("ProfilerStep#")
    return (
        "user_annotation" if category == "user_annotation" or is_step else "cpu_op",
        name,
        *shape,
    )


def test_every_figure_equals_the_reference(case: tuple[str, dict, Profile]) -> None:
    name, reference, profile = case
    profile.validate()
    found = tables(profile)
    right = right_walk(name)
    expected = right.table()
    assert {
        key: row for key, row in found.ops.items() if key in expected or key[0] == "cpu_op"
    } == expected
    by_shape = right.table(by_shape=True)
    assert {key: row for key, row in found.ops_by_shape.items() if key[:2] in expected} == by_shape
    device: dict[str, tuple[int, int]] = {}
    for key, row in reference["device"].items():
        calls, total = device.get(key.split("\t")[1], (0, 0))
        device[key.split("\t")[1]] = (calls + row["calls"], total + row["total_ns"])
    assert found.device == device
    assert found.kernel_by_op == right.kernel_by_op
    assert found.unattributed == {why: tuple(row) for why, row in right.unattributed.items()}


def test_a_plain_walk_by_the_rules_of_the_reference_finds_the_reference(
    case: tuple[str, dict, Profile],
) -> None:
    """The walk that the right answers come from is itself checked: by the old rules it finds the old answers."""
    name, reference, _ = case
    found = walk(trace_path(name), as_reference=True)
    assert found.table() == {
        _key(key): tuple(row[f] for f in FIELDS) for key, row in reference["ops"].items()
    }
    by_shape = {
        _key(key): tuple(row[f] for f in FIELDS) for key, row in reference["ops_by_shape"].items()
    }
    assert found.table(by_shape=True) == by_shape
    assert found.kernel_by_op == reference["kernel_by_op_ns"]
    if name != JOINED_BY_ABSENCE:
        unattributed = {why: tuple(row) for why, row in found.unattributed.items()}
        assert unattributed == _unattributed(reference)


def test_work_that_names_no_launch_is_not_given_one(shared: Path) -> None:
    path = shared / "data" / "torch" / (JOINED_BY_ABSENCE.replace("~", "/") + ".json.gz")
    profile = torch_trace.read(path).records[0].record
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    silent = [
        e for e in events if e.get("cat") == "mtia_ccp_events" and "correlation" not in e["args"]
    ]
    calls = [
        e
        for e in events
        if e.get("cat") == "mtia_runtime" and "correlation" not in e.get("args", {})
    ]
    assert (len(silent), len(calls)) == (322, 13)
    # All of the work started before the call that the reference gives it to, so that cannot have launched it.
    assert all(event["ts"] < calls[-1]["ts"] for event in silent)
    spent = sum(round(e["dur"] * 1000) for e in silent)
    assert tables(profile).unattributed[torch_trace.NO_LAUNCH] == (322, spent)


def _unattributed(reference: dict) -> dict[str, tuple[int, int]]:
    given = reference["unattributed"]
    return {
        why: (given[f"{key}_n"], given[f"{key}_ns"])
        for key, why in WHY.items()
        if f"{key}_n" in given
    }


def test_the_op_view_shows_the_same(case: tuple[str, dict, Profile]) -> None:
    trace, _, profile = case
    shown: dict[str, list[tuple[int, ...]]] = {}
    for row in analyze(profile, ViewsOptions(view="op")).to_json()["nodes"]:
        figures = (row["run_count"], *(round(row[name] * 1000) for name in MICROS))
        shown.setdefault(row["name"], []).append(figures)
    expected: dict[str, tuple[int, ...]] = {}
    for (_, name), row in right_walk(trace).table(outermost=True).items():
        expected[name] = tuple(
            map(sum, zip(expected.get(name, (0,) * len(FIELDS)), row, strict=True))
        )
    # A kernel may have the name of the op that launches it, in a row of its own.
    assert {
        name: figures for name, figures in expected.items() if figures not in shown.get(name, [])
    } == {}


def test_steps_equal_the_reference(case: tuple[str, dict, Profile]) -> None:
    trace, reference, profile = case
    texts, steps = list(profile.strings), profile.steps
    if not reference["steps"]:
        # Without profiler steps, those of serving engines are steps: the outermost.
        iterations = [row for row in right_walk(trace).rows if ITERATION.fullmatch(row.name)]
        outermost = [
            row
            for row in iterations
            if row.parent is None or not ITERATION.fullmatch(row.parent.name)
        ]
        found = [texts[name] for name in steps.name]
        assert found == [row.name for row in outermost]
        assert steps.duration_ticks.tolist() == [row.duration for row in outermost]
        return
    first = reference["steps"][0][1] if reference["steps"] else 0
    assert [
        [texts[name], start - int(steps.start_ticks[0]) + first, duration]
        for name, start, duration in zip(
            steps.name, steps.start_ticks.tolist(), steps.duration_ticks.tolist(), strict=True
        )
    ] == reference["steps"]


def test_the_record_survives_storing(case: tuple[str, dict, Profile]) -> None:
    _, _, profile = case
    assert decode(Profile, [element.body for element in encode(profile)]) == profile


@pytest.mark.parametrize(
    "name", ["conv_full/worker0.1795977105245", "gpt_full/worker0.1795977119212"]
)
def test_sequence_numbers_link_as_the_arrows_do(name: str, shared: Path, tmp_path: Path) -> None:
    text = gzip.decompress(
        (shared / "data" / "torch" / "generated" / f"{name}.pt.trace.json.gz").read_bytes()
    )
    (tmp_path / "arrows.json").write_bytes(text)
    (tmp_path / "numbers.json").write_bytes(text.replace(b'"fwdbwd"', b'"other"'))
    arrows, numbers = (
        torch_trace.read(tmp_path / file).records[0].record
        for file in ("arrows.json", "numbers.json")
    )
    assert len(arrows.links) > 50
    assert numbers.links == arrows.links


@pytest.mark.parametrize("name", TRACES)
def test_real_traces_are_recognised_by_content(name: str, shared: Path) -> None:
    path = shared / "data" / "torch" / (name.replace("~", "/") + ".json.gz")
    path = path if path.exists() else path.with_suffix("")
    assert torch_trace.recognise(path, head(path))
