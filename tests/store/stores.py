"""What the store tests share: small records, and TensorBoard's two loaders."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.data import server_ingester
from tensorboard.util import grpc_util

from stepscope.model.columns import Strings
from stepscope.model.profile import Nodes, NodeSteps, Profile, Steps
from stepscope.store.flags import set_sampling
from stepscope.store.reading import RecordStore

DEADLINE_S = 30.0
OpenStore = Callable[[Path], RecordStore]


def profile(size: int, seed: int = 0) -> Profile:
    """A valid profile of so many ops."""
    nodes = np.arange(size, dtype=np.int32)
    return Profile(
        strings=Strings.of(f"op{seed}-{i}" for i in range(size)),
        nodes=Nodes(name=nodes),
        steps=Steps(id=np.array([seed])),
        node_steps=NodeSteps(node=nodes, step=np.zeros(size, np.int32), host_ticks=nodes + seed),
    )


def settle(store: RecordStore, condition: Callable[[RecordStore], bool]) -> None:
    """Refreshes the store until the condition holds. TensorBoard's loaders look for new data once a second."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        store.refresh()
        if condition(store):
            return
        assert time.monotonic() < deadline, (
            f"not settled: {len(store.entries())} entries, {store.problems()}"
        )
        time.sleep(0.05)


def sampling() -> dict[str, int]:
    """The samples per plugin that TensorBoard gets with the plugin installed."""
    flags = Namespace(samples_per_plugin={})
    set_sampling(flags)
    return flags.samples_per_plugin


@contextlib.contextmanager
def data_server(logdir: Path, scratch: Path) -> Iterator[tuple[Any, Path]]:
    """TensorBoard's fast loader as a process: its data provider, and the file with what it says."""
    port_file, log = scratch / "port", scratch / "server.log"
    samples = ",".join(f"{plugin}={count}" for plugin, count in sampling().items())
    flags = [f"--logdir={logdir}", "--reload=1", "--port=0", f"--port-file={port_file}"]
    command = [server_ingester.get_server_binary().path, *flags, f"--samples-per-plugin={samples}"]
    with log.open("wb") as stderr, subprocess.Popen(command, stderr=stderr) as server:
        try:
            deadline = time.monotonic() + DEADLINE_S
            while not (port_file.exists() and port_file.read_text().endswith("\n")):
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.01)
            address = f"localhost:{port_file.read_text().strip()}"
            creds = grpc_util.ChannelCredsType.LOCAL
            yield (
                server_ingester.ExistingServerDataIngester(
                    address, channel_creds_type=creds
                ).data_provider,
                log,
            )
        finally:
            server.terminate()


@contextlib.contextmanager
def slow_loader(logdir: Path) -> Iterator[Any]:
    """TensorBoard's slow loader, reloading in a thread: its data provider."""
    multiplexer = EventMultiplexer(
        size_guidance={"tensors": 10},
        tensor_size_guidance={"scalars": 1000, **sampling()},
        event_file_active_filter=lambda _: True,
    )
    stopped = threading.Event()

    def reload() -> None:
        while not stopped.is_set():
            multiplexer.AddRunsFromDirectory(str(logdir)).Reload()
            stopped.wait(0.02)

    thread = threading.Thread(target=reload)
    thread.start()
    try:
        yield MultiplexerDataProvider(multiplexer, str(logdir))
    finally:
        stopped.set()
        thread.join()
