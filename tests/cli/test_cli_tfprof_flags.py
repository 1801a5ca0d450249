"""Flags as users of tfprof's command type them."""

from __future__ import annotations

from pathlib import Path

import pytest

import stepscope
from stepscope.cli.main import main

PROFILE = str(Path(__file__).parents[1] / "data/tfprof/tiny.pb.gz")


def test_flags_take_a_single_dash(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["views", PROFILE, "-view", "scope", "-max_depth", "2"]) == 0
    single = capsys.readouterr().out
    assert main(["views", PROFILE, "--view", "scope", "--max_depth", "2"]) == 0
    assert capsys.readouterr().out == single


@pytest.mark.parametrize(
    "flag", ["--graph_path", "--run_meta_path", "--op_log_path", "-graph_path"]
)
def test_paths_of_single_files_are_answered_with_the_command_to_type(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["views", flag, "logs/graph.pb", PROFILE])
    assert stopped.value.code == 2
    assert "stepscope views logs" in capsys.readouterr().err


def test_unknown_words_of_select_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["views", PROFILE, "--select", "time"]) == 2
    assert "unknown select 'time'" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["device", "op_types", "input_shapes"])
def test_selected_details_are_in_tables_and_documents(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["views", PROFILE, "--view", "scope", "--select", word]) == 0
    assert word in capsys.readouterr().out.splitlines()[0]
    nodes = stepscope.open(PROFILE).views(view="scope", select=[word]).to_json()["nodes"]
    assert any(node[word] for node in nodes)


def test_presets_are_those_of_the_option_builder() -> None:
    answer = stepscope.open(PROFILE).views(view="scope", preset="float_operation")
    options = answer.to_json()["options"]
    assert (options["order_by"], options["min_float_ops"], options["select"]) == (
        "float_ops",
        1,
        ("float_ops",),
    )
    kept = stepscope.open(PROFILE).views(view="scope", preset="float_operation", order_by="name")
    assert kept.to_json()["options"]["order_by"] == "name"
