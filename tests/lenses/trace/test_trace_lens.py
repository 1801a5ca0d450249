"""The trace lens has the doors of the other lenses, and the older ways to it give the same answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.cli.main import main
from stepscope.errors import OptionError
from stepscope.lenses.trace.comparison import compare
from stepscope.lenses.trace.executions import Executions
from stepscope.lenses.trace.options import SHOWS, TraceOptions
from stepscope.lenses.trace.result import TraceResult
from stepscope.model.profile import Profile
from stepscope.panel.documents import routes
from stepscope.panel.request import Query
from stepscope.session.source import Source

SAMPLE = Path(stepscope.__file__).parent / "cli" / "samples" / "small_net.pt.trace.json.gz"
OLD_SHAPES = {"breakdown": "steps"} | {
    name: name
    for name in ("timeline", "shapes", "kernels", "launches", "memory", "ranks", "order", "event")
}


@pytest.fixture(scope="module")
def source() -> Source:
    return stepscope.open(SAMPLE)


def ask(source: Source, route: str, **texts: str) -> Any:
    return json.loads(
        json.dumps(routes()[route](Query(source, {name: [text] for name, text in texts.items()})))
    )


@pytest.mark.parametrize("shape", OLD_SHAPES)
def test_views_shape_and_trace_show_have_one_document(source: Source, shape: str) -> None:
    document = ask(source, "trace", show=OLD_SHAPES[shape])
    assert document == ask(source, "views", shape=shape)
    assert document == json.loads(json.dumps(source.trace(show=OLD_SHAPES[shape]).to_json()))


@pytest.mark.parametrize("method", ["breakdown", "launches", "ranks"])
def test_older_method_has_the_table_and_its_attributes(source: Source, method: str) -> None:
    answer = getattr(source, method)()
    table = source.trace(show=OLD_SHAPES[method])
    assert answer.to_json() == table.to_json()
    assert answer.rows() == table.rows()
    assert answer.result is table.result.value


@pytest.mark.parametrize("show", SHOWS)
def test_every_table_has_rows_and_a_short_repr(source: Source, show: str) -> None:
    answer = source.trace(show=show)
    assert isinstance(answer.rows(), list)
    assert len(repr(answer)) < 120


@pytest.mark.parametrize("show", ["steps", "kernels", "launches", "shapes", "memory", "ranks"])
def test_command_prints_the_rows_of_the_table(
    source: Source, show: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", str(SAMPLE), "--show", show, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == ask(source, "trace", show=show)
    assert main(["trace", str(SAMPLE), "--show", show, "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(source.trace(show=show).rows())


@pytest.mark.parametrize("show", ["steps", "shapes", "memory"])
def test_compared_with_itself_nothing_differs(source: Source, show: str) -> None:
    document = source.trace(show=show, compare=source).to_json()
    assert document["per"] == "total"
    assert document["unmatched_share"] == 0
    assert document["rows"]
    for row in document["rows"]:
        assert row["state"] == "both"
        assert set(row["delta"].values()) == {0}


def test_compared_order_is_merged(source: Source) -> None:
    alone = source.trace(show="order").to_json()
    assert source.trace(show="order", compare=source).to_json() == alone


@pytest.mark.parametrize("show", ["timeline", "event", "idle"])
def test_picture_cannot_be_compared(source: Source, show: str) -> None:
    with pytest.raises(OptionError, match=f"{show} cannot be compared"):
        source.trace(show=show, compare=source)


def steps_of(durations: list[int], *, name: str, torch_profile: Callable[..., Profile]) -> Profile:
    """A profile with one kernel of that name in each step."""
    ranges = []
    for number, duration in enumerate(durations):
        start = number * 1000
        ranges.append(
            {
                "ph": "X",
                "cat": "user_annotation",
                "name": f"ProfilerStep#{number}",
                "ts": start,
                "dur": 900,
            }
        )
        ranges.append({"ph": "X", "cat": "cpu_op", "name": "op", "ts": start + 1, "dur": 10})
        ranges.append({"ph": "X", "cat": "kernel", "name": name, "ts": start + 20, "dur": duration})
    return torch_profile(ranges)


def test_unequally_many_steps_are_compared_per_step(tmp_path: Path) -> None:
    from stepscope.sources import torch_trace

    def read(ranges: list[dict[str, Any]], name: str) -> Profile:
        for place, event in enumerate(ranges):
            device = event["cat"] == "kernel"
            event |= {"pid": 0 if device else 1, "tid": 7 if device else 1}
            event["args"] = {"correlation": place, "device": 0, "stream": 7} if device else {}
        path = tmp_path / f"{name}.pt.trace.json"
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": ranges}))
        profile = torch_trace.read(path).records[0].record
        assert isinstance(profile, Profile)
        return profile

    two = steps_of([30, 50], name="gemm", torch_profile=lambda ranges: read(ranges, "two"))
    three = steps_of([20, 20, 20], name="gemm", torch_profile=lambda ranges: read(ranges, "three"))
    options = TraceOptions(show="kernels")
    found = compare(
        Executions(two).analyze(options), Executions(three).analyze(options), options
    ).to_json()
    assert found["per"] == "step"
    (row,) = found["rows"]
    assert row["a"]["total_ps"] == 40_000_000
    assert row["b"]["total_ps"] == 20_000_000
    assert row["delta"]["total_ps"] == 20_000_000
    assert row["a"]["max_ps"] == 50_000_000, "the longest call is not divided by steps"


def test_rows_of_one_side_are_the_unmatched_share() -> None:
    def result(**total_ps: int) -> TraceResult:
        rows = [
            {"name": name, "category": "kernel", "calls": 1, "total_ps": ps}
            for name, ps in total_ps.items()
        ]
        return TraceResult("kernels", {"count": len(rows), "rows": rows}, None, 1, "run")

    found = compare(
        result(shared=10, new=30), result(shared=20, gone=40), TraceOptions(show="kernels")
    ).to_json()
    states = {row["key"]: row["state"] for row in found["rows"]}
    assert states == {"kernel gone": "removed", "kernel new": "added", "kernel shared": "both"}
    assert [row["delta"]["total_ps"] for row in found["rows"]] == [-40, 30, -10]
    assert found["unmatched_share"] == 70 / 100
