"""Trains a small net in TensorFlow 1's style, profiles three steps with tf.compat.v1.profiler, and logs them live.

    python examples/tf1_train.py runs
    tensorboard --logdir runs

tfprof's own profile is written beside it, as older scripts leave it (stepscope import runs/tfprof.pb --logdir runs),
and its own printout of the same steps to runs/tfprof.txt.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import stepscope
from stepscope.integrations.tensorflow import FULL_TRACE, SessionProfiler

v1 = tf.compat.v1

BATCH = 32
PROFILED = (10, 11, 12)


def dense(x: Any, width: int, name: str) -> Any:
    """A layer with its variables in a scope of its own."""
    with v1.variable_scope(name):
        w = v1.get_variable(
            "w", [x.shape[-1], width], initializer=v1.truncated_normal_initializer(stddev=0.1)
        )
        b = v1.get_variable("b", [width], initializer=v1.zeros_initializer())
        return tf.nn.bias_add(tf.matmul(x, w), b)


def build() -> tuple[tf.Graph, Any, Any]:
    """The graph, the op that trains it, and its loss."""
    graph = tf.Graph()
    with graph.as_default():
        v1.disable_resource_variables()
        x, y = v1.placeholder(tf.float32, [BATCH, 64], "x"), v1.placeholder(tf.int64, [BATCH], "y")
        hidden = tf.nn.relu(dense(x, 128, "hidden"))
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=y, logits=dense(hidden, 10, "logits")
        )
        loss = tf.reduce_mean(losses, name="loss")
        train = v1.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
    return graph, train, loss


def train(logdir: Path, steps: int) -> None:
    """Trains, and logs the throughput of all steps and the profile of three."""
    random = np.random.default_rng(0)
    graph, step_op, loss = build()
    with graph.as_default(), v1.Session() as session, stepscope.Writer(logdir) as writer:
        session.run(v1.global_variables_initializer())
        rate = writer.throughput("train", log_every=5)
        theirs = v1.profiler.Profiler(graph)
        with SessionProfiler(writer, graph) as ours:
            for step in range(steps):
                feed = {
                    "x:0": random.normal(size=(BATCH, 64)),
                    "y:0": random.integers(0, 10, BATCH),
                }
                metadata = v1.RunMetadata()
                options = FULL_TRACE if step in PROFILED else None
                session.run([step_op, loss], feed, options=options, run_metadata=metadata)
                rate.add(BATCH, step=step)
                if step in PROFILED:
                    theirs.add_step(step, metadata)
                    ours.add_step(step, metadata)
        (logdir / "tfprof.pb").write_bytes(theirs.serialize_to_string())
        theirs.profile_name_scope(printout(logdir / "tfprof.txt"))


def printout(file: Path) -> dict[str, Any]:
    """Options of tfprof's scope view: all rows by name, with times, memory, parameters and float operations."""
    builder = v1.profiler.ProfileOptionBuilder()
    builder.with_max_depth(100).order_by("name").select(["micros", "bytes", "params", "float_ops"])
    return builder.with_file_output(str(file)).build()


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logdir", type=Path)
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()
    options.logdir.mkdir(parents=True, exist_ok=True)
    train(options.logdir, options.steps)


if __name__ == "__main__":
    main()
