"""The figures of single runs that comparisons are made of: metrics, environment, and the rows that explain a step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np

from stepscope.errors import NotFound, StepscopeError
from stepscope.lenses.throughput.intervals import TrainingIntervals, training_intervals
from stepscope.lenses.trace.categories import Category
from stepscope.lenses.trace.memory import memory_over_time
from stepscope.lenses.trace.step_costs import Path, StepCosts, step_costs
from stepscope.model.arrays import F64
from stepscope.model.diagnostic import Diagnostic
from stepscope.model.profile import Profile
from stepscope.model.throughput import Throughput
from stepscope.session.catalog import RecordRef
from stepscope.session.source import Source
from stepscope.statistics import LEAST_INTERVALS, Mean, mean_of_figure, ratio_of_sums

NS_PER_SECOND = 1e9
_LEAST_STEPS = 3
OUTSIDE_OPS = ("outside any op or range",)
"""The path of a step's time that no op and no range holds."""


@dataclass(frozen=True)
class Metric:
    """A figure that runs are compared by.

    Attributes:
        name: As commands take it.
        title: In words.
        unit: ns, bytes, share, or what is counted per second.
        higher_is_better: Whether more is an improvement.
    """

    name: str
    title: str
    unit: str
    higher_is_better: bool = False


METRICS = (
    Metric("step_time", "step time", "ns"),
    Metric("rate", "rate", "per_sec", higher_is_better=True),
    Metric("peak_memory", "peak memory", "bytes"),
    Metric("exposed_communication", "exposed communication", "ns"),
    Metric("goodput", "goodput", "share", higher_is_better=True),
)
"""The metrics with fixed names. `phase:NAME` and `op:PATH` are times per step."""


@dataclass(frozen=True, eq=False)
class RunFigures:
    """What one run has to compare.

    Attributes:
        run: Its name.
        where: The path that it was read from.
        wall_ns: Unix time at its start, 0 when unknown.
        environment: What must be alike for a comparison, by word.
        details: What may differ, but is said.
        metrics: Figures by metric name.
        parts: Time per step of the parts of a step, ns, which add up to the step.
        steps_ns: Time of each measured step, ns per step, in order; empty where unknown.
        phases: Time per step of logged spans, ns.
        host: Host self time of each call path in each profiled step.
        device: Device time of each call path in each profiled step.
        profiled_step: Time per profiled step, None without a profile of steps.
        problems: What could not be read.
    """

    run: str
    where: str
    wall_ns: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, Mean] = field(default_factory=dict)
    parts: Mapping[str, Mean] = field(default_factory=dict)
    steps_ns: F64 = field(default_factory=lambda: np.empty(0))
    phases: Mapping[str, Mean] = field(default_factory=dict)
    host: Mapping[Path, F64] = field(default_factory=dict)
    device: Mapping[Path, F64] = field(default_factory=dict)
    profiled_step: Mean | None = None
    problems: tuple[Diagnostic, ...] = ()

    @property
    def title(self) -> str:
        """The run's name; of the only run of a folder or file that one's."""
        return self.run if self.run not in ("", ".") else PurePath(self.where).name or self.where

    def metric(self, name: str) -> Mean | None:
        """A metric by its name, `phase:NAME` or `op:PATH`; None where the run does not have it."""
        kind, _, rest = name.partition(":")
        if kind == "phase":
            return self.phases.get(rest)
        if kind == "op":
            return self._row(tuple(rest.split("/")))
        return self.metrics.get(name)

    def _row(self, path: Path) -> Mean | None:
        """Host and device time per step of all that lies below a path's end, or below ops of that name."""
        total: F64 | None = None
        for rows in (self.host, self.device):
            for candidate, cost in rows.items():
                if _holds(candidate, path):
                    total = cost if total is None else total + cost
        return None if total is None else steps_mean(total)


def _holds(candidate: Path, path: Path) -> bool:
    """Whether a path runs through another one, from wherever that starts."""
    width = len(path)
    return any(
        candidate[start : start + width] == path for start in range(len(candidate) - width + 1)
    )


def steps_mean(cost: F64) -> Mean:
    """The mean over steps; of three to seven steps with the plain standard error, taking them as independent."""
    if len(cost) >= LEAST_INTERVALS or len(cost) < _LEAST_STEPS:
        return ratio_of_sums(cost)
    return Mean(
        value=float(cost.mean()),
        standard_error=float(cost.std(ddof=1)) / math.sqrt(len(cost)),
        degrees=float(len(cost) - 1),
        intervals=len(cost),
        effective_intervals=float(len(cost)),
    )


def figures_of(source: Source) -> list[RunFigures]:
    """The figures of each selected run, in order of their names.

    Raises:
        NotFound: No run has a throughput series or a profile.
    """
    by_run: dict[str, list[RecordRef]] = {}
    for kind in (Throughput.KIND, Profile.KIND):
        try:
            refs = source.candidates(kind)
        except NotFound:
            continue
        for ref in refs:
            by_run.setdefault(ref.run, []).append(ref)
    if not by_run:
        found = "no throughput series and no profile"
        raise NotFound(
            found,
            where=source.where,
            remedy="Log the run with a StepScope Writer, or import a trace",
        )
    return [_figures_of_run(source, run, by_run[run]) for run in sorted(by_run)]


def _figures_of_run(source: Source, run: str, refs: Sequence[RecordRef]) -> RunFigures:
    problems: list[Diagnostic] = []
    series: list[Throughput] = []
    profiles: list[Profile] = []
    for ref in refs:
        try:
            record = source.read(ref)
        except StepscopeError as error:
            problems.append(Diagnostic.of_error(error, run=run))
            continue
        if isinstance(record, Throughput):
            series.append(record)
        elif isinstance(record, Profile):
            profiles.append(record)
    logged = _longest(series)
    # The newest comes last; what was traced first has most set-up in it.
    profile = profiles[-1] if profiles else None
    return run_figures(run, source.where, logged, profile, problems)


def _longest(series: Iterable[Throughput]) -> Throughput | None:
    """The series with the most marks: the training loop, not an evaluation beside it."""
    return max(series, key=lambda record: (len(record.marks), record.name == "train"), default=None)


def run_figures(
    run: str,
    where: str,
    logged: Throughput | None,
    profile: Profile | None,
    problems: Iterable[Diagnostic] = (),
) -> RunFigures:
    """The figures of a run from its records."""
    metrics: dict[str, Mean] = {}
    phases: dict[str, Mean] = {}
    parts: dict[str, Mean] = {}
    steps_ns = np.empty(0)
    host: dict[Path, F64] = {}
    device: dict[Path, F64] = {}
    profiled_step = None
    if profile is not None:
        costs = step_costs(profile)
        metrics |= _profile_metrics(profile, costs)
        profiled_step = metrics.get("step_time")
        if len(costs):
            parts = {name: steps_mean(cost) for name, cost in costs.parts_ns.items()}
            host = dict(costs.host_ns)
            host[OUTSIDE_OPS] = costs.parts_ns[Category.OTHER.label]
            device = dict(costs.device_ns)
            steps_ns = costs.step_ns
    if logged is not None:
        intervals = training_intervals(logged)
        metrics |= _throughput_metrics(intervals)
        phases = _phases(intervals)
        if intervals.steps.sum() > 0:
            usable = (intervals.steps > 0) & ~intervals.first
            steps_ns = intervals.step_ns[usable] / intervals.steps[usable]
    header = (
        logged.header if logged is not None else profile.header if profile is not None else None
    )
    return RunFigures(
        run=run,
        where=where,
        wall_ns=header.wall_anchor_ns if header is not None else 0,
        environment=_environment(logged, profile),
        details=_details(logged, profile),
        metrics=metrics,
        parts=parts,
        steps_ns=steps_ns,
        phases=phases,
        host=host,
        device=device,
        profiled_step=profiled_step,
        problems=tuple(problems),
    )


def _throughput_metrics(intervals: TrainingIntervals) -> dict[str, Mean]:
    """Step time with its input waits and without set-up; rate as `training_only`; goodput: the share in training.

    `rate_with_waits` is the rate that belongs to the step time.
    """
    metrics: dict[str, Mean] = {}
    kept = (
        ~intervals.first if len(intervals) > LEAST_INTERVALS else np.ones(len(intervals), np.bool_)
    )
    steps = intervals.steps[kept]
    if steps.sum() > 0:
        metrics["step_time"] = ratio_of_sums(intervals.step_ns[kept], steps)
    if intervals.count.sum() > 0 and intervals.training_ns.sum() > 0:
        metrics["rate"] = ratio_of_sums(intervals.training_ns, intervals.count).inverse(
            NS_PER_SECOND
        )
    if intervals.count[kept].sum() > 0 and intervals.step_ns[kept].sum() > 0:
        per_sample = ratio_of_sums(intervals.step_ns[kept], intervals.count[kept])
        metrics["rate_with_waits"] = per_sample.inverse(NS_PER_SECOND)
    if intervals.wall_ns.sum() > 0:
        metrics["goodput"] = ratio_of_sums(intervals.training_ns, intervals.wall_ns)
    return metrics


def _phases(intervals: TrainingIntervals) -> dict[str, Mean]:
    if not intervals.steps.sum() > 0:
        return {}
    return {
        kind: ratio_of_sums(spent, intervals.steps) for kind, spent in intervals.spans_ns.items()
    }


def _profile_metrics(profile: Profile, costs: StepCosts) -> dict[str, Mean]:
    metrics: dict[str, Mean] = {}
    if len(costs):
        metrics["step_time"] = steps_mean(costs.step_ns)
        metrics["exposed_communication"] = steps_mean(costs.parts_ns[Category.COMMUNICATION.label])
    peaks = [int(series.allocated_bytes.max(initial=0)) for series in memory_over_time(profile)]
    if max(peaks, default=0) > 0:
        metrics["peak_memory"] = mean_of_figure(float(max(peaks)))
    return metrics


def _environment(logged: Throughput | None, profile: Profile | None) -> dict[str, str]:
    """What must be alike: a difference in it explains a difference in speed without any change of the code."""
    environment: dict[str, str] = {}
    for record in (profile, logged):
        if record is not None and record.header.world_size > 0:
            environment["world size"] = str(record.header.world_size)
    if logged is not None:
        environment["unit"] = logged.unit
        if logged.batch_size:
            environment["batch size"] = str(logged.batch_size)
        if logged.devices:
            environment["devices"] = str(logged.devices)
    if profile is not None and len(profile.devices):
        models = {profile.strings[model] for model in profile.devices.model.tolist() if model >= 0}
        if models:
            environment["device"] = ", ".join(sorted(models))
    return environment


def _details(logged: Throughput | None, profile: Profile | None) -> dict[str, str]:
    details: dict[str, str] = {}
    for record in (profile, logged):
        if record is None:
            continue
        producer = f"{record.header.producer} {record.header.producer_version}".strip()
        if producer:
            details["framework"] = producer
        if record.header.host:
            details["host"] = record.header.host
    details["profiled steps"] = str(len(profile.steps)) if profile is not None else "none"
    if logged is not None and len(logged.marks) and int(logged.marks.step.max()) >= 0:
        details["steps"] = str(int(logged.marks.step.max()))
    return details
