"""In tfprof's ways every recorded tree of TensorFlow's C++ is matched."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from views_golden import answer, cases, comparer, differences, options

from stepscope.lenses.views import ViewEngine
from stepscope.sources import tfprof

SMALL = ("tiny", "synth_gpu", "synth_proto")
PROFILES = (*SMALL, "conv", "transformer", "big600")


def engine_of(content: bytes) -> ViewEngine:
    return ViewEngine(tfprof.read_profile(content, "profile.pb"))


@pytest.mark.parametrize("name", SMALL)
def test_small_recorded_trees_are_matched(data: Path, name: str) -> None:
    engine = engine_of(gzip.decompress((data / f"tfprof/{name}.pb.gz").read_bytes()))
    matched = 0
    for case in cases(data / f"tfprof/{name}.jsonl.gz"):
        if "ties" in case.get("flags", ()):
            continue
        want, got = case["result"]["nodes"], answer(engine, case)["nodes"]
        assert differences(want, got, case["view"]) == [], case["id"]
        matched += 1
    assert matched > 10


@pytest.mark.parametrize("name", PROFILES)
def test_recorded_trees_are_matched(
    shared: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    compare = comparer(shared)
    engine = engine_of((shared / f"golden/tfprof/profiles/{name}/profile.pb").read_bytes())
    matched: Counter[str] = Counter()
    for case in cases(shared / f"golden/tfprof/{name}.jsonl.gz"):
        if case["kind"] == "defect":
            continue
        assert compare.compare(case, answer(engine, case)) == [], case["id"]
        matched[case["view"]] += 1
    with capsys.disabled():
        print(f"\n{name}: {matched.total()} recorded trees matched, {dict(matched)}")
    assert matched.total() > 150


@pytest.mark.parametrize("name", PROFILES)
def test_recorded_defects_are_mended(shared: Path, name: str) -> None:
    """A node that two regexes match counts once; what crashed gives the bare root."""
    engine = engine_of((shared / f"golden/tfprof/profiles/{name}/profile.pb").read_bytes())
    mended: Counter[str] = Counter()
    for case in cases(shared / f"golden/tfprof/{name}.jsonl.gz"):
        if case["kind"] != "defect":
            continue
        nodes = answer(engine, case)["nodes"]
        if "crash" in case:
            assert [node["name"] for node in nodes] == ["_TFProfRoot"]
            mended["crash"] += 1
        elif case["options"]["account_type_regexes"] == ["MatMul", "Mat.*"]:
            once = options(case, account_type_regexes=("Mat.*",))
            assert nodes == engine.analyze(once).to_json()["nodes"]
            mended["counted twice"] += 1
    assert mended["crash"] == 3
    assert mended["counted twice"] >= 3
