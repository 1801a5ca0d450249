"""Logging what TensorFlow runs: the RunMetadata of sessions, and the graphs of tf.function.

    with stepscope.Writer("runs/a") as writer:
        with SessionProfiler(writer) as profiler:
            ...
            session.run(train_op, options=FULL_TRACE, run_metadata=metadata)
            profiler.add_step(step, metadata)

    log_run(writer, metadata, step=step)                 # one run of a session
    hooks = [ProfilerHook(writer, every_steps=100)]      # tf.compat.v1.train.MonitoredTrainingSession, Estimator
    log_function(writer, train_step, batch, step=step)   # the graph of a tf.function: no times, TensorFlow gives none

Nothing here raises into the training loop: what cannot be logged is reported once and counted by the writer.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import config_pb2, graph_pb2, tfprof_log_pb2

from stepscope.errors import StepscopeError
from stepscope.model.columns import Header
from stepscope.model.profile import Profile
from stepscope.shim.writer import Writer
from stepscope.sources.tfprof.replay import Replay

_FAILURES = (
    StepscopeError,
    tf.errors.OpError,
    DecodeError,
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    RuntimeError,
)

FULL_TRACE = tf.compat.v1.RunOptions(
    trace_level=tf.compat.v1.RunOptions.FULL_TRACE, output_partition_graphs=True
)
"""The options of a `session.run` whose times, memory and ops are to be recorded."""


class SessionProfiler:
    """Collects runs of a session as the steps of one profile, as tf.compat.v1.profiler.Profiler does, and logs it.

    Args:
        writer: Where the profile goes.
        graph: The session's graph; by default the default graph.
        name: The record's name.
    """

    def __init__(self, writer: Writer, graph: Any = None, name: str = "profile") -> None:
        self._writer = writer
        self._graph = graph if graph is not None else tf.compat.v1.get_default_graph()
        self._name = name
        self._replay = Replay()
        self._last_step: int | None = None

    def __enter__(self) -> SessionProfiler:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.log()

    def add_step(self, step: int, run_metadata: Any) -> None:
        """Adds a run made with `FULL_TRACE`. Several runs of one step add up."""
        try:
            self._replay.add_graph(_graph_of(self._graph))
            self._replay.add_run(
                int(step), config_pb2.RunMetadata.FromString(run_metadata.SerializeToString())
            )
            self._replay.add_op_log(_op_log_of(self._graph, run_metadata))
            self._last_step = int(step)
        except _FAILURES as error:
            self._writer.failed(f"the run of step {step}", error)

    def log(self) -> None:
        """Logs the profile of the runs so far, under the last run's step."""
        if self._last_step is not None:
            _log(self._writer, self._replay, self._name, self._last_step)


def log_run(
    writer: Writer, run_metadata: Any, *, step: int, graph: Any = None, name: str = "profile"
) -> None:
    """Logs one run of a session that was made with `FULL_TRACE`.

    Args:
        writer: Where the profile goes.
        run_metadata: The tf.compat.v1.RunMetadata that `session.run` filled in.
        step: The training step.
        graph: The session's graph; by default the default graph.
        name: The record's name.
    """
    profiler = SessionProfiler(writer, graph, name)
    profiler.add_step(step, run_metadata)
    profiler.log()


class ProfilerHook(tf.compat.v1.train.SessionRunHook):  # type: ignore[misc]
    """Logs every n-th run of a monitored session or an estimator, each as a profile of its own.

    Args:
        writer: Where the profiles go.
        every_steps: Runs from one logged run to the next.
        name: The record's name.
    """

    def __init__(self, writer: Writer, every_steps: int = 100, name: str = "profile") -> None:
        self._writer = writer
        self._every_steps = every_steps
        self._name = name
        self._runs = 0

    def before_run(self, run_context: Any) -> Any:
        """Asks for a trace of the run where it is due."""
        due = self._runs % self._every_steps == 0
        return tf.compat.v1.train.SessionRunArgs(None, options=FULL_TRACE) if due else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Logs the run."""
        if self._runs % self._every_steps == 0:
            graph = run_context.session.graph
            log_run(
                self._writer, run_values.run_metadata, step=self._runs, graph=graph, name=self._name
            )
        self._runs += 1


def log_function(
    writer: Writer, function: Any, *args: Any, step: int = 0, name: str = "profile", **kwargs: Any
) -> None:
    """Logs the graph that a tf.function has for some arguments: ops, shapes, float operations, lines of code.

    TensorFlow records no times of single ops outside sessions.

    Args:
        writer: Where the profile goes.
        function: A tf.function, or a concrete one.
        *args: Arguments as in a call; tf.TensorSpec does too.
        step: The training step.
        name: The record's name.
        **kwargs: Further arguments of the function.
    """
    replay = Replay()
    try:
        concrete = (
            function.get_concrete_function(*args, **kwargs)
            if hasattr(function, "python_function")
            else function
        )
        graph = concrete.graph
        replay.add_graph(_graph_of(graph))
        replay.add_op_log(_op_log_of(graph, None))
    except _FAILURES as error:
        writer.failed("the graph of a tf.function", error)
        return
    _log(writer, replay, name, step)


def _log(writer: Writer, replay: Replay, name: str, step: int) -> None:
    try:
        record = profile_of(replay)
    except _FAILURES as error:
        writer.failed(f"profile {name}", error)
        return
    writer.log_profile(record, step=step, name=name)


def profile_of(replay: Replay) -> Profile:
    """The record of what was added."""
    return replay.profile(Header(producer="tensorflow", producer_version=tf.__version__))


def _graph_of(graph: Any) -> graph_pb2.GraphDef:
    return graph_pb2.GraphDef.FromString(graph.as_graph_def(add_shapes=True).SerializeToString())


def _op_log_of(graph: Any, run_metadata: Any) -> tfprof_log_pb2.OpLogProto:
    """Float operations, trainable variables and call stacks, as TensorFlow's own tfprof gets them."""
    with tempfile.TemporaryDirectory() as folder:
        tf.compat.v1.profiler.write_op_log(graph, folder, run_meta=run_metadata)
        return tfprof_log_pb2.OpLogProto.FromString((Path(folder) / "tfprof_log").read_bytes())
