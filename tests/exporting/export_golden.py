"""Recorded answers of tfprof's C++ in the forms that it writes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepscope.lenses.views import ViewEngine, ViewResult, ViewsOptions
from stepscope.pb import pprof_pb2
from stepscope.sources import tfprof


def cases(path: Path, form: str) -> list[dict[str, Any]]:
    """The recorded cases of one file that have a form: text, timeline or pprof; or `advise`."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [
        case for case in found if (case["view"] == "advise" if form == "advise" else form in case)
    ]


def views(engine: ViewEngine, path: Path, form: str) -> Iterator[tuple[dict[str, Any], ViewResult]]:
    """Each case with its view."""
    for case in cases(path, form):
        if case["kind"] != "defect":
            yield case, engine.analyze(options(case, form))


def options(case: dict[str, Any], form: str) -> ViewsOptions:
    """The options of a case."""
    chosen = {k: tuple(v) if isinstance(v, list) else v for k, v in case["options"].items()}
    output = "none" if form == "text" else f"{form}:outfile=F"
    return ViewsOptions(
        **{
            **chosen,
            "step": str(chosen["step"]),
            "view": case["view"],
            "compat": "tfprof",
            "output": output,
        }
    )


def engine_of(path: Path) -> ViewEngine:
    """The views of a ProfileProto file."""
    return ViewEngine(tfprof.read(path).records[0].record)


def decoded(content: bytes) -> dict[str, Any]:
    """A gzipped pprof profile with its texts."""
    profile = pprof_pb2.Profile.FromString(gzip.decompress(content))
    text = profile.string_table
    functions = {f.id: (text[f.name], text[f.filename]) for f in profile.function}
    places = {}
    for location in profile.location:
        (line,) = location.line
        function, filename = functions[line.function_id]
        places[location.id] = {"function": function, "filename": filename, "line": line.line}
    return {
        "sample_type": [[text[kind.type], text[kind.unit]] for kind in profile.sample_type],
        "comment": [text[i] for i in profile.comment],
        "samples": [
            {
                "locations": [places[i] for i in sample.location_id],
                "values": list(sample.value),
                "labels": [[text[label.key], text[label.str]] for label in sample.label],
            }
            for sample in profile.sample
        ],
    }


def text_differences(case: dict[str, Any], text: str) -> list[Any]:
    """Lines that differ."""
    want, got = (
        [line.rstrip() for line in t.rstrip("\n").split("\n")] for t in (case["text"], text)
    )
    length = [len(got)] if len(got) != len(want) else []
    return [pair for pair in zip(want, got, strict=False) if pair[0] != pair[1]] + length


def timeline_differences(case: dict[str, Any], traces: dict[str, Any]) -> list[str]:
    """Steps whose events differ; who holds memory is ours to say."""

    def events(trace: dict[str, Any]) -> list[str]:
        kept = (
            {k: v for k, v in e.items() if k != "args" or e["name"] != "Top Allocations"}
            for e in trace
        )
        return sorted(json.dumps(event, sort_keys=True) for event in kept)

    want = case["timeline"]
    return [
        step
        for step in want
        if events(want[step]["traceEvents"]) != events(traces[step]["traceEvents"])
    ]


def pprof_differences(case: dict[str, Any], profile: dict[str, Any]) -> list[Any]:
    """Samples that one has more often than the other."""

    def samples(one: dict[str, Any]) -> list[str]:
        stripped = json.loads(json.dumps(one["samples"]))
        for sample in stripped:
            for location in sample["locations"]:
                location.pop("start_line", None)
        return sorted(json.dumps(sample, sort_keys=True) for sample in stripped)

    want, got = samples(case["pprof"]), samples(profile)
    pairs = [(case["pprof"]["sample_type"], profile["sample_type"]), (len(want), len(got))]
    return [pair for pair in [*pairs, *zip(want, got, strict=False)] if pair[0] != pair[1]]
