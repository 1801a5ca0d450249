"""Graphs, runs and op logs become the record that tfprof's own profile gives, and keep what tfprof leaves out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from profile_tables import describe, rows_of
from tensorboard.compat.proto import config_pb2, graph_pb2, tfprof_log_pb2

from stepscope.errors import DamagedSource
from stepscope.lenses.views import ViewEngine, ViewsOptions
from stepscope.model.profile import InputKind, LaneKind, Profile
from stepscope.sources import registry, tfprof
from stepscope.sources.tfprof import raw as tfprof_raw

GPU = "/job:w/replica:0/task:0/device:GPU:0"


def check_equal(raw: Path, profile: Path) -> int:
    converted = registry.read(raw).records[0].record
    converted.validate()
    want = describe(tfprof.read(profile).records[0].record)
    got = describe(converted)
    assert got == want
    return len(got)


@pytest.mark.parametrize("name", ["tiny", "synth_gpu"])
def test_a_folder_converts_to_its_profile(data: Path, name: str) -> None:
    assert check_equal(data / "tfprof" / "raw" / name, data / "tfprof" / f"{name}.pb.gz") > 10


@pytest.mark.parametrize("name", ["tiny", "conv", "transformer", "synth_gpu"])
def test_the_golden_folders_convert_to_their_profiles(shared: Path, name: str) -> None:
    folder = shared / "golden/tfprof/profiles" / name
    assert check_equal(folder / "raw", folder / "profile.pb") > 10


def test_a_folder_without_a_manifest_is_told_by_content(data: Path, tmp_path: Path) -> None:
    for number, file in enumerate(sorted((data / "tfprof" / "raw" / "synth_gpu").glob("*.gz"))):
        suffix = "_" + file.name.split(".")[0].rsplit("_", 1)[1] if "run_meta" in file.name else ""
        shutil.copy(file, tmp_path / f"file{chr(97 + number)}{suffix}.gz")
    assert check_equal(tmp_path, data / "tfprof" / "synth_gpu.pb.gz") > 10


def replay(tmp_path: Path, graph: str, *runs: str, log: str = "") -> Profile:
    """The record of a graph, runs and a log given as text."""
    (tmp_path / "graph.pbtxt").write_text(graph)
    for step, run in enumerate(runs):
        message = text_format.Parse(run, config_pb2.RunMetadata())
        (tmp_path / f"run_{step}.pb").write_bytes(message.SerializeToString())
    if log:
        (tmp_path / "log").write_bytes(
            text_format.Parse(log, tfprof_log_pb2.OpLogProto()).SerializeToString()
        )
    record = tfprof_raw.read(tmp_path).records[0].record
    record.validate()
    return record


def run(*devices: tuple[str, str]) -> str:
    """A run: device and node stats."""
    parts = (f'dev_stats {{ device: "{name}" {stats} }}' for name, stats in devices)
    return f"step_stats {{ {' '.join(parts)} }}"


def stats(name: str, start: int, duration: int) -> str:
    return f'node_stats {{ node_name: "{name}" all_start_micros: {start} op_end_rel_micros: {duration} }}'


TWO_NODES = 'node { name: "a" op: "Split" } node { name: "b" op: "Add" input: "a:1" input: "a" input: "^a" }'


def test_every_input_has_its_own_slot(tmp_path: Path) -> None:
    profile = replay(tmp_path, TWO_NODES)
    inputs = rows_of(profile.nodes.input_end, 1)
    assert profile.inputs.slot[inputs].tolist() == [1, 0, 0]
    assert profile.inputs.kind[inputs].tolist() == [
        InputKind.DATA,
        InputKind.DATA,
        InputKind.CONTROL,
    ]


def lanes(profile: Profile) -> dict[tuple[str, LaneKind], int]:
    """Time on each lane."""
    out: dict[tuple[str, LaneKind], int] = {}
    for lane, ticks in zip(profile.executions.lane, profile.executions.duration_ticks, strict=True):
        key = (profile.strings[profile.lanes.device[lane]], LaneKind(profile.lanes.kind[lane]))
        out[key] = out.get(key, 0) + int(ticks)
    return out


def test_what_tfprof_leaves_out_is_kept_beside_its_figures(tmp_path: Path) -> None:
    other = GPU.replace("GPU:0", "CPU:0")
    profile = replay(
        tmp_path,
        TWO_NODES,
        run(
            (GPU, stats("a", 100, 3)),
            (GPU + "/stream:all", stats("a:Split", 110, 20)),
            (GPU + "/stream:7", stats("a:Split", 110, 20)),
            (GPU + "/memcpy", stats("a:MEMCPYHtoD", 130, 7)),
            (other, stats("a", 140, 11)),
            ("/device:TPU:0", stats("a", 150, 50)),
            ("/host:CPU", stats("a", 160, 2)),
        ),
    )
    assert lanes(profile) == {
        (GPU.lower(), LaneKind.HOST): 3,
        (GPU.lower() + "/stream:all", LaneKind.ACCELERATOR): 20,
        (GPU.lower() + "/stream:7", LaneKind.OTHER): 20,
        (GPU.lower() + "/memcpy", LaneKind.OTHER): 7,
        (other.lower(), LaneKind.OTHER): 11,
        ("/device:tpu:0", LaneKind.OTHER): 50,
        ("/host:cpu", LaneKind.OTHER): 2,
    }
    costs = profile.node_steps
    assert (costs.host_ticks.tolist(), costs.accelerator_ticks.tolist()) == ([3], [20])
    assert (costs.uncounted_host_ticks.tolist(), costs.uncounted_accelerator_ticks.tolist()) == (
        [13],
        [57],
    )


def test_a_step_on_another_device_only_is_no_step_of_the_node(tmp_path: Path) -> None:
    cpu = GPU.replace("GPU:0", "CPU:0")
    profile = replay(
        tmp_path, TWO_NODES, run((GPU, stats("a", 100, 3))), run((cpu, stats("a", 200, 5)))
    )
    assert profile.node_steps.step.tolist() == [0]
    assert lanes(profile)[cpu.lower(), LaneKind.OTHER] == 5


def test_the_op_of_a_node_that_the_runtime_made_is_found_in_the_graphs_it_ran(
    tmp_path: Path,
) -> None:
    partition = 'partition_graphs { node { name: "_arg_0" op: "_Arg" } }'
    profile = replay(
        tmp_path, TWO_NODES, run((GPU, stats("_arg_0", 1, 1) + stats("_ret", 1, 1))) + partition
    )
    ops = {name: node["op"] for name, node in describe(profile).items()}
    assert ops == {"a": "Split", "b": "Add", "_arg_0": "_Arg", "_ret": "_ret"}


def test_the_log_adds_types_float_operations_and_stacks(tmp_path: Path) -> None:
    log = """
      log_entries { name: "a" types: "mine" float_ops: 5 code_def { traces { file_id: 1 lineno: 3 function_id: 2 } } }
      log_entries { name: "absent" float_ops: 5 }
      id_to_string { key: 1 value: "/x/train.py" } id_to_string { key: 2 value: "main" }
    """
    node = describe(replay(tmp_path, TWO_NODES, log=log))["a"]
    assert (node["types"], node["float_ops"]) == (["Split", "mine"], 5)
    assert node["stack"] == (("/x/train.py", 3, "main"),)


def test_a_node_that_is_in_no_graph_is_a_named_error(tmp_path: Path) -> None:
    with pytest.raises(DamagedSource, match=r"input 0 of node 'b' comes from node 'gone'"):
        replay(tmp_path, 'node { name: "b" op: "Add" input: "gone" }')


def test_an_unknown_function_id_is_a_named_error(tmp_path: Path) -> None:
    log = 'log_entries { name: "a" code_def { traces { file_id: 9 lineno: 3 } } }'
    with pytest.raises(DamagedSource, match="id 9"):
        replay(tmp_path, TWO_NODES, log=log)


def test_a_damaged_run_is_said_and_the_others_are_shown(tmp_path: Path) -> None:
    whole = text_format.Parse(
        run((GPU, stats("a", 100, 3))), config_pb2.RunMetadata()
    ).SerializeToString()
    (tmp_path / "run_7").write_bytes(whole[:-3])
    profile = replay(tmp_path, TWO_NODES, run((GPU, stats("a", 100, 3))))
    assert profile.steps.id.tolist() == [0]
    assert [loss.count for loss in profile.header.losses] == [1]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("graph", graph_pb2.GraphDef(node=[{"name": "a", "op": "X"}])),
        ("op_log", tfprof_log_pb2.OpLogProto(log_entries=[{"name": "a", "float_ops": 3}])),
        ("run", text_format.Parse(run((GPU, stats("a", 1, 1))), config_pb2.RunMetadata())),
    ],
)
def test_each_kind_is_told_by_its_first_bytes(kind: str, message: Any) -> None:
    content = message.SerializeToString()
    assert tfprof_raw.kind_of(content) == kind
    assert not tfprof.recognise(Path("x"), content)


@pytest.mark.parametrize("stats", ["", "step_stats {}"])
def test_a_run_of_functions_has_their_graphs(tmp_path: Path, stats: str) -> None:
    graph = 'node { name: "x" op: "_Arg" } node { name: "y" op: "Relu" input: "x" }'
    text = f"{stats} function_graphs {{ pre_optimization_graph {{ {graph} }} }}"
    path = tmp_path / "run"
    path.write_bytes(text_format.Parse(text, config_pb2.RunMetadata()).SerializeToString())
    assert registry.recognise(path).name == "tfprof-raw"
    nodes = describe(registry.read(path).records[0].record)
    assert {name: node["inputs"] for name, node in nodes.items()} == {"x": [], "y": ["x"]}


def test_a_run_of_partition_graphs_alone_is_a_run() -> None:
    run_of_graphs = text_format.Parse(
        'partition_graphs { node { name: "x" op: "_Arg" } }', config_pb2.RunMetadata()
    )
    assert tfprof_raw.kind_of(run_of_graphs.SerializeToString()) == "run"


@pytest.mark.parametrize(
    "content",
    [b"", b"\x0a", b"hello", b'{"a": 1}', b"\x0a\x04\x08\x01\x12\x00", b"\x80\x02}q\x00."],
)
def test_other_content_is_none_of_the_three(content: bytes) -> None:
    assert tfprof_raw.kind_of(content) is None


def test_a_control_input_has_a_shape_in_tfprofs_ways_only(tmp_path: Path) -> None:
    shapes = 'attr { key: "_output_shapes" value { list { shape { dim { size: 2 } } } } }'
    graph = f'node {{ name: "a" op: "Const" {shapes} }} node {{ name: "b" op: "Add" input: "a" input: "^a" }}'
    engine = ViewEngine(replay(tmp_path, graph))
    for compat, control in ((None, "unknown"), ("tfprof", [2])):
        document = engine.analyze(
            ViewsOptions(view="scope", compat=compat, detail="full")
        ).to_json()
        (row,) = (node for node in document["nodes"] if node["name"] == "b")
        assert row["input_shapes"] == {"0": [2], "1": control}
