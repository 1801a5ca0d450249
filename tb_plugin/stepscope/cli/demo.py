"""`stepscope demo`: a log directory from a real profile and a live training loop, shown in TensorBoard."""

from __future__ import annotations

import argparse
import contextlib
import importlib.resources
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepscope.cli.training import train
from stepscope.errors import OptionError, StepscopeError
from stepscope.session.importing import import_file

START_TIMEOUT_S = 60.0


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "demo", help="write an example log directory and show it in TensorBoard"
    )
    parser.add_argument("--logdir", help="where to write (default: a new temporary folder)")
    parser.add_argument(
        "--port", type=int, default=0, help="TensorBoard's port (default: a free one)"
    )
    parser.add_argument("--no-serve", action="store_true", help="only write")
    parser.add_argument(
        "--seconds", type=float, help="how long to train (default: 3, or 120 while serving)"
    )
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Writes the log directory, and serves it until it is interrupted."""
    if not 0 <= options.port < 1 << 16:
        raise OptionError(f"port is {options.port}", remedy="Give a number from 1 to 65535")
    logdir = Path(options.logdir or tempfile.mkdtemp(prefix="stepscope-demo-"))
    write_profile(logdir)
    train(logdir / "numpy-baseline", seconds=1.5, batch=32)
    if options.no_serve:
        train(logdir / "numpy-live", seconds=options.seconds or 3.0)
        shown = shlex.join([sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir)])
        print(f"wrote {logdir}; show it with: {shown}")
        return 0
    return serve(logdir, options.port or free_port(), options.seconds or 120.0)


def write_profile(logdir: Path) -> None:
    """Imports the profile that the package ships."""
    sample = (
        importlib.resources.files("stepscope.cli")
        .joinpath("samples")
        .joinpath("small_net.pt.trace.json.gz")
    )
    with importlib.resources.as_file(sample) as path:
        outcome = import_file(path, str(logdir), "pytorch-small-net", None)
    if outcome.error:
        raise StepscopeError(outcome.error.rstrip("."))


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port: int = probe.getsockname()[1]
        return port


def serve(logdir: Path, port: int, seconds: float) -> int:
    """Starts TensorBoard, prints the tab's address, trains beside it, and waits to be interrupted."""
    # What only asks us to end must end TensorBoard, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tensorboard(logdir, port) as process:
        print(f"StepScope: http://localhost:{port}/#stepscope", flush=True)
        print(f"(a small model trains for {seconds:.0f} s beside it; stop with Ctrl-C)", flush=True)
        stop = threading.Event()
        trainer = threading.Thread(
            target=train, args=(logdir / "numpy-live", seconds, 64, stop), daemon=True
        )
        trainer.start()
        try:
            return process.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            stop.set()
            trainer.join(10)


@contextlib.contextmanager
def tensorboard(logdir: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A TensorBoard process that answers.

    Raises:
        StepscopeError: It ends or does not answer in time.
    """
    command = [
        sys.executable,
        "-m",
        "tensorboard.main",
        "--logdir",
        str(logdir),
        "--port",
        str(port),
    ]
    process = subprocess.Popen([*command, "--reload_interval", "5"], stdout=subprocess.DEVNULL)
    try:
        _wait(process, f"http://localhost:{port}/data/plugins_listing")
        yield process
    finally:
        process.terminate()
        process.wait(10)


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline_s and process.poll() is None:
        with (
            contextlib.suppress(urllib.error.URLError, ConnectionError),
            urllib.request.urlopen(url, timeout=5),
        ):
            return
        time.sleep(0.1)
    raise StepscopeError(
        "TensorBoard did not start", remedy="Run it by hand to see why: tensorboard --logdir DIR"
    )
