"""Import of PyTorch traces, beside a bare JSON parse and the peers that read them, each in a fresh process.

    python benchmarks/import_torch.py TRACE... [--scale EVENTS] [--runs 3] [--peers PYTHON]

`--scale` adds the first trace repeated to that many events. `--peers` is the Python of an environment with
torch-tb-profiler 0.4.3 and HolisticTraceAnalysis. Prints seconds of CPU without imports, which other work on the host
disturbs less than wall time, the process's peak memory, and the ratio to StepScope's time. A bare parse is given with
Python's cyclic collector on, as one gets it, and off.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from scale_torch_trace import scale

TIMED = """
import json, resource, sys, tempfile, time, gzip, logging, warnings
warnings.simplefilter("ignore"); logging.disable(logging.CRITICAL); sys.setrecursionlimit(100_000)
path = sys.argv[1]
def content():
    data = open(path, "rb").read()
    return gzip.decompress(data) if path.endswith(".gz") else data
{setup}
start = time.process_time()
{work}
spent = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([spent, peak]))
"""
OURS = {
    "stepscope": (
        "from pathlib import Path\nfrom stepscope.sources import torch_trace",
        "torch_trace.read(Path(path))",
    ),
    "orjson.loads": ("import orjson", "orjson.loads(content())"),
    "orjson.loads, no gc": ("import orjson, gc; gc.disable()", "orjson.loads(content())"),
    "msgspec.json.decode, no gc": (
        "import msgspec, gc; gc.disable()",
        "msgspec.json.decode(content())",
    ),
}
PEERS = {
    "torch-tb-profiler": (
        "from torch_tb_profiler.profiler.data import RunProfileData\n"
        "from torch_tb_profiler.profiler.run_generator import RunGenerator",
        "data = RunProfileData.parse('w', None, path, tempfile.mkdtemp())\n"
        "RunGenerator('w', None, data).generate_run_profile()",
    ),
    "HTA": (
        "from hta.trace_analysis import TraceAnalysis",
        "TraceAnalysis(trace_files={0: path}, trace_dir='')",
    ),
}


def measure(
    python: str, method: tuple[str, str], path: Path, runs: int
) -> tuple[float, float] | None:
    """Median seconds and peak MB of fresh processes; None where the method fails."""
    setup, work = method
    figures = []
    for _ in range(runs):
        code = TIMED.format(setup=setup, work=work)
        done = subprocess.run(
            [python, "-c", code, str(path)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return None
        figures.append(json.loads(done.stdout.splitlines()[-1]))
    return median(f[0] for f in figures), median(f[1] for f in figures)


def race(path: Path, runs: int, peers: str | None) -> None:
    print(f"\n{path.name}, {path.stat().st_size / 1e6:.1f} MB")
    base = None
    for name, method in {**OURS, **(PEERS if peers else {})}.items():
        found = measure(peers if peers and name in PEERS else sys.executable, method, path, runs)
        if found is None:
            print(f"  {name:28} fails or is not installed")
            continue
        base = base or found[0]
        print(f"  {name:28}{found[0]:9.2f} s{found[1]:9.0f} MB{found[0] / base:8.2f} x")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--scale", type=float, default=0, help="also a trace of so many events")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", help="the Python of the peers' environment")
    options = parser.parse_args()
    for path in options.traces:
        race(path, options.runs, options.peers)
    if options.scale:
        with tempfile.TemporaryDirectory() as folder:
            big = Path(folder) / "scaled.json"
            print(
                f"\nscaling {options.traces[0].name} to {scale(options.traces[0], big, int(options.scale))} events"
            )
            race(big, 1, options.peers)


if __name__ == "__main__":
    main()
