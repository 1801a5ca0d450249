"""Timing matrices come from .npy, .pt and raw binary, with the JSON beside them."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.errors import DamagedSource, NotFound, SourceError, StepscopeError, UnsupportedSource
from stepscope.lenses.incore import analyze
from stepscope.model.incore import InCore
from stepscope.sources import incore as incore_matrix
from stepscope.sources import registry
from stepscope.sources.incore.torch_tensor import load_tensor

COLUMNS = {
    "entry": 0,
    "producer_done": 1,
    "collective_arrival": 2,
    "collective_release": 3,
    "body_done": 4,
}
TIMING = np.array([[10, 20, 30, 40, 50], [11, 21, 31, 41, 51]], np.int64)


def write(folder: Path, matrix: str = "timing.npy", name: str = "case.json", **given: Any) -> Path:
    """A case with its JSON; returns the JSON's path."""
    described = {"timing": matrix, "columns": COLUMNS, "clock_freq_hz": 50_000_000} | given
    path = folder / name
    path.write_text(json.dumps({"case": "mine", "input": described}))
    return path


def read(path: Path) -> InCore:
    record = registry.read(path).records[0].record
    assert isinstance(record, InCore)
    return record


def total(record: InCore) -> int:
    return int(analyze(record).to_json()["total"])


def test_a_folder_its_json_and_its_matrix_are_the_same_case(tmp_path: Path) -> None:
    np.save(tmp_path / "timing.npy", TIMING)
    described = write(tmp_path)
    records = [read(path) for path in (tmp_path, described, tmp_path / "timing.npy")]
    assert records[0] == records[1] == records[2]
    assert registry.read(tmp_path).records[0].name == "mine"
    assert total(records[0]) == 41


@pytest.mark.parametrize("beside", ["k.json", "k.npy.json"])
def test_the_json_may_have_the_matrix_name_and_no_wrapping(tmp_path: Path, beside: str) -> None:
    np.save(tmp_path / "k.npy", TIMING)
    (tmp_path / beside).write_text(json.dumps({"columns": COLUMNS, "clock_freq_hz": 1}))
    assert total(read(tmp_path / "k.npy")) == 41


def test_raw_binary_is_little_endian_of_the_described_shape(tmp_path: Path) -> None:
    (tmp_path / "dump.bin").write_bytes(TIMING.astype("<i8").tobytes())
    described = write(tmp_path, "dump.bin", shape=[2, 5])
    assert read(described).matrix()[0].tolist() == TIMING.tolist()
    write(tmp_path, "dump.bin", shape=[3, 5])
    with pytest.raises(DamagedSource, match="80 bytes, where"):
        registry.read(described)
    write(tmp_path, "dump.bin")
    with pytest.raises(UnsupportedSource, match="without a shape"):
        registry.read(described)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32"])
def test_a_tensor_is_read_without_torch(tmp_path: Path, data: Path, dtype: str) -> None:
    shutil.copy(data / "incore_tensors" / f"{dtype}.pt", tmp_path / "timing.pt")
    assert total(read(write(tmp_path, "timing.pt"))) == 41


def test_strides_offsets_and_names_of_saved_tensors_are_kept(data: Path) -> None:
    whole = np.arange(1, 41).reshape(5, 8)
    assert load_tensor(data / "incore_tensors" / "slice.pt").tolist() == whole.T[2:6, 1:].tolist()


def test_what_torch_saves_today_is_read(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save(torch.tensor(TIMING), tmp_path / "timing.pt")
    assert load_tensor(tmp_path / "timing.pt").tolist() == TIMING.tolist()


def test_a_pickle_that_asks_for_more_than_tensors_is_refused(data: Path) -> None:
    with pytest.raises(UnsupportedSource, match=r"asks for pathlib"):
        load_tensor(data / "incore_tensors" / "foreign.pt")


def test_a_tensor_beyond_its_storage_is_damage(tmp_path: Path, data: Path) -> None:
    whole = data / "incore_tensors" / "int64.pt"
    with zipfile.ZipFile(whole) as good, zipfile.ZipFile(tmp_path / "bad.pt", "w") as bad:
        for name in good.namelist():
            data = good.read(name)
            bad.writestr(name, data[:16] if name.endswith("data/0") else data)
    with pytest.raises(DamagedSource, match="10 elements in a storage of 2"):
        load_tensor(tmp_path / "bad.pt")


def test_a_cut_off_matrix_is_damage(tmp_path: Path, data: Path) -> None:
    np.save(tmp_path / "timing.npy", TIMING)
    whole = (tmp_path / "timing.npy").read_bytes()
    described = write(tmp_path)
    (tmp_path / "timing.npy").write_bytes(whole[:-9])
    with pytest.raises(DamagedSource, match=r"broken \.npy"):
        registry.read(described)
    (tmp_path / "timing.pt").write_bytes((data / "incore_tensors" / "int64.pt").read_bytes()[:-40])
    with pytest.raises(DamagedSource, match=r"broken \.pt"):
        registry.read(write(tmp_path, "timing.pt"))


def test_pickled_arrays_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "timing.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DamagedSource):
        registry.read(write(tmp_path))


def test_a_matrix_alone_says_what_is_missing(tmp_path: Path) -> None:
    np.save(tmp_path / "timing.npy", TIMING)
    with pytest.raises(UnsupportedSource, match="Put a JSON beside it"):
        registry.read(tmp_path / "timing.npy")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"timing": "absent.npy"}, NotFound),
        ({"timing": "../outside.npy"}, SourceError),
        ({"timing": "/etc/hostname"}, SourceError),
        ({"shape": [3, 5]}, DamagedSource),
        ({"columns": {"entry": 99}}, StepscopeError),
        ({"l2": {"records": "absent.json", "task_id": "1"}}, NotFound),
    ],
)
def test_what_the_json_gets_wrong_is_an_error(
    tmp_path: Path, given: dict[str, Any], error: type[Exception]
) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    np.save(tmp_path / "outside.npy", TIMING)
    np.save(folder / "timing.npy", TIMING)
    with pytest.raises(error):
        registry.read(write(folder, **given))


def test_a_key_that_is_not_known_is_said(tmp_path: Path) -> None:
    np.save(tmp_path / "timing.npy", TIMING)
    record = read(write(tmp_path, participatng=[0]))
    assert "participatng is no key that is known" in [loss.what for loss in record.header.losses]


@pytest.mark.parametrize(
    "slot_map", [{"kind": "block"}, {"kind": "table", "slots": 3}, {"kind": "odd"}, 5]
)
def test_a_slot_map_that_cannot_be_used_costs_the_names_only(tmp_path: Path, slot_map: Any) -> None:
    np.save(tmp_path / "timing.npy", TIMING)
    record = read(write(tmp_path, slot_map=slot_map))
    assert "slot_map" in [loss.where for loss in record.header.losses]
    assert total(record) == 41


def capture(folder: Path, clock: int = 50_000_000) -> None:
    rows = [[0, 77, 1, 5, 52, 2], [1, 77, 1, 8, 60, 2], [1, 78, 2, 70, 90, 2]]
    metadata = {"clock_freq_hz": clock, "core_types": ["aic", "aiv"]}
    document = {
        "chip_swimlane_level": 1,
        "metadata": metadata,
        "aicore_tasks": rows,
        "aicpu_tasks": [],
    }
    (folder / "records.json").write_text(json.dumps(document))


def linked(folder: Path, task: str = "77") -> Path:
    np.save(folder / "timing.npy", TIMING)
    l2 = {"unit": "cycles", "records": "records.json", "task_id": task, "bounds": "envelope"}
    return write(folder, l2=l2, slot_map={"kind": "core_id"})


def test_the_task_bounds_come_from_a_capture(tmp_path: Path) -> None:
    capture(tmp_path)
    imported = incore_matrix.read(linked(tmp_path))
    record = imported.records[0].record
    assert isinstance(record, InCore)
    found = analyze(record).to_json()
    assert found["l2_bounds"] == {"M0": "5", "M1": "60"}
    assert found["l2"]["partition"]["E-M0"] == 5
    assert [record.text(int(name)) for name in record.cores.name] == ["AIC_0", "AIV_1"]
    assert [named.record.KIND for named in imported.records] == ["incore", "profile"]


def test_a_capture_of_another_clock_is_not_combined(tmp_path: Path) -> None:
    capture(tmp_path, clock=1_000_000_000)
    assert analyze(read(linked(tmp_path))).to_json()["codes"] == [{"code": "L2_UNIT"}]


def test_a_task_that_is_not_in_the_capture_is_said(tmp_path: Path) -> None:
    capture(tmp_path)
    record = read(linked(tmp_path, task="5"))
    assert "task 5 is not in records.json" in record.header.losses[0].what
    assert "l2" not in analyze(record).to_json()
