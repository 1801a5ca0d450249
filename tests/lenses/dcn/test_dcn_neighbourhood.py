"""What is scheduled around a collective, and what the hosts say of the network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xplane_builder import (
    PROGRAM,
    Collective,
    Core,
    documented,
    length_delimited,
    space,
    varint,
    write,
)

from stepscope.lenses import dcn
from stepscope.lenses.dcn.diagnosis import Neighbourhood, neighbourhood
from stepscope.lenses.dcn.transfers import NetworkTransfers, network_latencies, network_transfers
from stepscope.model.collectives import Collectives
from stepscope.pb import hlo_pb2, xplane_pb2
from stepscope.sources import xplane

US = 10**6


def _scheduled() -> bytes:
    """A program in which `early` feeds the send, `inside` overlaps, `late` needs the result and `free` neither."""
    hlo = hlo_pb2.Hlo()
    module = hlo.hlo_module
    module.name = b"jit_step"
    computation = module.computations.add(name=b"main", id=1)
    computation.instructions.extend(Collective().instructions(1))
    by_name = {i.name: i for i in computation.instructions}
    for number, (name, operand) in enumerate(
        [("early", None), ("inside", None), ("late", 4), ("free", None)], 10
    ):
        extra = computation.instructions.add(name=name.encode(), opcode=b"fusion", id=number)
        extra.metadata.op_name = f"jit(step)/{name}".encode()
        if operand:
            extra.operand_ids.append(operand)
    by_name[b"send"].operand_ids.append(10)
    module.schedule.sequences[1].instruction_ids.extend([10, 1, 2, 11, 3, 4, 12, 13])
    plane = xplane_pb2.Plane(name=b"/host:metadata")
    plane.stat_metadata[1].name = b"Hlo Proto"
    plane.event_metadata[77].stats.add(metadata_id=1, bytes_value=hlo.SerializeToString())
    return bytes(plane.SerializeToString())


def _around(folder: Path) -> Neighbourhood:
    fusions = [("early", 1, 7), ("inside", 20, 30), ("late", 1800, 40), ("free", 1900, 50)]
    core = xplane_pb2.Plane.FromString(Core([(PROGRAM, 0, 5000)], [documented()]).plane())
    ids = {name: 500 + i for i, (name, _, _) in enumerate(fusions)}
    core.stat_metadata[90].name = b"program_id"
    line = xplane_pb2.Line(name=b"XLA Ops")
    for name, start, took in fusions:
        core.event_metadata[ids[name]].name = f"%{name} = f32[] fusion()".encode()
        core.event_metadata[ids[name]].display_name = name.encode()
        core.event_metadata[ids[name]].stats.add(metadata_id=90, uint64_value=77)
        body = (
            b"\x08" + varint(ids[name]) + b"\x10" + varint(start * US) + b"\x18" + varint(took * US)
        )
        line.events.append(body)
    core.lines.append(line.SerializeToString())
    (record,) = xplane.read_collectives(
        write(folder, space(core.SerializeToString(), _scheduled()))
    )
    record.validate()
    result = dcn.analyze(record)
    found = neighbourhood(result, result.all_cores[0])
    assert found is not None
    return found


def test_what_overlaps_a_collective_is_what_is_scheduled_between_its_send_and_recv_done(
    tmp_path: Path,
) -> None:
    found = _around(tmp_path)
    assert [(n.name, n.op_name, n.mean_ps) for n in found.between] == [
        ("inside", "jit(step)/inside", 30 * US)
    ]
    assert found.overlapped_ps == 30 * US


def test_only_what_depends_on_neither_end_could_overlap_too(tmp_path: Path) -> None:
    found = _around(tmp_path)
    assert [n.name for n in found.movable] == ["free"]
    assert found.movable_ps == 50 * US


def test_without_hlo_there_is_no_neighbourhood(data: Path) -> None:
    result = dcn.analyze(xplane.read_collectives(data / "dcn" / "cases" / "missing_hlo"))
    assert [neighbourhood(result, row) for row in result.all_cores] == [None]


def _transfer_plane(rows: list[tuple[int, int, int, int, int]]) -> bytes:
    """A host plane of transfers: (end in us, duration in us, bytes, source slice, destination slice)."""
    plane = xplane_pb2.Plane(name=b"/host:CPU")
    plane.event_metadata[1].name = b"MegaScale: Communication Transport Receive"
    names = ("duration_us", "payload_size_bytes", "dcn_source_slice_id", "dcn_destination_slice_id")
    for key, name in enumerate(names, 1):
        plane.stat_metadata[key].name = name.encode()
    line = xplane_pb2.Line(name=b"main", timestamp_ns=1_790_000_000_000_000_000)
    for end, *values in rows:
        stats = b"".join(
            length_delimited(4, b"\x08" + varint(key) + b"\x20" + varint(value))
            for key, value in enumerate(values, 1)
        )
        line.events.append(b"\x08\x01\x10" + varint(end * US) + b"\x18\x00" + stats)
    plane.lines.append(line.SerializeToString())
    return bytes(plane.SerializeToString())


def _transfers(folder: Path, rows: list[tuple[int, int, int, int, int]]) -> NetworkTransfers:
    (record,) = xplane.read_collectives(write(folder, space(_transfer_plane(rows))))
    record.validate()
    return network_transfers([record])


def test_a_transfer_starts_its_duration_before_its_event(tmp_path: Path) -> None:
    found = _transfers(tmp_path, [(100, 30, 4096, 0, 1)])
    assert (found.start_ps.tolist(), found.duration_ps.tolist()) == ([70 * US], [30 * US])
    assert found.base_ns == 1_790_000_000_000_000_000


def test_transfers_are_grouped_by_size_and_pair(tmp_path: Path) -> None:
    found = _transfers(
        tmp_path, [(100, 10, 5000, 0, 1), (200, 30, 6000, 1, 0), (300, 20, 100, 0, 1)]
    )
    assert [(row["from_bytes"], row["count"], row["bytes"]) for row in found.by_size()] == [
        (64, 1, 100),
        (4096, 2, 11000),
    ]
    pairs = {
        (row["source_slice"], row["destination_slice"]): row["latency_ps"]["max"]
        for row in found.by_pair()
    }
    assert pairs == {(0, 1): 20 * US, (1, 0): 30 * US}


def test_a_slow_pair_is_marked(tmp_path: Path) -> None:
    rows = [(100 * n, 90 if n == 3 else 10, 5000, n, 9) for n in range(1, 6)]
    slow = [row["source_slice"] for row in _transfers(tmp_path, rows).by_pair() if row["slow"]]
    assert slow == [3]


def test_bytes_in_flight_add_up_to_the_bytes_moved(tmp_path: Path) -> None:
    found = _transfers(tmp_path, [(100, 100, 10_000, 0, 1), (150, 50, 5_000, 0, 1)])
    document = found.in_flight(network_gbps=1.0, points=10)
    host = document["hosts"]["host0"]
    moved = np.array(host["gbps"]) * 1e9 / 8 * document["width_ps"] / 1e12
    assert moved.sum() == pytest.approx(15_000)
    assert host["transfers"][0] == 1
    assert host["capacity_share"] == pytest.approx(host["gbps"])


def test_network_latencies_are_told_by_collective(tmp_path: Path) -> None:
    plane = xplane_pb2.Plane(name=b"/device:CUSTOM:Megascale Trace")
    plane.event_metadata[1].name = b"NetworkReceive END"
    plane.stat_metadata[1].name = b"network_transport_latency_us"
    plane.stat_metadata[2].name = b"graph_key"
    line = xplane_pb2.Line(name=b"trace")
    for end, latency, name in (
        (100, 7, b"psum.1_0"),
        (200, 9, b"psum.1_0"),
        (300, 40, b"psum.2_0"),
    ):
        key = length_delimited(5, b"device_100000_gid_" + name + b"$..^i3")
        stats = length_delimited(4, b"\x08\x01\x20" + varint(latency)) + length_delimited(
            4, b"\x08\x02" + key
        )
        line.events.append(b"\x08\x01\x10" + varint(end * US) + stats)
    plane.lines.append(line.SerializeToString())
    content = space(_transfer_plane([(50, 10, 4096, 0, 1)]), plane.SerializeToString())
    (record,) = xplane.read_collectives(write(tmp_path, content))
    record.validate()
    found = [
        (row["rendezvous"], row["count"], row["latency_ps"]["max"])
        for row in network_latencies([record])
    ]
    assert found == [("psum.2_0", 1, 40 * US), ("psum.1_0", 2, 9 * US)]
    assert len(network_transfers([record])) == 1


def test_no_transfers_make_an_empty_document() -> None:
    assert network_transfers([Collectives()]).to_json()["count"] == 0
