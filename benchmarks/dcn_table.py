"""CPU time and memory of the table of collectives, beside XProf in the same run.

    python benchmarks/dcn_table.py FOLDER [--xprof PYTHON] [--repeats N]

FOLDER holds `*.xplane.pb` files. PYTHON is an interpreter that has XProf 2.24; without it only our figures are shown.
Each repeat is a process of its own, and XProf's cache files are removed before each. Figures are of the whole process
with its imports, and of the answer alone. XProf reads core 0 of each host, StepScope every core.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

OURS = """
import json, resource, sys, time
from pathlib import Path
from stepscope.lenses import dcn
from stepscope.sources.xplane import read_collectives
before = time.process_time()
document = json.dumps(dcn.analyze(read_collectives(Path(sys.argv[1]))).to_json())
answer = time.process_time() - before
"""
XPROF = """
import json, resource, sys, time
from pathlib import Path
from xprof.convert import raw_to_tool_data
before = time.process_time()
paths = sorted(str(path) for path in Path(sys.argv[1]).glob("*.xplane.pb"))
raw_to_tool_data.xspace_to_tool_data(paths, "megascale_stats", {"host": "ALL_HOSTS"})
answer = time.process_time() - before
"""
REPORT = """
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([usage.ru_utime + usage.ru_stime, answer, usage.ru_maxrss / 1024]))
"""


def measure(python: str, code: str, folder: Path) -> list[float]:
    for cache in folder.glob("*.dcn_collective_stats.pb"):
        cache.unlink()
    command = [python, "-c", code + REPORT, str(folder)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    figures: list[float] = json.loads(output.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--xprof", help="an interpreter that has XProf")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    tools = {"StepScope": (sys.executable, OURS)}
    if arguments.xprof:
        tools["XProf"] = (arguments.xprof, XPROF)
    rows: dict[str, list[list[float]]] = {name: [] for name in tools}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "profile"
        shutil.copytree(arguments.folder, folder, copy_function=shutil.copyfile)
        for _ in range(arguments.repeats):
            for name, (python, code) in tools.items():
                rows[name].append(measure(python, code, folder))
    medians = {
        name: [statistics.median(column) for column in zip(*runs, strict=True)]
        for name, runs in rows.items()
    }
    for name, (cpu_s, answer_s, peak_mib) in medians.items():
        print(
            f"{name:10} process {cpu_s:6.2f} CPU s   answer {answer_s:6.2f} CPU s   peak {peak_mib:5.0f} MiB"
        )
    if "XProf" in medians:
        ratios = [
            ours / theirs
            for ours, theirs in zip(medians["StepScope"], medians["XProf"], strict=True)
        ]
        print(
            "ratio      process {:6.2f}         answer {:6.2f}         peak {:5.2f}".format(*ratios)
        )


if __name__ == "__main__":
    main()
