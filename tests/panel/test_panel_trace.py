"""What the route answers about executions is what Python gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stepscope
from stepscope.errors import NotFound, OptionError
from stepscope.panel.documents import views
from stepscope.panel.export import export_file
from stepscope.panel.request import Query
from stepscope.session.source import Source

TRACE = "small_net.pt.trace.json.gz"


@pytest.fixture(scope="module")
def source() -> Source:
    return stepscope.open(Path(stepscope.__file__).parent / "cli" / "samples" / TRACE)


@pytest.mark.parametrize("shape", ["breakdown", "launches", "ranks"])
def test_the_route_answers_what_python_does(source: Source, shape: str) -> None:
    answer = views(Query(source, {"shape": [shape]}))
    assert answer == getattr(source, shape)().to_json()
    json.dumps(answer)


def test_a_timeline_is_asked_by_window(source: Source) -> None:
    whole = views(Query(source, {"shape": ["timeline"]}))
    middle = (whole["first_ps"] + whole["last_ps"]) // 2
    texts = {
        "shape": ["timeline"],
        "start_ps": [str(middle)],
        "end_ps": [str(whole["last_ps"])],
        "width_px": ["50"],
    }
    part = views(Query(source, texts))
    assert (part["start_ps"], part["end_ps"]) == (middle // 1000 * 1000, whole["last_ps"])
    assert part == source.executions().timeline(middle, whole["last_ps"], 50)
    block = part["lanes"][0]["blocks"][0]
    event = views(Query(source, {"shape": ["event"], "id": [str(block[6])]}))
    assert event["name"].startswith(part["names"][block[3]][:40])


def test_an_execution_that_is_not_there_is_refused(source: Source) -> None:
    with pytest.raises(NotFound, match="no execution"):
        views(Query(source, {"shape": ["event"], "id": ["999999999"]}))


def test_memory_of_ops_is_of_one_device(source: Source) -> None:
    answer = views(Query(source, {"shape": ["memory"]}))
    assert answer["device"] in answer["devices"]
    assert answer["ops"][0]["self_allocated_bytes"] > 0
    with pytest.raises(OptionError, match="no memory of 'GPU9'"):
        source.executions().memory("GPU9")


def test_a_job_is_the_runs_of_one_world_beside_the_chosen_one(shared: Path, tmp_path: Path) -> None:
    folder = shared / "golden" / "torch-bugs"
    files = [folder / f"b14_ranks_mismatch.rank{i}.pt.trace.json" for i in (0, 1)]
    for file in files:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    job = stepscope.open(tmp_path)
    (run, _) = sorted(job.catalog.runs())
    document = job.select(run=run).ranks().to_json()
    assert [one["rank"] for one in document["ranks"]] == [0, 1]


def test_a_shape_is_exported_as_a_file(source: Source) -> None:
    body, kind, name = export_file(
        Query(source, {"lens": ["views"], "shape": ["breakdown"], "format": ["csv"]})
    )
    assert (kind.partition(";")[0], name) == ("text/csv", "stepscope-breakdown-all.csv")
    assert len(body.decode().splitlines()) == 1 + len(source.breakdown().steps)
    body, _, _ = export_file(
        Query(source, {"lens": ["views"], "shape": ["shapes"], "format": ["json"]})
    )
    assert json.loads(body) == source.executions().shapes()
