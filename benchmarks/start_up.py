"""How much longer TensorBoard takes to start with StepScope installed, on a log directory that has nothing of it.

    python benchmarks/start_up.py [STARTS]

Starts TensorBoard with and without the plugin in turn and prints the medians of the time to the first answer of
`/data/plugins_listing`.
"""

from __future__ import annotations

import contextlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from tensorboard.summary.writer.event_file_writer import EventFileWriter

PROGRAM = """
import sys
from tensorboard import default, main, program
plugins = default.get_plugins()
if {without}:
    plugins = [p for p in plugins if "stepscope" not in getattr(p, "__module__", "")]
server = program.TensorBoard(plugins=plugins)
server.configure(argv=["tensorboard", *sys.argv[1:]])
sys.exit(server.main())
"""


def start_s(logdir: str, *, without: bool) -> float:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    program = PROGRAM.format(without=without)
    command = [sys.executable, "-c", program, "--logdir", logdir, "--port", str(port)]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(
                    f"http://localhost:{port}/data/plugins_listing", timeout=5
                ).read()
                return time.perf_counter() - began
            time.sleep(0.002)
    finally:
        process.terminate()
        process.wait()
    raise SystemExit("TensorBoard did not start")


def main() -> None:
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as logdir:
        EventFileWriter(logdir).close()
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(starts + 1):
            for without in (True, False):
                times[without].append(start_s(logdir, without=without))
    bare, ours = (statistics.median(times[without][1:]) for without in (True, False))
    print(
        f"without {bare * 1e3:.0f} ms, with {ours * 1e3:.0f} ms, difference {(ours - bare) * 1e3:.0f} ms"
    )


if __name__ == "__main__":
    main()
