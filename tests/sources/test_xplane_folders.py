"""Runs, captures and hosts of profiles by folder, and which files StepScope joins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from xplane_builder import Core, documented, profile, space

import stepscope
from stepscope.cli.main import main
from stepscope.model.columns import Header
from stepscope.model.profile import Profile
from stepscope.pb import xplane_pb2
from stepscope.session.importing import expand
from stepscope.sources import registry, xplane
from stepscope.sources.xplane.folders import run_of
from stepscope.sources.xplane.profile import ProfileBuilder

SECOND_NS = 10**9
EPOCH_NS = 1_700_000_000 * SECOND_NS
T0, T2, T30, T90 = (f"2026_01_01_00_{s // 60:02}_{s % 60:02}" for s in (0, 2, 30, 90))


def of_program(program: str, session_s: tuple[int, int] | None = None) -> bytes:
    """A profile whose core ran a program; with the profiler's start and stop in seconds, if given."""
    content = profile(Core([(program, 0, 5000)], [documented()]), programs={})
    if session_s is None:
        return content
    task = xplane_pb2.Plane(name=b"Task Environment")
    for key, (name, second) in enumerate(
        zip(("profile_start_time", "profile_stop_time"), session_s, strict=True), 1
    ):
        task.stat_metadata[key].name = name.encode()
        task.stats.add(metadata_id=key, uint64_value=EPOCH_NS + second * SECOND_NS)
    return content + space(task.SerializeToString())


ONE = of_program("jit_step(77)")


def write(root: Path, places: dict[str, bytes]) -> Path:
    for place, content in places.items():
        path = root / f"{place}.xplane.pb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def captures(root: Path) -> list[tuple[str, str, list[str]]]:
    """The run, name and hosts of each record of collectives."""
    found = []
    for named in registry.read(root).records:
        if named.record.KIND == "collectives":
            hosts = [named.record.strings[i] for i in named.record.hosts.name.tolist()]
            found.append((named.run, named.name, hosts))
    return found


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (["plugins/profile/T/a", "plugins/profile/T/b"], [("logs", "xplane", ["a", "b"])]),
        (
            ["A/plugins/profile/T/vm", "B/plugins/profile/T/vm"],
            [("A", "xplane", ["vm"]), ("B", "xplane", ["vm"])],
        ),
        (["x/y/plugins/profile/T/vm"], [("x/y", "xplane", ["vm"])]),
        (
            ["plugins/profile/T/a", "eval/plugins/profile/T/a"],
            [("eval", "xplane", ["a"]), ("logs", "xplane", ["a"])],
        ),
        (["a", "b"], [("logs", "xplane", ["a", "b"])]),
        (["one/a", "two/a"], [("one", "xplane", ["a"]), ("two", "xplane", ["a"])]),
        (["profile/T/a"], [("logs", "xplane", ["a"])]),
    ],
)
def test_folder_above_plugins_profile_is_the_run(
    tmp_path: Path, places: list[str], expected: list[tuple[str, str, list[str]]]
) -> None:
    root = write(tmp_path / "logs", {place.replace("T", T0): ONE for place in places})
    assert captures(root) == expected


@pytest.mark.parametrize("below", ["", "plugins", "plugins/profile", f"plugins/profile/{T0}"])
def test_run_is_the_same_from_every_folder_of_it(tmp_path: Path, below: str) -> None:
    root = write(tmp_path / "logs", {f"plugins/profile/{T0}/vm": ONE})
    assert captures(root / below) == [("logs", "xplane", ["vm"])]


def test_file_in_a_profile_folder_has_the_run_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path / "logs", {f"plugins/profile/{T0}/vm": ONE, "loose/vm": ONE})
    assert run_of(tmp_path / "logs" / "plugins" / "profile" / T0 / "vm.xplane.pb") == "logs"
    assert run_of(tmp_path / "logs" / "loose" / "vm.xplane.pb") == "vm"


NEAR = [f"plugins/profile/{T0}/a", f"plugins/profile/{T2}/b"]


@pytest.mark.parametrize(
    ("contents", "is_joined"),
    [
        ([ONE, ONE], True),
        ([ONE, of_program("jit_step(78)")], False),
        ([of_program("jit_step(77)", (0, 5)), of_program("jit_step(77)", (2, 7))], True),
        ([of_program("jit_step(77)", (0, 5)), of_program("jit_step(77)", (6, 9))], False),
        ([of_program("jit_step(77)", (0, 5)), ONE], True),
    ],
    ids=["same program", "other program", "at one time", "one after the other", "time unknown"],
)
def test_near_folders_are_joined_unless_their_content_contradicts(
    tmp_path: Path, contents: list[bytes], is_joined: bool
) -> None:
    root = write(tmp_path / "logs", dict(zip(NEAR, contents, strict=True)))
    hosts = [hosts for _, _, hosts in captures(root)]
    assert hosts == ([["a", "b"]] if is_joined else [["a"], ["b"]])


@pytest.mark.parametrize(
    "places",
    [
        [f"plugins/profile/{T0}/a", f"plugins/profile/{T90}/b"],
        [f"plugins/profile/{T0}/a", f"plugins/profile/{T2}/a"],
        [f"A/plugins/profile/{T0}/a", f"B/plugins/profile/{T2}/b"],
    ],
    ids=["a minute apart", "the same host", "two runs"],
)
def test_captures_are_not_joined(tmp_path: Path, places: list[str]) -> None:
    root = write(tmp_path / "logs", dict.fromkeys(places, ONE))
    assert [len(hosts) for _, _, hosts in captures(root)] == [1, 1]


def test_captures_of_one_run_have_names_of_their_own(tmp_path: Path) -> None:
    places = [f"plugins/profile/{T0}/a", f"plugins/profile/{T90}/a", f"plugins/profile/{T90}/b"]
    imported = registry.read(write(tmp_path / "logs", dict.fromkeys(places, ONE)))
    assert [(named.record.KIND, named.name) for named in imported.records] == [
        ("collectives", f"xplane {T0}"),
        ("collectives", f"xplane {T90}"),
        ("profile", f"xplane {T0}"),
        ("profile", f"a {T90}"),
        ("profile", f"b {T90}"),
    ]


def test_unrelated_jobs_of_one_minute_have_a_table_each(shared: Path) -> None:
    folder = shared / "cases" / "xplane" / "two_jobs_one_minute"
    right = json.loads((shared / "cases" / "xplane" / "two_jobs_one_minute.json").read_text())
    for job in ("jobA", "jobB"):
        document = stepscope.open(folder, run=job).dcn().to_json()
        rows = [row for host in document["hosts"].values() for row in host["all_cores"]]
        occurrences = sum(row["occurrences"] for row in rows)
        stall_us = sum(row["stall_total_ps"] for row in rows) / 1e6
        assert occurrences == right[job]["occurrences"]
        assert stall_us / occurrences == pytest.approx(right[job]["mean_stall_us"])


def test_runs_of_one_log_directory_answer_each(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared / "cases" / "xplane" / "two_runs_one_logdir"
    micros = {"runA": 2400, "runB": 3300}
    steps = {"runA": [18, 19, 20], "runB": [7, 8, 9]}
    for run in micros:
        source = stepscope.open(folder, run=run)
        assert source.views().to_json()["nodes"][0]["total_exec_micros"] == micros[run]
        assert source.record("profile").steps.id.tolist() == steps[run]
    assert main(["import", str(folder), "--logdir", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runA", "runB"]
    assert "-> runA, runB" in capsys.readouterr().out


def imported_hosts(logdir: Path) -> dict[str, int]:
    found = {}
    for ref in stepscope.open(logdir).catalog.refs():
        if ref.kind == "collectives":
            found[ref.run] = len(
                stepscope.open(logdir, run=ref.run).record("collectives").hosts.name
            )
    return found


def test_import_joins_the_hosts_of_a_folder_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write(
        tmp_path / "logs", {f"plugins/profile/{T0}/{host}": ONE for host in ("host0", "host1")}
    )
    files = sorted(str(path) for path in root.rglob("*.pb"))
    assert main(["import", *files, "--logdir", str(tmp_path / "out")]) == 0
    assert "Joined 2 hosts of one capture" in capsys.readouterr().err
    assert imported_hosts(tmp_path / "out") == {"logs": 2}


def test_import_keeps_files_of_two_folders_apart_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write(tmp_path / "logs", {"one/host0": ONE, "two/host1": ONE})
    files = sorted(str(path) for path in root.rglob("*.pb"))
    assert main(["import", *files, "--logdir", str(tmp_path / "out")]) == 0
    message = capsys.readouterr().err
    assert "Kept 2 captures apart because their files lie in different folders" in message
    assert "put their files into one folder" in message
    assert imported_hosts(tmp_path / "out") == {"host0": 1, "host1": 1}


def test_import_groups_only_files_that_belong_together(tmp_path: Path) -> None:
    root = write(tmp_path, {"host0": ONE, "host1": ONE})
    log = root / "run.log"
    log.write_text("Train Step=1, Rate=1.0 samples/sec, GlobalRate=1.0 samples/sec\n")
    missing = root / "absent.xplane.pb"
    sources = [str(root / "host1.xplane.pb"), str(log), str(root / "host0.xplane.pb"), str(missing)]
    groups = [[file.name for file in group.files] for group, _ in expand(sources).files]
    assert groups == [["run.log"], ["absent.xplane.pb"], ["host0.xplane.pb", "host1.xplane.pb"]]


def test_kernels_without_a_time_are_left_out_and_said(shared: Path) -> None:
    path = shared / "cases" / "xplane" / "xplane_zero_stamp_kernel.xplane.pb"
    source = stepscope.open(path)
    profile = source.record("profile")
    assert int(profile.executions.start_ticks.max()) == 400_000_000
    losses = [loss.what for loss in profile.header.losses]
    assert losses == ["1 kernel or copy has no time and no part in the profile: k_untimed"]
    assert source.breakdown().to_json()["devices"][0]["utilization"] == [250_000_000, 1_000_000_000]


def several_captures(tmp_path: Path) -> Path:
    places = [f"plugins/profile/{T0}/a", f"plugins/profile/{T90}/a", f"plugins/profile/{T90}/b"]
    return write(tmp_path / "logs", dict.fromkeys(places, ONE))


def test_collectives_of_several_captures_are_never_added_up(tmp_path: Path) -> None:
    root = several_captures(tmp_path)
    assert list(stepscope.open(root).dcn().to_json()["hosts"]) == ["a", "b"]
    first = stepscope.open(root, name=f"xplane {T0}").dcn().to_json()
    assert list(first["hosts"]) == ["a"]
    newest = stepscope.open(root).dcn().to_json()["hosts"]["a"]["all_cores"]
    assert newest == first["hosts"]["a"]["all_cores"]


@pytest.mark.parametrize(
    ("command", "shown", "others"),
    [
        ("views", f"b {T90} is shown, the newest of 3 profile records", f"xplane {T0}, a {T90}"),
        ("dcn", f"xplane {T90} is shown, the newest of 2 collectives records", f"xplane {T0}"),
    ],
)
def test_command_says_which_of_several_records_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, shown: str, others: str
) -> None:
    root = several_captures(tmp_path)
    assert main([command, str(root)]) == 0
    message = capsys.readouterr().err
    assert f"run logs: {shown}" in message
    assert f"Choose another with --name and --record-step: {others}\n" in message
    assert main([command, str(root), "--name", f"xplane {T0}"]) == 0
    assert "is shown" not in capsys.readouterr().err


def test_profiles_are_read_only_when_a_question_needs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = several_captures(tmp_path)
    whole = registry.read(root)
    built: list[str] = []
    build = ProfileBuilder.build

    def counted(self: ProfileBuilder, header: Header) -> Profile:
        built.append(header.host)
        return build(self, header)

    monkeypatch.setattr(ProfileBuilder, "build", counted)
    source = stepscope.open(root)
    source.dcn().to_json()
    assert built == []
    profiles = [ref.name for ref in source.catalog.refs() if ref.kind == "profile"]
    assert profiles == [f"xplane {T0}", f"a {T90}", f"b {T90}"]
    assert len(built) == 3
    for ref, named in zip(source.catalog.refs(), whole.records, strict=True):
        assert (ref.run, ref.kind, ref.name) == (named.run, named.record.KIND, named.name)
        assert source.read(ref) == named.record
    source.catalog.refs()
    assert len(built) == 3


def test_large_profiles_do_not_wait_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xplane, "MOST_DEFERRED_BYTES", 0)
    assert xplane.open_path(several_captures(tmp_path)).deferred is None
