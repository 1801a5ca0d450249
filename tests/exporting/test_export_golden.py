"""In tfprof's ways the texts, timelines and pprof profiles are tfprof's."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from export_golden import (
    decoded,
    engine_of,
    pprof_differences,
    text_differences,
    timeline_differences,
    views,
)

from stepscope.exporting.pprof import to_pprof
from stepscope.exporting.text import to_text
from stepscope.exporting.timeline import to_timeline

SMALL = ("tiny", "synth_proto", "synth_gpu")
PROFILES = (*SMALL, "conv", "transformer", "big600")
FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "text": (to_text, text_differences),
    "timeline": (to_timeline, timeline_differences),
    "pprof": (lambda result: decoded(to_pprof(result)), pprof_differences),
}


@pytest.mark.parametrize("form", FORMS)
def test_small_recorded_outputs_are_matched(data: Path, form: str) -> None:
    make, differences = FORMS[form]
    matched = 0
    for name in SMALL:
        engine = engine_of(data / f"tfprof/{name}.pb.gz")
        for case, result in views(engine, data / f"tfprof/{name}.jsonl.gz", form):
            assert differences(case, make(result)) == [], case["id"]
            matched += 1
    assert matched >= 2


@pytest.mark.parametrize("form", FORMS)
def test_recorded_outputs_are_matched(
    shared: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = shared / "golden/tfprof"
    spec = importlib.util.spec_from_file_location("golden_compare", golden / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    compare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compare)
    make, matched = FORMS[form][0], Counter[str]()
    for name in PROFILES:
        engine = engine_of(golden / f"profiles/{name}/profile.pb")
        for case, result in views(engine, golden / f"{name}.jsonl.gz", form):
            got = make(result)
            assert getattr(compare, f"compare_{form}")(case, got) == [], case["id"]
            matched[case["view"]] += 1
    with capsys.disabled():
        print(f"\n{form}: {matched.total()} recorded outputs matched, {dict(matched)}")
    assert matched.total() > 20
