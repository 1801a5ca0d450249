"""Corners in which tfprof's C++ was asked, and its answer is to be matched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from export_golden import decoded
from tensorboard.compat.proto import tfprof_log_pb2

from stepscope.exporting.pprof import to_pprof
from stepscope.exporting.text import to_text
from stepscope.exporting.timeline import to_timeline
from stepscope.findings.tfprof_advice import advise
from stepscope.lenses.views import ViewEngine, ViewsOptions
from stepscope.sources import tfprof

GPU = "/job:worker/replica:0/task:0/device:gpu:0"
MAIN = ("/a/main.py", 1, "main")


class Proto:
    """A ProfileProto in the making."""

    def __init__(self, *steps: int) -> None:
        self.message: Any = tfprof_log_pb2.ProfileProto(has_trace=True, steps=steps)

    def node(self, name: str, op: str = "Add", trace: Iterator[Any] | tuple[Any, ...] = ()) -> Any:
        """Adds a node, with its call stack of (file, line, function)."""
        number = len(self.message.nodes)
        node = self.message.nodes[number]
        node.name, node.id, node.op = name, number, op
        node.op_types.append(op)
        for file, line, function in trace:
            node.trace.traces.add(
                file_id=self.text(file), lineno=line, function_id=self.text(function)
            )
        return node

    def text(self, text: str) -> int:
        texts = self.message.id_to_string
        for number, known in texts.items():
            if known == text:
                return int(number)
        texts[len(texts) + 1] = text
        return len(texts)

    def ran(
        self, node: Any, step: int, start: int, micros: int, device: str = GPU, in_use: int = 0
    ) -> None:
        """Adds an execution."""
        node.canonical_device = node.host_device = device
        step_record = node.execs[step]
        step_record.run_count = 1
        step_record.all_start_micros, step_record.latest_end_micros = start, start + micros
        step_record.cpu_execs[device].times.add(int64_values=[start, micros])
        step_record.memory_execs.add(memory_micros=start, allocator_bytes_in_use=in_use)

    def engine(self) -> ViewEngine:
        return ViewEngine(tfprof.read_profile(self.message.SerializeToString(), "profile.pb"))

    def view(self, view: str, **options: Any) -> Any:
        return self.engine().analyze(ViewsOptions(view=view, compat="tfprof", **options))


def names(result: Any) -> list[str]:
    return [node["name"] for node in result.to_json()["nodes"][1:]]


def test_gradient_branches_come_after_all_lines_of_forward_nodes() -> None:
    proto = Proto()
    proto.node("a", trace=(("m.py", 1, "a"),))
    proto.node("gradients/a_grad/b", trace=(("m.py", 1, "a"),))
    proto.node("x/y/z/w", trace=(("m.py", 9, "w"),))
    assert names(proto.view("code", order_by="")) == ["m.py:1:a", "m.py:9:w", "m.py:1:a (gradient)"]


@pytest.mark.parametrize(
    ("name", "is_placed"), [("_grad/gradients/", False), ("gradients/_grad/", True)]
)
def test_a_gradient_of_no_name_is_an_orphan_only_when_the_words_are_swapped(
    name: str, is_placed: bool
) -> None:
    proto = Proto()
    proto.node(name, trace=(MAIN,))
    proto.node("other", trace=(("m.py", 2, "f"),))
    assert ("main.py:1:main" in names(proto.view("code"))) == is_placed


def test_the_greatest_depth_is_cut_to_32_bits() -> None:
    proto = Proto()
    proto.node("a/b/c")
    assert names(proto.view("scope", max_depth=(1 << 32) + 3)) == ["a", "a/b"]
    assert names(proto.view("scope", max_depth=1 << 33)) == []


def test_a_refused_answer_is_a_root_without_figures() -> None:
    proto = Proto()
    proto.node("a")
    result = proto.view("scope", output="pprof:outfile=F", account_displayed_op_only=True)
    assert result.to_json()["nodes"] == [{"name": "_TFProfRoot", "depth": 0, "parent": -1}]


def test_op_names_are_padded_by_their_bytes() -> None:
    proto = Proto()
    proto.node("a", "Ünï")
    (_, line) = to_text(proto.view("op", select=("params",))).splitlines()
    assert line.index("0 params") == 25 - 2 + 30 - len("0 params (0.00%, 0.00%)")


def test_a_type_that_a_node_has_twice_is_printed_once() -> None:
    proto = Proto()
    proto.node("a").op_types.extend(["mine", "mine"])
    assert "Add|mine)" in to_text(proto.view("scope", select=("op_types",)))


def test_calls_of_one_line_to_functions_of_one_name_are_one_location_in_pprof() -> None:
    proto = Proto()
    proto.node("a", trace=(MAIN, ("/a/.py", 5, "f")))
    proto.node("b", trace=(MAIN, ("/b/two.dots.py", 6, "f")))
    samples = decoded(to_pprof(proto.view("code", select=("params",), output="pprof:outfile=F")))[
        "samples"
    ]
    assert [sample["locations"] for sample in samples] == [
        [{"function": ":f", "filename": "/a/.py", "line": 1}]
    ] * 2


def test_no_timeline_of_a_graph_is_written_without_steps_or_for_negative_ones() -> None:
    assert to_timeline(_bare()) == {}
    proto = Proto(-3, 4)
    proto.ran(proto.node("a"), 4, 1000, 5)
    assert list(to_timeline(proto.view("graph", output="timeline:outfile=F"))) == ["4"]


def _bare() -> Any:
    proto = Proto()
    proto.node("a")
    return proto.view("graph", output="timeline:outfile=F")


def test_of_two_counts_of_memory_at_one_moment_the_later_row_has_the_word() -> None:
    proto = Proto(1)
    consumer = proto.node("z")
    proto.ran(consumer, 1, 1000, 5, in_use=7)
    proto.ran(proto.node("a"), 1, 1000, 5, in_use=9)
    consumer.inputs[0] = 1
    (trace,) = to_timeline(proto.view("graph", step="1", output="timeline:outfile=F")).values()
    counts = [event["args"] for event in trace["traceEvents"] if event["name"] == "Allocated Bytes"]
    assert counts == [{"Allocator Bytes in Use": 9}]


def test_shares_of_expensive_ops_are_rounded_as_tfprof_rounds_them() -> None:
    proto = Proto(1)
    for name, micros in (("a", 25), ("b", 7)):
        proto.ran(proto.node(name, op=name), 1, 1000, micros)
    (report, *_) = advise(proto.engine(), compat="tfprof", checkers=["ExpensiveOperationChecker"])[
        "ExpensiveOperationChecker"
    ]
    assert report.endswith("total: 7us (21.87%)")


def test_a_file_whose_first_node_has_no_op_is_recognised() -> None:
    proto = Proto()
    node = proto.node("a", trace=(MAIN,))
    node.ClearField("op")
    content = proto.message.SerializeToString()
    assert tfprof.recognise(Path("profile.pb"), content)


def test_everything_is_hidden_but_names_of_two_lines() -> None:
    proto = Proto()
    proto.node("one")
    proto.node("two\nlines")
    assert names(proto.view("scope", hide_name_regexes=(".*",))) == ["two\nlines"]
    assert names(proto.view("scope", show_name_regexes=(".*",))) == ["one", "two\nlines"]
    assert names(proto.view("scope", account_type_regexes=(".*",), start_name_regexes=(".*",))) == [
        "one",
        "two\nlines",
    ]
