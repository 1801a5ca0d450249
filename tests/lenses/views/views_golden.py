"""Recorded answers of tfprof's C++, and how an answer is held against one."""

from __future__ import annotations

import dataclasses
import gzip
import importlib.util
import json
from collections import Counter
from pathlib import Path
from typing import Any

from stepscope.lenses.views import ViewEngine, ViewsOptions

OPTIONS = {spec.name for spec in dataclasses.fields(ViewsOptions)}


def cases(path: Path) -> list[dict[str, Any]]:
    """The recorded trees of one file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [
        case
        for case in found
        if case["view"] in ("graph", "scope", "code", "op") and case["kind"] != "advise"
    ]


def options(case: dict[str, Any], **changes: Any) -> ViewsOptions:
    """The options of a case, in tfprof's ways."""
    chosen = {
        k: tuple(v) if isinstance(v, list) else v
        for k, v in case["options"].items()
        if k in OPTIONS
    }
    chosen["step"] = str(chosen["step"])
    for kind in ("timeline", "pprof"):
        if kind in case.get("want", ()):
            chosen["output"] = f"{kind}:outfile=F"
    return ViewsOptions(
        **{**chosen, "view": case["view"], "compat": "tfprof", "detail": case["detail"], **changes}
    )


def answer(engine: ViewEngine, case: dict[str, Any]) -> dict[str, Any]:
    return engine.analyze(options(case)).to_json()


def comparer(shared: Path) -> Any:
    """The comparison that lies beside the recorded answers."""
    spec = importlib.util.spec_from_file_location(
        "golden_compare", shared / "golden/tfprof/compare.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(nodes: list[dict[str, Any]], ignore: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
    """Rows with the names above them, their order among ties forgotten."""
    dropped = {"parent", "tie", *ignore}
    paths: list[tuple[str, ...]] = []
    found: list[tuple[Any, ...]] = []
    for node in nodes:
        path = (*(paths[node["parent"]] if node["parent"] >= 0 else ()), node["name"])
        paths.append(path)
        rest = {k: v for k, v in node.items() if k not in dropped and v}
        found.append((path, json.dumps(rest, sort_keys=True)))
    return found


def differences(want: list[dict[str, Any]], got: list[dict[str, Any]], view: str) -> list[Any]:
    """What is different; in the code view, where ties have no order, order does not count."""
    ignore = ("n_graph_nodes",) if any("graph_nodes" in node for node in want) else ()
    a, b = rows(want, ignore), rows(got, ignore)
    if view != "code":
        return [pair for pair in zip(a, b, strict=False) if pair[0] != pair[1]] or (
            [] if len(a) == len(b) else [len(b)]
        )
    return sorted(((Counter(a) - Counter(b)) + (Counter(b) - Counter(a))).elements())
