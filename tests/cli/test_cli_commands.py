"""The command, run as a user runs it."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from pathlib import Path

import pytest
from planted_traces import Workload, simulate

import stepscope
from stepscope.cli.demo import write_profile
from stepscope.cli.main import build_parser, main
from stepscope.lenses.options import specs
from stepscope.lenses.views import ViewsOptions

SAMPLE = Path(stepscope.__file__).parent / "cli" / "samples" / "small_net.pt.trace.json.gz"


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    write_profile(tmp_path)
    return tmp_path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize("view", ["op", "scope"])
def test_a_file_and_its_import_give_the_same_view(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, view: str
) -> None:
    answer(capsys, "import", str(SAMPLE), "--logdir", str(tmp_path))
    stored = json.loads(answer(capsys, "views", str(tmp_path), "--view", view, "--format", "json"))
    direct = json.loads(answer(capsys, "views", str(SAMPLE), "--view", view, "--format", "json"))
    assert stored["nodes"] == direct["nodes"]
    assert len(stored["nodes"]) > 10


def test_the_command_and_python_give_the_same_numbers(
    capsys: pytest.CaptureFixture[str], logdir: Path
) -> None:
    printed = json.loads(
        answer(
            capsys, "views", str(logdir), "--view", "op", "--min_micros", "100", "--format", "json"
        )
    )
    asked = stepscope.open(logdir).views(view="op", min_micros=100).to_json()
    assert printed == json.loads(json.dumps(asked))


def test_no_order_is_the_natural_one(capsys: pytest.CaptureFixture[str], logdir: Path) -> None:
    printed = json.loads(answer(capsys, "views", str(logdir), "--order_by=", "--format", "json"))
    assert printed["options"]["order_by"] == ""
    assert printed["nodes"] == stepscope.open(logdir).views(order_by="").to_json()["nodes"]


def test_csv_has_a_line_per_row(capsys: pytest.CaptureFixture[str], logdir: Path) -> None:
    rows = list(
        csv.DictReader(
            io.StringIO(answer(capsys, "views", str(logdir), "--view", "op", "--format", "csv"))
        )
    )
    assert len(rows) == len(stepscope.open(logdir).views(view="op"))
    assert all(row["name"] for row in rows)


def test_a_table_is_printed_by_default(capsys: pytest.CaptureFixture[str], logdir: Path) -> None:
    text = answer(capsys, "views", str(logdir))
    assert "aten::" in text
    assert "host total (us)" in text.splitlines()[0]
    assert text.splitlines()[1].startswith("(total)")


@pytest.mark.parametrize(
    ("lens", "case", "word"),
    [("incore", "o06_ties_zero_width", "R-E"), ("dcn", "host_callback_ops", "send")],
)
def test_every_lens_prints_a_table(
    capsys: pytest.CaptureFixture[str], lens: str, case: str, word: str
) -> None:
    cases = Path(__file__).parents[1] / "data" / lens
    assert word in answer(capsys, lens, str(next(cases.rglob(case))))


def test_the_diagnosis_stands_below_the_collectives(capsys: pytest.CaptureFixture[str]) -> None:
    case = Path(__file__).parents[1] / "data/dcn/cases/single_allreduce"
    _, causes = answer(capsys, "dcn", str(case), "--detail", "full").split("\n\n")
    assert "verdict" in causes
    assert "psum.7_0" in causes


def test_a_checker_is_named_once_above_its_reports(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    trace = tmp_path / "t.json"
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "ts": start, "dur": 100, "pid": 1, "tid": 1}
        for name, start in (("aten::mm", 0), ("aten::sort", 200))
    ]
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    heading, *reports = answer(capsys, "advise", str(trace)).splitlines()
    assert heading == "ExpensiveOperationChecker:"
    assert [report.split(" takes ")[0] for report in reports] == ["op aten::mm", "op aten::sort"]


def test_a_file_that_is_no_trace_costs_one_clear_sentence_and_exit_code_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    for command in (
        ["views", str(tmp_path / "notes.txt")],
        ["import", str(tmp_path / "notes.txt"), "--logdir", "x"],
    ):
        assert main(command) == 1
        said = capsys.readouterr().err
        assert len(said.splitlines()) == 1
        assert "notes.txt" in said
        assert "stepscope formats" in said


def test_one_bad_file_does_not_keep_the_others_from_being_imported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, logdir = tmp_path / "traces", tmp_path / "runs"
    folder.mkdir()
    (folder / "good.pt.trace.json.gz").write_bytes(SAMPLE.read_bytes())
    (folder / "notes.txt").write_text("hello")
    assert (
        main(
            [
                "import",
                str(folder),
                str(tmp_path / "absent.json"),
                "--logdir",
                str(logdir),
                "--jobs",
                "1",
            ]
        )
        == 1
    )
    printed = capsys.readouterr()
    assert "absent.json" in printed.err
    assert "notes.txt" in printed.err
    assert stepscope.open(logdir).catalog.runs() == ["good"]


def test_files_of_one_name_in_two_folders_become_two_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for folder in ("a", "b"):
        (tmp_path / "traces" / folder).mkdir(parents=True)
        (tmp_path / "traces" / folder / "worker0.pt.trace.json.gz").write_bytes(SAMPLE.read_bytes())
    answer(
        capsys,
        "import",
        str(tmp_path / "traces"),
        "--logdir",
        str(tmp_path / "runs"),
        "--jobs",
        "2",
    )
    assert stepscope.open(tmp_path / "runs").catalog.runs() == ["a/worker0", "b/worker0"]


def test_a_file_whose_name_is_no_text_is_imported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    try:
        shutil.copy(SAMPLE, os.fsencode(tmp_path) + b"/caf\xe9.pt.trace.json.gz")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    (file,) = tmp_path.iterdir()
    answer(capsys, "import", str(file), "--logdir", str(tmp_path / "runs"))
    assert stepscope.open(tmp_path / "runs").catalog.runs() == ["caf?"]


def test_what_a_file_says_does_not_lead_out_of_the_log_directory(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    matrix = {
        "case": "../outside",
        "columns": {"entry": 0, "body_done": 1},
        "shape": [1, 2],
        "timing": "t.bin",
    }
    (tmp_path / "case.json").write_text(json.dumps(matrix))
    (tmp_path / "t.bin").write_bytes(bytes(16))
    assert main(["import", str(tmp_path / "case.json"), "--logdir", str(tmp_path / "runs")]) == 1
    assert "'../outside' lies outside the log directory" in capsys.readouterr().err
    assert not (tmp_path / "outside").exists()


def test_what_an_answer_leaves_out_is_said(
    capsys: pytest.CaptureFixture[str], logdir: Path
) -> None:
    assert main(["views", str(logdir), "--account_type_regexes", "("]) == 0
    assert "regex '(' matches nothing" in capsys.readouterr().err


def test_problems_are_said_also_where_nothing_else_can_be(
    capsys: pytest.CaptureFixture[str], logdir: Path
) -> None:
    (file,) = logdir.rglob("*tfevents*")
    os.truncate(file, file.stat().st_size // 2)
    assert main(["views", str(logdir)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert "record is incomplete" in said[0]
    assert "no profile record" in said[1]


def test_a_file_that_cannot_be_written_is_exit_code_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert (
        main(["views", str(SAMPLE), "--output", f"file:outfile={tmp_path / 'absent' / 'f'}"]) == 1
    )
    assert "absent/f: No such file or directory" in capsys.readouterr().err


def test_names_do_not_steer_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    event = {
        "ph": "X",
        "cat": "cpu_op",
        "name": "a\x1b[31mb",
        "ts": 1,
        "dur": 2,
        "pid": 1,
        "tid": 1,
    }
    (tmp_path / "t.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": [event]}))
    printed = answer(capsys, "views", str(tmp_path / "t.json"))
    assert "\x1b" not in printed
    assert r"a\x1b[31mb" in printed


def test_several_runs_must_be_chosen_from(capsys: pytest.CaptureFixture[str], logdir: Path) -> None:
    main(["import", str(SAMPLE), "--logdir", str(logdir), "--run", "second"])
    capsys.readouterr()
    assert main(["views", str(logdir)]) == 2
    said = capsys.readouterr().err
    assert "pytorch-small-net" in said
    assert "second" in said
    assert main(["views", str(logdir), "--run", "second"]) == 0


def test_a_run_compared_with_itself_differs_by_nothing(
    capsys: pytest.CaptureFixture[str], logdir: Path
) -> None:
    text = answer(
        capsys, "views", str(logdir), "--view", "op", "--compare", str(logdir), "--format", "json"
    )
    compared = json.loads(text)
    assert compared["rows"]
    assert compared["unmatched_share"] == 0
    assert all(not any(row["delta"].values()) for row in compared["rows"])


def test_every_option_of_the_lens_is_a_flag() -> None:
    parsed = vars(build_parser().parse_args(["views", "x"]))
    assert {f"option_{spec.name}" for spec in specs(ViewsOptions)} <= set(parsed)


@pytest.mark.parametrize("flag", ["--min_micros", "--min-micros"])
def test_flags_are_taken_by_tfprofs_names_and_with_dashes(
    capsys: pytest.CaptureFixture[str], logdir: Path, flag: str
) -> None:
    everything = answer(capsys, "views", str(logdir), "--format", "csv")
    assert len(answer(capsys, "views", str(logdir), flag, "1000", "--format", "csv")) < len(
        everything
    )


@pytest.mark.parametrize(
    "flag", [["--min_micros", "many"], ["--step", "x"], ["--output", "disk:outfile=x"]]
)
def test_wrong_usage_is_exit_code_2(
    capsys: pytest.CaptureFixture[str], logdir: Path, flag: list[str]
) -> None:
    assert main(["views", str(logdir), *flag]) == 2
    assert capsys.readouterr().err.startswith("stepscope: ")


def test_formats_name_what_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    named = {row["format"] for row in json.loads(answer(capsys, "formats", "--format", "json"))}
    assert {"tfprof", "torch-trace"} <= named


def test_the_demo_writes_a_profile_and_a_throughput_series(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    answer(capsys, "demo", "--logdir", str(tmp_path), "--no-serve", "--seconds", "0.2")
    kinds = {ref.kind for ref in stepscope.open(tmp_path).catalog.refs()}
    assert {"profile", "throughput"} <= kinds


def test_findings_are_read_as_what_where_and_what_to_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    logdir = tmp_path / "waits"
    simulate(Workload(items=2, logs=2), logdir)
    lines = answer(capsys, "findings", str(logdir)).splitlines()
    first = json.loads(answer(capsys, "findings", str(logdir), "--format", "json"))[0]
    assert lines[0].startswith(f"{first['evidence'][0]['run']}: A step takes ")
    assert (
        lines[1]
        == f"{first['saving_share']:>6.1%}  {first['title']}  [{first['evidence'][0]['run']}]"
    )
    assert first["advice"] in lines[2]
    assert lines[3].strip() == f"try: {first['try'][0]}"
    rows = list(
        csv.DictReader(io.StringIO(answer(capsys, "findings", str(logdir), "--format", "csv")))
    )
    assert len(rows) == sum(not line.startswith("        ") for line in lines[1:])
    assert rows[0]["run"] == first["evidence"][0]["run"]


@pytest.mark.parametrize(
    "command", [["views", "", "--view", "op"], ["findings", ""], ["import", "", "--logdir", "x"]]
)
def test_an_empty_path_is_wrong_usage_and_not_the_current_folder(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(command)
    assert "an empty path" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["report", "-o", "{}"], ["views", "--view", "op", "--output", "file:outfile={}"]]
)
def test_what_is_read_is_not_written_over(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: list[str]
) -> None:
    trace = tmp_path / "trace.json.gz"
    shutil.copy(SAMPLE, trace)
    assert main([*(part.format(trace) for part in command), str(trace)]) == 2
    assert "the output is the source" in capsys.readouterr().err
    assert trace.read_bytes() == SAMPLE.read_bytes()


def test_what_a_stream_cannot_carry_is_written_as_its_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    printed = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(printed, encoding="ascii"))
    assert main(["formats"]) == 0
    assert b"\\u2026" in printed.getvalue()


def test_a_negative_number_of_jobs_is_wrong_usage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["import", str(SAMPLE), "--logdir", str(tmp_path), "--jobs", "-1"]) == 2
    assert "jobs is -1" in capsys.readouterr().err


def test_an_argument_that_is_no_text_matches_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    shown = answer(
        capsys,
        "views",
        str(SAMPLE),
        "--view",
        "op",
        "--show_name_regexes",
        "\udcff",
        "--format",
        "json",
    )
    assert [node["name"] for node in json.loads(shown)["nodes"]] == ["_TFProfRoot"]


def test_too_little_memory_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise MemoryError

    monkeypatch.setattr("stepscope.sources.registry.open_path", refuse)
    assert main(["views", str(SAMPLE)]) == 1
    assert "out of memory" in capsys.readouterr().err
