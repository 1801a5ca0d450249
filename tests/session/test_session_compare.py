"""Two sources side by side: the same door in every lens."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorboard.compat.proto import tfprof_log_pb2

import stepscope
from stepscope.cli.main import main
from stepscope.errors import OptionError
from stepscope.lenses import views
from stepscope.lenses.throughput import analyze
from stepscope.lenses.throughput.significance import significance
from stepscope.lenses.views import ViewsOptions
from stepscope.model.columns import Header, Strings
from stepscope.model.profile import Profile
from stepscope.model.throughput import Marks, RateSamples, Spans, Throughput
from stepscope.session.source import Source
from stepscope.sources import tfprof
from stepscope.store.sink import EventFileSink
from stepscope.store.writing import RecordWriter

TRACE = str(Path(stepscope.__file__).parent / "cli" / "samples" / "small_net.pt.trace.json.gz")

VIEWS = ("op", "scope", "graph", "code")
LENSES = [
    *((f"views-{view}", {"view": view}) for view in VIEWS),
    ("throughput", {}),
    ("incore", {}),
    ("dcn", {}),
]


def series_file(path: Path, step_ms: int) -> Path:
    """A log directory with a run of 40 steps."""
    sink = EventFileSink(str(path))
    RecordWriter(sink).write(rates(np.full(40, float(step_ms))), name="train")
    sink.close()
    return path


@pytest.fixture(scope="module")
def pairs(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Source, Source]]:
    """Two small records for each lens."""
    folder = tmp_path_factory.mktemp("compared")
    for name in ("tiny", "synth_gpu"):
        (folder / f"{name}.pb").write_bytes(
            gzip.decompress((data / "tfprof" / f"{name}.pb.gz").read_bytes())
        )
    dcn = sorted(p for p in (data / "dcn" / "cases").iterdir())
    with_rows = [path for path in dcn if any_rows(path)][:2]
    return {
        "views": (stepscope.open(folder / "tiny.pb"), stepscope.open(folder / "synth_gpu.pb")),
        "throughput": (
            stepscope.open(series_file(folder / "fast", 10)),
            stepscope.open(series_file(folder / "slow", 15)),
        ),
        "incore": (
            stepscope.open(data / "incore" / "o15_user_phases_no_collective"),
            stepscope.open(data / "incore" / "o24_user_phases_masks"),
        ),
        "dcn": (stepscope.open(with_rows[0]), stepscope.open(with_rows[1])),
    }


def any_rows(path: Path) -> bool:
    return bool(stepscope.open(path).dcn().all_cores)


def compared(pair: tuple[Source, Source], lens: str, options: dict[str, Any]) -> dict[str, Any]:
    answer = getattr(pair[0], lens.partition("-")[0])(compare=pair[1], **options)
    document: dict[str, Any] = json.loads(json.dumps(answer.to_json()))
    return document


@pytest.mark.parametrize(("lens", "options"), LENSES)
def test_a_record_compared_with_itself_differs_by_nothing(
    pairs: dict[str, tuple[Source, Source]], lens: str, options: dict[str, Any]
) -> None:
    for source in pairs[lens.partition("-")[0]]:
        document = compared((source, source), lens, options)
        assert document["unmatched_share"] == 0
        assert {row["state"] for row in document["rows"]} <= {"both"}
        assert all(
            value == 0 for row in document["rows"] for value in (row["delta"] or {}).values()
        )
        assert document["rows"]


@pytest.mark.parametrize(("lens", "options"), LENSES)
def test_the_other_way_round_every_delta_changes_its_sign(
    pairs: dict[str, tuple[Source, Source]], lens: str, options: dict[str, Any]
) -> None:
    a, b = pairs[lens.partition("-")[0]]
    there, back = compared((a, b), lens, options), compared((b, a), lens, options)
    turned = {"both": "both", "added": "removed", "removed": "added"}
    mine = {row["key"]: row for row in there["rows"]}
    theirs = {row["key"]: row for row in back["rows"]}
    assert mine.keys() == theirs.keys()
    for key, row in mine.items():
        other = theirs[key]
        assert (row["a"], row["b"], turned[row["state"]]) == (
            other["b"],
            other["a"],
            other["state"],
        )
        assert {name: -value for name, value in (row["delta"] or {}).items()} == (
            other["delta"] or {}
        )
    assert there["unmatched_share"] == pytest.approx(back["unmatched_share"])


costs = st.dictionaries(
    st.sampled_from(["a", "a/b", "a/c", "d", "e/f/g"]), st.integers(1, 1000), min_size=1
)


def profile_of(cost_us: dict[str, int]) -> Profile:
    message = tfprof_log_pb2.ProfileProto(steps=[1])
    for number, (name, micros) in enumerate(cost_us.items()):
        node = message.nodes[number]
        node.name, node.op, node.canonical_device = name, name[0], "/cpu:0"
        node.op_types.extend(["/cpu:0", name[0]])
        execs = node.execs[1]
        execs.run_count, execs.all_start_micros, execs.latest_end_micros = 1, 1000, 1000 + micros
        execs.cpu_execs["/cpu:0"].times.add().int64_values.extend([1000, micros])
    return tfprof.read_profile(message.SerializeToString(), "p.pb")


@settings(max_examples=30)
@given(costs, costs, st.sampled_from(VIEWS))
def test_the_delta_of_the_root_is_the_difference_of_all_costs(
    a: dict[str, int], b: dict[str, int], view: str
) -> None:
    one, other = profile_of(a), profile_of(b)
    options = ViewsOptions(view=view)
    there, back = (
        views.compare(*pair, options).to_json()["rows"] for pair in ((one, other), (other, one))
    )
    assert {row["key"]: row["delta"] for row in there} == {
        row["key"]: {name: -value for name, value in row["delta"].items()} for row in back
    }
    assert there[0]["delta"]["total_exec_micros"] == sum(a.values()) - sum(b.values())
    same = views.compare(one, one, options).to_json()
    assert {value for row in same["rows"] for value in row["delta"].values()} == {0}


def test_the_command_and_python_compare_alike(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    a, b = series_file(tmp_path / "a", 10), series_file(tmp_path / "b", 15)
    assert main(["throughput", str(a), "--compare", str(b), "--format", "json"]) == 0
    asked = stepscope.open(a).throughput(compare=stepscope.open(b)).to_json()
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(asked))


def profile_file(path: Path, steps: int, scope: str, micros: int = 100) -> Path:
    """A profile of scope/a, scope/b and other, each taking so long in each step."""
    message = tfprof_log_pb2.ProfileProto(steps=range(steps))
    for number, name in enumerate((f"{scope}/a", f"{scope}/b", "other")):
        node = message.nodes[number]
        node.name, node.op, node.canonical_device = name, "Op", "/cpu:0"
        node.op_types.extend(["/cpu:0", "Op"])
        for step in range(steps):
            execs = node.execs[step]
            execs.run_count, execs.all_start_micros, execs.latest_end_micros = (
                1,
                1000,
                1000 + micros,
            )
            execs.cpu_execs["/cpu:0"].times.add().int64_values.extend([1000, micros])
    path.write_bytes(message.SerializeToString())
    return path


def test_profiles_of_unequally_many_steps_are_compared_per_step(tmp_path: Path) -> None:
    a = stepscope.open(profile_file(tmp_path / "a.pb", 2, "net"))
    b = stepscope.open(profile_file(tmp_path / "b.pb", 6, "net"))
    document = a.views(view="scope", compare=b).to_json()
    assert document["per"] == "step"
    assert {row["delta"]["total_exec_micros"] for row in document["rows"]} == {0}
    total = a.views(view="scope", compare=b, step="all").to_json()
    assert total["per"] == "total"
    assert max(abs(row["delta"]["total_exec_micros"]) for row in total["rows"]) == 3 * 100 * 4


def test_a_figure_per_step_is_its_sum_over_the_steps_wherever_a_node_ran(tmp_path: Path) -> None:
    message = tfprof_log_pb2.ProfileProto.FromString(
        profile_file(tmp_path / "a.pb", 2, "net").read_bytes()
    )
    del message.nodes[0].execs[1]
    (tmp_path / "once.pb").write_bytes(message.SerializeToString())
    once, both = stepscope.open(tmp_path / "once.pb"), stepscope.open(tmp_path / "a.pb")
    rows = {
        row["key"]: row["delta"]
        for row in once.views(view="scope", compare=both, step="average").to_json()["rows"]
    }
    assert rows["net/a"]["total_exec_micros"] == rows["_TFProfRoot"]["total_exec_micros"] == -50
    assert rows["net/b"]["total_exec_micros"] == 0


def test_a_limit_keeps_the_rows_that_differ_most(pairs: dict[str, tuple[Source, Source]]) -> None:
    a, b = pairs["views"]
    answer = a.views(view="scope", compare=b)
    whole, some = answer.to_json(), answer.to_json(limit=3)
    assert some["rows"] == whole["rows"][:3]
    assert some["rows_total"] == whole["rows_total"] == len(whole["rows"]) > 3


def test_a_subtree_that_moved_is_suggested_as_a_rename(tmp_path: Path) -> None:
    a = stepscope.open(profile_file(tmp_path / "a.pb", 1, "encoder"))
    b = stepscope.open(profile_file(tmp_path / "b.pb", 1, "net"))
    assert a.views(view="scope", compare=b).to_json()["renames"] == [
        {"from": "net", "to": "encoder", "rows": 3}
    ]
    assert a.views(view="scope", compare=a).to_json()["renames"] == []


def test_a_printed_comparison_shows_both_sides_largest_change_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    a, b = profile_file(tmp_path / "a.pb", 1, "net", 150), profile_file(tmp_path / "b.pb", 1, "net")
    assert main(["views", str(a), "--view", "scope", "--compare", str(b)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["key", "A", "B", "delta", "delta", "%"]
    assert lines[1].split() == ["_TFProfRoot", "450", "300", "150", "50.000"]
    assert lines[2].split() == ["net", "300", "200", "100", "50.000"]
    assert lines[-1] == "A, B and delta are total times in us."
    assert main(["views", str(a), "--view", "scope", "--compare", str(b), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[0]["total_exec_micros delta"] == "150"


def test_ops_are_compared_by_what_each_does_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["views", TRACE, "--view", "op", "--compare", TRACE]) == 0
    printed = capsys.readouterr().out.splitlines()
    own = {
        row["name"]: row["cpu_exec_micros"]
        for row in stepscope.open(TRACE).views(view="op").to_json()["nodes"]
    }
    convolution = next(line for line in printed if line.startswith("aten::conv2d "))
    assert float(convolution.split()[1].replace(",", "")) == own["aten::conv2d"]
    assert printed[-1] == "A, B and delta are self host times in us."


def test_an_answer_is_an_escaped_table_in_a_notebook(tmp_path: Path) -> None:
    source = stepscope.open(profile_file(tmp_path / "a.pb", 1, "<script>alert(1)</script>"))
    for answer in (source.views(view="graph"), source.views(view="graph", compare=source)):
        html = answer._repr_html_()
        assert html.startswith("<table>")
        assert "<script>" not in html
    assert "&lt;script&gt;" in source.views(view="graph")._repr_html_()


def head_of(html: str) -> list[str]:
    """The titles of an HTML table's columns."""
    return re.findall("<th>(.*?)</th>", html)


def test_a_view_in_a_notebook_shows_its_leading_figures_only() -> None:
    source = stepscope.open(TRACE)
    first = ["name", "kind", "host self (us)", "% of host time", "host total (us)", "runs"]
    assert head_of(source.views(view="op")._repr_html_()) == [*first, "total requested (bytes)"]
    chosen = source.views(view="op", order_by="peak_bytes", select=["occurrence", "params"])
    # No row has its own peak but ops; no row has parameters.
    assert head_of(chosen._repr_html_()) == [
        *first,
        "total peak (bytes)",
        "self peak (bytes)",
        "nodes",
    ]
    assert "(total)" in chosen._repr_html_()
    assert '<td style="text-align:right">100.000</td>' in chosen._repr_html_()


@pytest.mark.parametrize("shape", ["breakdown", "launches", "ranks"])
def test_what_executions_answer_is_a_table_in_a_notebook_and_has_its_figures(shape: str) -> None:
    answer = getattr(stepscope.open(TRACE), shape)()
    assert head_of(answer._repr_html_()) or answer.rows() == []
    assert answer.to_json() == answer.result.to_json()


def test_the_steps_of_a_breakdown_are_the_rows_of_its_table() -> None:
    answer = stepscope.open(TRACE).breakdown()
    assert answer._repr_html_().count("<tr>") == 1 + len(answer.steps)
    assert head_of(answer._repr_html_())[:3] == ["step", "complete", "ps"]


def test_without_pandas_a_data_frame_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    source = stepscope.open(TRACE)
    for answer in (
        source.views(),
        source.breakdown(),
        source.findings(),
        source.views(compare=source),
    ):
        with pytest.raises(OptionError, match="pip install pandas"):
            answer.to_pandas()


@pytest.mark.parametrize("lens", ["views", "throughput", "incore", "dcn"])
def test_only_a_source_can_be_compared_with(lens: str) -> None:
    with pytest.raises(
        OptionError, match=r"compare: compare must be a Source, not 'x'. Pass .*stepscope.open"
    ):
        getattr(stepscope.open(TRACE), lens)(compare="x")


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"record_step": "3"}, "record_step must be an integer, got '3'"),
        ({"run": 5}, "run must be a string, got 5"),
        ({"name": 5}, "name must be a string, got 5"),
    ],
)
def test_a_choice_of_another_type_is_an_error_of_its_option(
    choice: dict[str, Any], said: str
) -> None:
    with pytest.raises(OptionError, match=said):
        stepscope.open(TRACE, **choice)
    with pytest.raises(OptionError, match=said):
        stepscope.open(TRACE).select(**choice)


@pytest.mark.parametrize("lens", ["throughput", "incore", "dcn"])
def test_each_lens_is_a_table_in_a_notebook(
    pairs: dict[str, tuple[Source, Source]], lens: str
) -> None:
    assert getattr(pairs[lens][0], lens)()._repr_html_().startswith("<table>")


def rates(step_ms: np.ndarray) -> Throughput:
    """A series that is asked after every step."""
    time_ns = np.cumsum(step_ms * 1e6).astype(np.int64)
    count, step = np.full(len(time_ns), 8), np.arange(len(time_ns))
    samples = RateSamples(step=step, time_ns=time_ns, mark_end=np.arange(1, len(time_ns) + 1))
    marks = Marks(step=step, time_ns=time_ns, count=count)
    return dataclasses.replace(
        Throughput(header=Header(), start_ns=0), marks=marks, samples=samples
    )


def drifting(seed: int, mean_ms: float, size: int = 2000) -> np.ndarray:
    """Step times whose neighbours are alike: a slow wander around a mean."""
    noise = np.random.default_rng(seed).normal(0, 0.05, size)
    wander = np.zeros(size)
    for at in range(1, size):
        wander[at] = 0.98 * wander[at - 1] + noise[at]
    return np.maximum(mean_ms + wander, 0.1)


def verdict(a: np.ndarray, b: np.ndarray) -> str:
    (found,) = significance(analyze(rates(a)), analyze(rates(b)))
    word: str = found["verdict"]
    return word


def test_a_wander_is_not_taken_for_a_difference() -> None:
    words = [verdict(drifting(2 * seed, 10), drifting(2 * seed + 1, 10)) for seed in range(30)]
    assert words.count("different") <= 5, "were the steps independent it would be most of them"


def test_a_real_difference_is_found_through_the_wander() -> None:
    assert {verdict(drifting(2 * seed, 10), drifting(2 * seed + 1, 11)) for seed in range(10)} == {
        "different"
    }


def test_known_pauses_do_not_pass_for_chance() -> None:
    a, b = drifting(0, 10), drifting(1, 10.5)
    paused = a.copy()
    paused[500::500] += 2000
    record = rates(paused)
    ends = record.marks.time_ns[500::500]
    spans = Spans(kind=np.zeros(len(ends), np.int32), start_ns=ends - 2 * 10**9, end_ns=ends)
    told = dataclasses.replace(record, strings=Strings.of(["checkpoint"]), spans=spans)
    (with_spans,), (plain,) = (
        significance(analyze(one), analyze(rates(b))) for one in (told, rates(a))
    )
    assert with_spans["difference"] == pytest.approx(plain["difference"], rel=1e-6)
    assert with_spans["standard_error"] == pytest.approx(plain["standard_error"], rel=1e-6)
    assert (
        significance(analyze(record), analyze(rates(b)))[0]["standard_error"]
        > 5 * plain["standard_error"]
    )


def test_alike_blocks_are_worth_fewer_independent_ones() -> None:
    noise = np.random.default_rng(3).normal(10, 1, 2000)
    (found,) = significance(analyze(rates(noise)), analyze(rates(np.linspace(10, 12, 2000))))
    assert found["a_blocks"] == found["b_blocks"] == 16
    assert found["a_effective_blocks"] > 8 > 3 > found["b_effective_blocks"]


def test_a_few_steps_say_nothing() -> None:
    assert verdict(np.full(5, 10.0), np.full(5, 20.0)) == "too_short"


@settings(max_examples=20)
@given(st.integers(0, 1000), st.floats(5, 20), st.floats(5, 20))
def test_significance_the_other_way_round_is_the_same(
    seed: int, one_ms: float, other_ms: float
) -> None:
    a, b = (
        analyze(rates(drifting(seed, one_ms, 200))),
        analyze(rates(drifting(seed + 1, other_ms, 200))),
    )
    (there,), (back,) = significance(a, b), significance(b, a)
    assert there["difference"] == -back["difference"]
    assert (there["standard_error"], there["verdict"]) == (back["standard_error"], back["verdict"])
