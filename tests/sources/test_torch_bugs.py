"""Small traces that broke other tools: each gives what can be had, and says what was lost."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from torch_tables import scopes_of, tables

from paths import SHARED
from stepscope.errors import DamagedSource
from stepscope.model.profile import LinkKind, Profile
from stepscope.sources import torch_trace

BUGS = SHARED / "golden" / "torch-bugs"
CASES = sorted(p.name.removesuffix(".expect.json") for p in BUGS.glob("*.expect.json")) or [
    "absent"
]
FAILING = ("b19b_zero_bytes", "b19c_not_json")


def _case(shared: Path, name: str) -> tuple[dict, Path]:
    found = sorted((shared / "golden" / "torch-bugs").glob(f"{name}.pt.trace.json*"))
    return json.loads(
        (shared / "golden" / "torch-bugs" / f"{name}.expect.json").read_text()
    ), found[0]


def _profile(shared: Path, name: str) -> tuple[dict, Profile]:
    expected, path = _case(shared, name)
    profile = torch_trace.read(path).records[0].record
    profile.validate()
    return expected, profile


def _said(profile: Profile) -> str:
    return "; ".join(loss.what for loss in profile.header.losses)


@pytest.mark.parametrize("name", [name for name in CASES if name not in FAILING])
def test_ops_are_as_expected(name: str, shared: Path) -> None:
    expected, profile = _profile(shared, name)
    ops = {op: row for (_, op), row in tables(profile).ops.items()}
    wanted = {**expected.get("ops_us", {}), **expected.get("also", {})}
    wanted_ns = {
        op: [row[0], *(v if v is None else round(v * 1000) for v in row[1:])]
        for op, row in wanted.items()
    }
    for op, row in {**wanted_ns, **expected.get("ops_ns", {})}.items():
        found = zip(ops[op], row, strict=False)
        assert all(figure == value for figure, value in found if value is not None), op
    for op, micros in expected.get("device_self_us", {}).items():
        assert ops[op][3] == micros * 1000
    for op, micros in expected.get("device_total_us", {}).items():
        assert ops[op][4] == micros * 1000
    kernels = tables(profile).device
    for kernel, (calls, micros) in expected.get("kernels", {}).items():
        assert kernels[kernel] == (calls, micros * 1000)


@pytest.mark.parametrize("name", [name for name in CASES if name not in FAILING])
def test_what_was_lost_is_said(name: str, shared: Path) -> None:
    expected, profile = _profile(shared, name)
    assert expected.get("warns", expected.get("message", "")) in _said(profile)


@pytest.mark.parametrize("name", FAILING)
def test_what_is_no_trace_is_refused(name: str, shared: Path) -> None:
    expected, path = _case(shared, name)
    with pytest.raises(DamagedSource, match=expected["error"]):
        torch_trace.read(path)


def test_python_functions_keep_broken_names(shared: Path) -> None:
    for name in ("b01_quote_in_name", "b04_backslashes"):
        expected, profile = _profile(shared, name)
        frames, texts = profile.frames, list(profile.strings)
        rows = zip(frames.file, frames.line, frames.function, strict=True)
        shown = [f"{texts[file]}({line}): {texts[function]}" for file, line, function in rows]
        assert expected["python_function"] in shown


def test_a_cut_off_file_keeps_its_complete_events(shared: Path) -> None:
    expected, profile = _profile(shared, "b06_truncated")
    assert len(profile.executions) + len(profile.traces) >= expected["events_at_least"] - 10


def test_unattributed_device_time_is_an_amount(shared: Path) -> None:
    expected, profile = _profile(shared, "b07_external_id_mismatch")
    assert tables(profile).unattributed == {
        torch_trace.NO_LAUNCH: (1, expected["unattributed_device_us"] * 1000)
    }


def test_crossing_ranges_are_ordered_into_one_scope_tree(shared: Path) -> None:
    _, profile = _profile(shared, "b09_crossing_ranges")
    assert scopes_of(profile, "aten::mm") == {"forward/Net_0/aten::mm"}


def test_memory_goes_to_the_op_that_allocates(shared: Path) -> None:
    expected, profile = _profile(shared, "b10_hip_memory")
    texts, rows = list(profile.strings), profile.allocations
    peak: dict[str, int] = {}
    for device, total in zip(rows.device, rows.total_bytes.tolist(), strict=True):
        peak[texts[device]] = max(peak.get(texts[device], 0), total)
    assert peak == expected["peak_bytes"]
    grown = rows.delta_bytes > 0
    by_op = {
        texts[profile.nodes.name[node]]: {texts[device]: delta}
        for node, device, delta in zip(
            rows.node[grown], rows.device[grown], rows.delta_bytes[grown], strict=True
        )
    }
    assert by_op == expected["alloc_by_op"]


def test_memory_events_out_of_order_are_all_kept(shared: Path) -> None:
    expected, profile = _profile(shared, "b11_memory_order")
    delta = profile.allocations.delta_bytes
    assert np.count_nonzero(delta > 0) == expected["alloc_events"]
    assert np.count_nonzero(delta < 0) == expected["free_events"]
    assert (np.diff(profile.allocations.time_ticks) >= 0).all()


def test_the_last_of_duplicate_keys_wins(shared: Path) -> None:
    _, profile = _profile(shared, "b12_bad_numbers")
    assert "stream 20" in list(profile.strings)


@pytest.mark.parametrize("name", ["b14_ranks_mismatch.rank0", "b14_ranks_mismatch.rank1"])
def test_collectives_of_each_rank_are_kept(name: str, shared: Path) -> None:
    expected, profile = _profile(shared, name)
    kernels = tables(profile).device.values()
    assert sum(calls for calls, _ in kernels) == expected["comm_kernels"]
    assert sum(total for _, total in kernels) == expected["comm_us"] * 1000
    assert profile.header.rank == int(name[-1])


def test_a_far_window_end_does_not_stretch_the_profile(shared: Path) -> None:
    expected, profile = _profile(shared, "b18_far_window_end")
    runs = profile.executions
    assert int((runs.start_ticks + runs.duration_ticks).max()) == expected["span_us"] * 1000


def test_modules_and_their_backward_ops_are_linked(shared: Path) -> None:
    expected, profile = _profile(shared, "b21_modules_scope_bwd")
    scopes = tables(profile).scopes
    wanted = {
        path: (calls, micros * 1000) for path, (calls, micros) in expected["modules_us"].items()
    }
    assert {path: row for path, row in scopes.items() if path in wanted} == wanted
    links = profile.links
    pairs = [
        (profile.nodes.scope[source], profile.nodes.name[target])
        for source, target, kind in zip(links.source, links.target, links.kind, strict=True)
        if kind == LinkKind.FORWARD_BACKWARD
    ]
    texts = list(profile.strings)
    assert len(set(pairs)) == 2
    assert {texts[name] for _, name in pairs} == {"AddmmBackward0"}


def test_a_deep_stack_is_kept_whole(shared: Path) -> None:
    expected, profile = _profile(shared, "b22_deep_stack")
    depth = np.zeros(len(profile.traces), np.int64)
    for row, parent in enumerate(profile.traces.parent.tolist()):
        depth[row] = depth[parent] + 1 if parent >= 0 else 1
    assert int(depth.max()) == expected["depth"]
