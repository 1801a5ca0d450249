"""The panel's questions to a view, with the server's answers, which frontend/tests/report answers from a report.

To write the answers again after a change that is meant: `STEPSCOPE_WRITE_CONFORMANCE=1 pytest FILE`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from torch_traces import profile_of, range_, step

from stepscope.lenses.views import ViewEngine, ViewResult, ViewsOptions
from stepscope.model.profile import Profile
from stepscope.panel.snapshot_entry import Extent
from stepscope.panel.snapshot_views import view_tree
from stepscope.panel.trees import Opened
from stepscope.panel.windows import RowWindow, Windows

FILE = Path(__file__).parents[2] / "frontend/tests/report/conformance.json"
VIEWS = ("op", "scope", "graph")
ROWS: tuple[dict[str, Any], ...] = (
    {"depth": 1},
    {"depth": 9},
    {"depth": 1, "toggled": (1,)},
    {"depth": 9, "sort": "-total_cpu_exec_micros"},
    {"depth": 9, "sort": "-share"},
    {"depth": 9, "sort": "name", "offset": 1, "limit": 3},
    {"depth": 1, "search": "aten"},
    {"depth": 1, "search": "/gemm|relu/i", "match": 1},
    {"depth": 9, "root": 1},
)
METRICS = ("", "total_accelerator_exec_micros", "total_cpu_exec_micros", "total_exec_micros")


def trace() -> Profile:
    """A step whose ops call ops, call themselves, launch kernels, and a kernel that no call launched."""
    return profile_of(
        step(1, 0, 1000),
        range_("forward", 10, 700),
        range_("aten::linear", 20, 300, cat="cpu_op"),
        range_("aten::addmm", 30, 200, cat="cpu_op"),
        range_("cudaLaunchKernel", 40, 10, cat="cuda_runtime", correlation=1),
        range_("aten::div", 400, 100, cat="cpu_op"),
        range_("aten::div", 410, 50, cat="cpu_op"),
        range_("cudaLaunchKernel", 420, 10, cat="cuda_runtime", correlation=2),
        range_("aten::relu", 600, 60, cat="cpu_op"),
        range_("cudaLaunchKernel", 610, 10, cat="cuda_runtime", correlation=3),
        range_("gemm", 100, 400, cat="kernel", correlation=1, device=0, stream=7, pid=0, tid=7),
        range_(
            "div_kernel", 510, 30, cat="kernel", correlation=2, device=0, stream=7, pid=0, tid=7
        ),
        range_(
            "relu_kernel", 650, 140, cat="kernel", correlation=3, device=0, stream=7, pid=0, tid=7
        ),
        range_("stray", 800, 20, cat="kernel", correlation=9, device=0, stream=7, pid=0, tid=7),
    )


def questions(result: ViewResult) -> list[dict[str, Any]]:
    """Each question as the panel asks it, with the server's answer."""
    windows = Windows(result)
    asked = []
    for values in ROWS:
        opened = Opened(depth=values["depth"], toggled=values.get("toggled", ()))
        window = {name: value for name, value in values.items() if name not in ("depth", "toggled")}
        query = {
            name: ",".join(map(str, v)) if isinstance(v, tuple) else str(v)
            for name, v in values.items()
        }
        answer = windows.rows(RowWindow(opened=opened, **window))
        asked.append({"query": {"shape": "rows", **query}, "answer": answer})
    for metric in METRICS:
        answer = windows.icicle(metric=metric, root=0, width_px=1000, max_depth=50)
        query = {"shape": "icicle"} | ({"metric": metric} if metric else {})
        asked.append({"query": query, "answer": answer})
    return asked


def test_the_suite_holds_the_answers_of_the_server() -> None:
    engine = ViewEngine(trace())
    suite = []
    for view in VIEWS:
        result = engine.analyze(ViewsOptions(view=view))
        tree = view_tree(result, Extent()) | {"problems": [], "details": {}}
        tree["columns"] = [column | {"title": "", "help": ""} for column in tree["columns"]]
        suite.append({"view": view, "tree": tree, "questions": questions(result)})
    text = json.dumps(suite, indent=1, sort_keys=True) + "\n"
    if os.environ.get("STEPSCOPE_WRITE_CONFORMANCE"):
        FILE.write_text(text, encoding="utf-8")
    assert json.loads(FILE.read_text(encoding="utf-8")) == json.loads(text)
