"""Races the import of one ProfileProto file against TensorFlow's C++ load and a bare protobuf parse of it.

    python benchmarks/import_tfprof.py [NODES | FILE] [--peer PYTHON] [--runs N]

Writes a profile of NODES (100,000) graph nodes unless a file is given. Each load is a process of its own: StepScope to
a whole record, the C++ of the tensorflow that PYTHON (this one) has to its nodes, and protobuf's C parser to a message
that nobody has looked into yet. Prints medians of wall and processor seconds and the peak of memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from views_race import write_profile

MEASURE = """
import json, os, resource, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from pathlib import Path
{setup}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
wall, cpu = time.perf_counter(), time.process_time()
loaded = {load}
costs = {{"wall s": time.perf_counter() - wall, "cpu s": time.process_time() - cpu}}
costs["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
costs["of that imports MB"] = before
print("COSTS" + json.dumps(costs), flush=True)
os._exit(0)
"""

LOADS = {
    "stepscope": ("from stepscope.sources import tfprof", "tfprof.read(Path(sys.argv[1]))"),
    "tensorflow": (
        "from tensorflow.python.util import _pywrap_tfprof as p",
        "p.ProfilerFromFile(sys.argv[1])",
    ),
    "protobuf": (
        "from tensorboard.compat.proto import tfprof_log_pb2",
        "tfprof_log_pb2.ProfileProto.FromString(Path(sys.argv[1]).read_bytes())",
    ),
}


def measure(python: str, who: str, file: Path) -> dict[str, float] | None:
    """The costs of one load in a fresh process, None where it cannot be done there."""
    setup, load = LOADS[who]
    command = [python, "-c", MEASURE.format(setup=setup, load=load), str(file)]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    lines = [line for line in output.splitlines() if line.startswith("COSTS")]
    return json.loads(lines[0].removeprefix("COSTS")) if lines else None


def race(file: Path, peer: str, runs: int) -> None:
    """Prints the medians of each side."""
    print(f"{file.stat().st_size / 1e6:.0f} MB")
    ours = 0.0
    for who in LOADS:
        python = peer if who == "tensorflow" else sys.executable
        costs = [found for _ in range(runs) if (found := measure(python, who, file))]
        if not costs:
            print(f"{who:>12}: not there; give a Python that has it with --peer")
            continue
        middle = {key: median(cost[key] for cost in costs) for key in costs[0]}
        ours = ours or middle["wall s"]
        text = ", ".join(f"{key} {value:.2f}" for key, value in middle.items())
        print(f"{who:>12}: {text}; stepscope takes {ours / middle['wall s']:.2f} of its wall time")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("profile", nargs="?", default="100000")
    parser.add_argument("--peer", default=sys.executable)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if not options.profile.isdecimal():
        race(Path(options.profile), options.peer, options.runs)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.pb"
        write_profile(int(options.profile), file)
        race(file, options.peer, options.runs)


if __name__ == "__main__":
    main()
