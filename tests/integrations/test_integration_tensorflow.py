"""What TensorFlow runs is logged with one line, and says what TensorFlow's own profiler says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

import stepscope  # noqa: E402
from stepscope.integrations.tensorflow import (  # noqa: E402
    FULL_TRACE,
    ProfilerHook,
    SessionProfiler,
    log_function,
    log_run,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def train_graph() -> tuple[Any, Any]:
    """A graph of one layer with its gradient step, and the op that trains it."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [8, 16], name="x")
        with tf.compat.v1.variable_scope("layer"):
            w = tf.compat.v1.get_variable("w", [16, 4], use_resource=False)
        loss = tf.reduce_sum(tf.square(tf.matmul(x, w, name="product")), name="loss")
        train = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        graph.add_to_collection("init", tf.compat.v1.global_variables_initializer())
    return graph, train


def runs(graph: Any, train: Any, count: int) -> Any:
    """The RunMetadata of some runs."""
    with tf.compat.v1.Session(graph=graph) as session:
        session.run(graph.get_collection("init"))
        for _ in range(count):
            metadata = tf.compat.v1.RunMetadata()
            session.run(train, {"x:0": [[1.0] * 16] * 8}, options=FULL_TRACE, run_metadata=metadata)
            yield metadata


def by_name(answer: Any) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in answer.to_json()["nodes"]}


def test_a_session_is_logged_with_one_line(tmp_path: Path) -> None:
    graph, train = train_graph()
    (metadata,) = runs(graph, train, 1)
    with stepscope.Writer(tmp_path) as writer:
        log_run(writer, metadata, step=7, graph=graph)
    assert writer.failures == 0
    source = stepscope.open(tmp_path)
    scopes = by_name(source.views(view="scope"))
    assert scopes["layer/w"]["parameters"] == 64
    assert scopes["product"]["float_ops"] == 2 * 8 * 16 * 4
    assert scopes["product"]["exec_micros"] > 0
    lines = by_name(source.views(view="code"))
    assert any(name.startswith(Path(__file__).name) for name in lines)


def test_totals_equal_what_tensorflow_prints_in_the_same_run(tmp_path: Path) -> None:
    graph, train = train_graph()
    theirs = tf.compat.v1.profiler.Profiler(graph)
    with stepscope.Writer(tmp_path / "log") as writer, SessionProfiler(writer, graph) as ours:
        for step, metadata in enumerate(runs(graph, train, 3)):
            theirs.add_step(step, metadata)
            ours.add_step(step, metadata)
    options = tf.compat.v1.profiler.ProfileOptionBuilder.time_and_memory(min_micros=0, min_bytes=0)
    options |= {"output": f"file:outfile={tmp_path / 'text'}", "order_by": "name"}
    theirs.profile_name_scope(options)
    chosen = {key: value for key, value in options.items() if key not in ("output", "dump_to_file")}
    mine = stepscope.open(tmp_path / "log").views(view="scope", compat="tfprof", **chosen).to_text()
    printed = (tmp_path / "text").read_text()
    printed = printed[printed.index("node name |") :]
    assert re.search(r"product \(\d", mine)
    assert [line.rstrip() for line in mine.splitlines()] == [
        line.rstrip() for line in printed.rstrip().splitlines()
    ]


def test_a_hook_logs_every_nth_run(tmp_path: Path) -> None:
    graph, train = train_graph()
    with stepscope.Writer(tmp_path) as writer, graph.as_default():
        hook = ProfilerHook(writer, every_steps=2)
        with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(3):
                session.run(train, {"x:0": [[1.0] * 16] * 8})
    assert writer.failures == 0
    steps = {
        ref.first_step for ref in stepscope.open(tmp_path).catalog.refs() if ref.kind == "profile"
    }
    assert steps == {0, 2}


def test_the_graph_of_a_function_is_logged_with_one_line(tmp_path: Path) -> None:
    @tf.function
    def layer(x: Any) -> Any:
        return tf.nn.relu(tf.matmul(x, tf.ones([16, 4]), name="product"))

    with stepscope.Writer(tmp_path) as writer:
        log_function(writer, layer, tf.TensorSpec([8, 16], tf.float32))
    assert writer.failures == 0
    rows = by_name(stepscope.open(tmp_path).views(view="op"))
    assert rows["MatMul"]["float_ops"] == 2 * 8 * 16 * 4
    assert "Relu" in rows


def test_what_cannot_be_logged_is_counted_and_does_not_raise(tmp_path: Path) -> None:
    with stepscope.Writer(tmp_path) as writer:
        log_function(writer, lambda: None)
        log_run(writer, object(), step=1, graph=tf.Graph())
    assert writer.failures == 2


def test_the_example_equals_tfprofs_own_printout(tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "tf1_train.py"
    subprocess.run(
        [sys.executable, str(example), str(tmp_path), "--steps", "15"], check=True, timeout=300
    )
    printed = (tmp_path / "tfprof.txt").read_text()
    printed = printed[printed.index("node name |") :]
    asked = {"view": "scope", "compat": "tfprof", "max_depth": 100, "order_by": "name"}
    select = ["micros", "bytes", "params", "float_ops"]
    for source in (tmp_path, tmp_path / "tfprof.pb"):
        mine = stepscope.open(source).views(**asked, select=select).to_text()
        assert [line.rstrip() for line in mine.splitlines()] == [
            line.rstrip() for line in printed.rstrip().splitlines()
        ]
    assert re.search(r"hidden/w \(64x128, 8.19k/", printed)
    assert len(stepscope.open(tmp_path).throughput().series) == 1


def test_a_run_that_traced_functions_is_logged_with_their_graphs(tmp_path: Path) -> None:
    from tensorflow.python.eager import context

    @tf.function
    def layer(x: Any) -> Any:
        return tf.nn.relu(tf.matmul(x, tf.ones([16, 4]), name="product"))

    context.enable_run_metadata()
    layer(tf.ones([8, 16]))
    metadata = context.export_run_metadata()
    context.disable_run_metadata()
    with stepscope.Writer(tmp_path) as writer:
        log_run(writer, metadata, step=3)
    assert writer.failures == 0
    assert {"MatMul", "Relu"} <= set(by_name(stepscope.open(tmp_path).views(view="op")))
