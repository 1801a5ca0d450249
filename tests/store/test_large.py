"""A profile of 1 GB, written by one process and read by another that may not hold it at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = 28_000_000
WRITE = f"""
import sys
import numpy as np
from stepscope.model.columns import Strings
from stepscope.model.profile import Executions, Lanes, Nodes, Profile, Steps
from stepscope.store.sink import EventFileSink
from stepscope.store.writing import RecordWriter

nodes, rows = 1000, {ROWS}
random = np.random.default_rng(0)
ticks = random.integers(0, 1 << 62, rows)
index = np.arange(rows, dtype=np.int32) % nodes
sink = EventFileSink(sys.argv[1])
profile = Profile(
    strings=Strings.of(f"op{{i}}" for i in range(nodes)),
    nodes=Nodes(name=np.arange(nodes, dtype=np.int32)),
    steps=Steps(id=np.arange(nodes)),
    lanes=Lanes(device=np.arange(nodes, dtype=np.int32)),
    executions=Executions(
        node=index, step=index, lane=index, start_ticks=ticks, duration_ticks=ticks, self_ticks=ticks
    ),
)
RecordWriter(sink).write(profile, name="large")
sink.close()
"""
READ = """
import json
import re
import sys
import numpy as np
from stepscope.store.local import LocalStore

store = LocalStore(sys.argv[1])
store.refresh()
(entry,) = store.entries()
record = store.read(entry, groups=["strings", "nodes", "steps", "lanes"])
sums = {"nodes": len(record.nodes)}
for column in ("step", "start_ticks", "self_ticks", "count"):
    executions = store.read(entry, groups=[f"executions.{column}"]).executions
    sums[column] = sum(int((part % 1000).sum()) for part in np.array_split(getattr(executions, column), 100))
    del executions
peak_kib = int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1])
print(json.dumps({"sums": sums, "peak": peak_kib << 10, "size": entry.size_bytes, "problems": len(store.problems())}))
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc"
)
def test_a_profile_of_1_gb_is_opened_and_read_through_under_1_gb_of_memory(tmp_path: Path) -> None:
    try:
        subprocess.run([sys.executable, "-c", WRITE, str(tmp_path)], check=True)
        answer = subprocess.run(
            [sys.executable, "-c", READ, str(tmp_path)], check=True, capture_output=True
        )
    finally:
        for file in tmp_path.iterdir():
            file.unlink()
    found = json.loads(answer.stdout)
    assert found["size"] > 1e9
    assert found["peak"] < 1e9
    assert found["problems"] == 0
    assert found["sums"]["nodes"] == 1000
    assert found["sums"]["count"] == ROWS
    assert found["sums"]["start_ticks"] == found["sums"]["self_ticks"] > 0
    assert found["sums"]["step"] == sum(range(1000)) * (ROWS // 1000)
