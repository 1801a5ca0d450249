"""Time to index 200 runs of 100 records: our reader beside TensorBoard's two loaders, on the same files.

Run: python benchmarks/store_index.py [runs] [records]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.data import server_ingester
from tensorboard.util import grpc_util

from stepscope.model.columns import Strings
from stepscope.model.profile import Nodes, NodeSteps, Profile
from stepscope.store.local import LocalStore
from stepscope.store.sink import EventFileSink
from stepscope.store.writing import RecordWriter


def write(root: Path, runs: int, records: int) -> None:
    names = Strings.of(f"layer{i}/op" for i in range(100))
    nodes = np.arange(100, dtype=np.int32)
    profile = Profile(
        strings=names, nodes=Nodes(name=nodes), node_steps=NodeSteps(node=nodes, host_ticks=nodes)
    )
    for run in range(runs):
        sink = EventFileSink(root / f"run{run:04d}")
        writer = RecordWriter(sink)
        for step in range(records):
            writer.write(profile, name="profile", steps=(step, step))
        sink.close()


def ours(root: Path) -> int:
    store = LocalStore(root)
    store.refresh()
    return len(store.entries())


def slow_loader(root: Path) -> int:
    multiplexer = EventMultiplexer(tensor_size_guidance={"stepscope": 1})
    multiplexer.AddRunsFromDirectory(str(root)).Reload()
    return sum(
        len(multiplexer.PluginRunToTagToContent("stepscope")[run]) for run in multiplexer.Runs()
    )


def fast_loader(root: Path) -> int:
    """The data server, from its start until the tags it lists are all there."""
    binary = server_ingester.get_server_binary().path
    with tempfile.TemporaryDirectory() as folder:
        port_file = Path(folder) / "port"
        flags = [f"--logdir={root}", "--reload=once", "--port=0", f"--port-file={port_file}"]
        command = [binary, *flags, "--samples-per-plugin=stepscope=1", "--die-after-stdin"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            while not port_file.exists() or not port_file.read_text().strip():
                time.sleep(0.002)
            creds = grpc_util.ChannelCredsType.LOCAL
            address = f"localhost:{port_file.read_text().strip()}"
            provider = server_ingester.ExistingServerDataIngester(
                address, channel_creds_type=creds
            ).data_provider
            expected = len(list(root.iterdir())) * RECORDS
            found = 0
            while found < expected:
                listing = provider.list_blob_sequences(
                    None, experiment_id="", plugin_name="stepscope"
                )
                found = sum(map(len, listing.values()))
            server.terminate()
    return found


def measure(name: str, load: Callable[[Path], int], root: Path, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = load(root)
        times.append(time.perf_counter() - start)
    print(f"{name:34} {statistics.median(times) * 1e3:9.1f} ms   {found} records")
    return statistics.median(times)


RUNS, RECORDS = (int(arg) for arg in sys.argv[1:3]) if len(sys.argv) > 2 else (200, 100)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, RUNS, RECORDS)
        size = sum(file.stat().st_size for file in root.rglob("*.stepscope"))
        print(f"{RUNS} runs x {RECORDS} records, {size / 1e6:.0f} MB")
        mine = measure("StepScope's reader, with indexes", ours, root, 7)
        fast = measure("TensorBoard fast loader, listed", fast_loader, root, 3)
        slow = measure("TensorBoard slow loader, loaded", slow_loader, root, 1)
        print(f"ratio: fast / ours {fast / mine:.1f}, slow / ours {slow / mine:.1f}")


if __name__ == "__main__":
    main()
