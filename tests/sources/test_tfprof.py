"""ProfileProto files become records that hold what the file holds; what crashes tfprof is a named error or works."""

from __future__ import annotations

import contextlib
import gzip
from pathlib import Path
from typing import Any

import pytest
from profile_tables import describe, shapes
from tensorboard.compat.proto import tfprof_log_pb2

from stepscope.errors import DamagedSource, SourceError
from stepscope.model.columns import decode, encode
from stepscope.model.profile import LaneKind, NodeKind, Profile
from stepscope.sources import tfprof

GOLDEN = ("tiny", "conv", "transformer", "synth_gpu", "synth_proto", "big600")
SMALL = ("tiny", "synth_gpu", "synth_proto")


def proto(**names: str) -> Any:
    """A profile of nodes with names and ops."""
    profile = tfprof_log_pb2.ProfileProto(steps=[1])
    for number, (name, op) in enumerate(names.items()):
        profile.nodes[number].MergeFrom(
            tfprof_log_pb2.ProfileNode(name=name, op=op, id=number, op_types=[op])
        )
    return profile


def read(message: Any) -> Profile:
    profile = tfprof.read_profile(message.SerializeToString(), "p.pb")
    profile.validate()
    return profile


def reference(message: Any) -> dict[str, dict[str, Any]]:
    """What `describe` must give, from the parsed message."""
    text, out = message.id_to_string, {}
    for node in message.nodes.values():
        types = [t for t in node.op_types if t == node.op] + [
            t for t in node.op_types if t != node.op
        ]
        out[node.name] = {
            "scope": node.name,
            "op": node.op,
            "device": node.canonical_device or None,
            "types": types,
            "float_ops": node.float_ops,
            "shape": list(node.shape) or "absent",
            "stack": tuple(
                (text[t.file_id], t.lineno, text[t.function_id]) for t in node.trace.traces
            ),
            "inputs": [message.nodes[node.inputs[i]].name for i in sorted(node.inputs)],
            "steps": {step: _step(execs) for step, execs in node.execs.items()},
            "executions": sorted(_executions(node)),
            "allocations": sorted(_allocations(node)),
        }
    return out


def _step(execs: Any) -> tuple[int, ...]:
    def time(devices: Any) -> int:
        return sum(t.int64_values[1] for times in devices.values() for t in times.times)

    memory = execs.memory_execs
    sums = [
        sum(getattr(m, f"{f}_bytes") for m in memory)
        for f in ("requested", "peak", "residual", "output")
    ]
    in_use = max((m.allocator_bytes_in_use for m in memory), default=0)
    return (execs.run_count, time(execs.cpu_execs), time(execs.accelerator_execs), *sums, in_use)


def _executions(node: Any) -> Any:
    for step, execs in node.execs.items():
        for kind, devices in (
            (LaneKind.HOST, execs.cpu_execs),
            (LaneKind.ACCELERATOR, execs.accelerator_execs),
        ):
            for device, times in devices.items():
                yield from ((step, device, int(kind), *t.int64_values) for t in times.times)


def _allocations(node: Any) -> Any:
    for step, execs in node.execs.items():
        yield from ((step, a.alloc_micros, a.alloc_bytes, -1) for a in execs.allocations)
        on_cpu = "cpu" in node.canonical_device
        in_use = [m for m in execs.memory_execs if m.allocator_bytes_in_use or not on_cpu]
        yield from ((step, m.memory_micros, 0, m.allocator_bytes_in_use or -1) for m in in_use)


def check_against_parsed(content: bytes) -> int:
    profile = tfprof.read_profile(content, "profile.pb")
    profile.validate()
    want, got = reference(tfprof_log_pb2.ProfileProto.FromString(content)), describe(profile)
    assert set(got) == set(want)
    for name, node in want.items():
        for key, value in node.items():
            figures = got[name][key]
            if key == "steps":
                figures = {step: (*f[:3], *f[5:]) for step, f in figures.items()}
            assert figures == value, (name, key)
    return len(want)


@pytest.mark.parametrize("name", SMALL)
def test_a_record_holds_what_the_parsed_message_holds(data: Path, name: str) -> None:
    assert (
        check_against_parsed(gzip.decompress((data / "tfprof" / f"{name}.pb.gz").read_bytes())) > 10
    )


@pytest.mark.parametrize("name", GOLDEN)
def test_the_golden_profiles_hold_what_the_parsed_message_holds(shared: Path, name: str) -> None:
    assert (
        check_against_parsed((shared / f"golden/tfprof/profiles/{name}/profile.pb").read_bytes())
        > 10
    )


def test_a_record_survives_encoding(data: Path) -> None:
    record = tfprof.read(data / "tfprof" / "synth_gpu.pb.gz").records[0].record
    assert decode(Profile, [element.body for element in encode(record)]) == record


@pytest.mark.parametrize(
    ("file", "run"),
    [
        ("resnet.pb.gz", "resnet"),
        ("profile.pb", "a_model"),
        ("PROFILE", "a_model"),
        ("p_100", "p_100"),
    ],
)
def test_the_run_is_named_after_the_file_or_its_folder(
    data: Path, tmp_path: Path, file: str, run: str
) -> None:
    folder = tmp_path / "a_model"
    folder.mkdir()
    (folder / file).write_bytes((data / "tfprof" / "tiny.pb.gz").read_bytes())
    assert tfprof.read(folder / file).run == run


@pytest.mark.parametrize(("name", "last"), [("tiny", 1), ("synth_gpu", 20), ("synth_proto", 99)])
def test_a_profile_stands_at_its_last_step(data: Path, name: str, last: int) -> None:
    assert tfprof.read(data / "tfprof" / f"{name}.pb.gz").records[0].step == last


def test_one_slot_per_source_is_kept_as_the_file_has_it() -> None:
    message = proto(a="Split", b="Add")
    message.nodes[1].inputs[0] = message.nodes[1].inputs[1] = 0
    message.nodes[1].src_output_index[0] = 1
    assert read(message).inputs.slot.tolist() == [1, 1]


def test_an_input_without_a_slot_is_unknown() -> None:
    message = proto(a="Split", b="Add")
    message.nodes[1].inputs[0] = 0
    assert read(message).inputs.slot.tolist() == [-1]


def test_an_op_that_is_no_account_type_is_still_the_op() -> None:
    message = proto(a="Const")
    del message.nodes[0].op_types[:]
    profile = read(message)
    assert profile.strings[profile.nodes.op[0]] == "Const"
    assert len(profile.op_types) == 0


def test_scopes_are_made_for_prefixes_and_shared_with_nodes_of_that_name() -> None:
    profile = read(proto(**{"a/b": "X", "a": "Y", "/lead": "Z", "x//y": "W"}))
    paths = {name: row["scope"] for name, row in describe(profile).items()}
    assert paths == {name: name for name in ("a/b", "a", "/lead", "x//y")}
    synthetic = int((profile.scopes.kind == NodeKind.SCOPE).sum())
    assert (len(profile.scopes), synthetic) == (7, 3)  # "", x and "x/" are made; a is the node


def test_bytes_of_single_outputs_are_the_most_seen() -> None:
    message = proto(a="Split")
    message.nodes[0].output_shapes[1].int64_values.extend([2, 3])
    for step, size in ((1, 10), (2, 40)):
        message.nodes[0].execs[step].memory_execs.add().output_memory[1].bytes = size
    profile = read(message)
    assert profile.outputs.bytes.tolist() == [-1, 40]
    assert [shapes(profile)[s] if s >= 0 else "absent" for s in profile.outputs.shape] == [
        "absent",
        [2, 3],
    ]


def test_a_parameter_count_beyond_64_bits_is_said() -> None:
    message = proto(a="VariableV2")
    message.nodes[0].shape.extend([1 << 40, 1 << 40])
    profile = read(message)
    assert profile.nodes.parameters.tolist() == [(1 << 63) - 1]
    assert "more elements" in profile.header.losses[0].what


def test_a_repeated_name_keeps_the_first_node_and_is_said() -> None:
    later = tfprof_log_pb2.ProfileProto()
    later.nodes[2].name, later.nodes[2].op = "a", "Z"
    profile = tfprof.read_profile(
        proto(a="X", b="Y").SerializeToString() + later.SerializeToString(), "p.pb"
    )
    assert describe(profile)["a"]["op"] == "X"
    assert [loss.count for loss in profile.header.losses] == [1]


def test_a_dangling_input_is_a_named_error() -> None:
    message = proto(a="X")
    message.nodes[0].inputs[0] = 77
    with pytest.raises(DamagedSource, match=r"input 0 of node 'a', from node id 77"):
        read(message)


def test_an_unknown_file_id_is_a_named_error() -> None:
    message = proto(a="X")
    message.nodes[0].trace.traces.add(file_id=5, function_id=6)
    with pytest.raises(DamagedSource, match="id 5"):
        read(message)


def test_traces_that_are_promised_but_absent_are_none() -> None:
    message = proto(a="X")
    message.has_trace = True
    assert not read(message).has_traces


def test_a_node_named_like_the_root_is_a_node_like_any() -> None:
    assert list(describe(read(proto(_TFProfRoot="X")))) == ["_TFProfRoot"]


def test_deep_names_and_long_chains_do_not_recurse() -> None:
    message = proto(**{"/".join(["s"] * 30_000): "X"})
    for number in range(1, 3000):
        message.nodes[number].name, message.nodes[number].op = f"n{number}", "Y"
        message.nodes[number].inputs[0] = number - 1
    profile = read(message)
    assert len(profile.scopes) == 30_000 + 2999
    assert len(profile.inputs) == 2999


def test_a_file_that_is_cut_off_shows_what_comes_before(data: Path) -> None:
    content = gzip.decompress((data / "tfprof" / "tiny.pb.gz").read_bytes())
    whole = tfprof.read_profile(content, "p.pb")
    for cut in range(600, len(content), 97):
        profile = tfprof.read_profile(content[:cut], "p.pb")
        profile.validate()
        assert 0 < len(profile.nodes) <= len(whole.nodes)
        assert profile.header.losses


def test_a_flipped_byte_never_crashes(data: Path) -> None:
    content = bytearray(gzip.decompress((data / "tfprof" / "tiny.pb.gz").read_bytes()))
    for place in range(0, len(content), 13):
        broken = content.copy()
        broken[place] ^= 0xFF
        with contextlib.suppress(SourceError):
            tfprof.read_profile(bytes(broken), "p.pb").validate()


def test_a_file_without_nodes_is_a_named_error() -> None:
    with pytest.raises(DamagedSource, match="no node"):
        tfprof.read_profile(b"", "p.pb")
