"""Rates that were only logged as scalars: which tags they have, and the record they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from stepscope.errors import RecordError
from stepscope.model.arrays import F64, I64
from stepscope.model.columns import Header, Strings
from stepscope.model.throughput import SAME_RATE, RateSamples, Reported, Throughput

TORCH_XLA = {"examples/sec": "local", "average_examples/sec": "avg"}
"""torch_xla's tags, which it writes without a step."""

RATE_WORDS = ("_per_sec", "examples/sec")
"""What every tag of a rate ends with."""


class RateTag(NamedTuple):
    """What a tag says: the series' name, empty where there is none, which rate it is (local or avg), and the unit."""

    name: str
    rate: str
    unit: str


def rate_tag(tag: str) -> RateTag | None:
    """Reads `[<name>/](avg|local)_<unit>_per_sec` or torch_xla's tags; None for any other."""
    for ending, rate in TORCH_XLA.items():
        if tag == ending or tag.endswith("/" + ending):
            return RateTag(tag[: -len(ending)].rstrip("/"), rate, "examples")
    name, _, last = tag.rpartition("/")
    rate, _, unit = last.partition("_")
    if rate not in ("avg", "local") or not unit.endswith("_per_sec"):
        return None
    return RateTag(name, rate, unit.removesuffix("_per_sec"))


class ScalarPoints(Protocol):
    """The points of one scalar tag, in ascending order of time."""

    @property
    def tag(self) -> str:
        """The tag as written."""

    @property
    def step(self) -> I64:
        """Training steps."""

    @property
    def wall_time_s(self) -> F64:
        """Unix times."""

    @property
    def value(self) -> F64:
        """Rates."""


def from_scalars(series: Sequence[ScalarPoints]) -> Throughput:
    """A record of the rates in one unit; of several units the one that has both, and steps last.

    The batch size and the start are not known, so the record has reported rates and no marks.

    Raises:
        RecordError: No tag is one of a rate.
    """
    units: dict[str, dict[str, ScalarPoints]] = {}
    names = set()
    for one in series:
        found = rate_tag(one.tag)
        if found is not None:
            units.setdefault(found.unit, {})[found.rate] = one
            names.add(found.name)
    if not units:
        raise RecordError(
            f"no rate among the tags {[one.tag for one in series]}",
            where="throughput record, scalars",
            remedy="Log local_samples_per_sec and avg_samples_per_sec",
        )
    unit = max(units, key=lambda word: (len(units[word]), word != "steps"))
    return _record(min(names) or "train", unit, units[unit].get("local"), units[unit].get("avg"))


def _record(
    name: str, unit: str, local: ScalarPoints | None, average: ScalarPoints | None
) -> Throughput:
    given = [one for one in (average, local) if one is not None]
    places, steps = _places(given)
    wall_ns = np.rint(_wall_times(len(steps), given, places) * 1e9).astype(np.int64)
    anchor = int(wall_ns[0]) if len(wall_ns) else 0
    values = {
        id(one): _at(len(steps), place, one.value) for one, place in zip(given, places, strict=True)
    }
    unknown = np.full(len(steps), -1.0)
    return Throughput(
        header=Header(wall_anchor_ns=anchor, producer="scalars"),
        name=name,
        unit=unit,
        sampling_rule=_rule(local, average),
        strings=Strings.of(()),
        samples=RateSamples(step=steps, time_ns=wall_ns - anchor),
        reported=Reported(
            sample=np.arange(len(steps)),
            local_samples_per_sec=values.get(id(local), unknown),
            avg_samples_per_sec=values.get(id(average), unknown),
        ),
    )


def _places(series: Sequence[ScalarPoints]) -> tuple[list[I64], I64]:
    """Where each one's points stand among all, and the steps there: by step, or by order where none was logged."""
    logged = np.unique(np.concatenate([one.step for one in series]))
    most = max(len(one.step) for one in series)
    if len(logged) == 1 < most:
        return [np.arange(len(one.step)) for one in series], np.full(most, -1)
    return [np.searchsorted(logged, one.step) for one in series], logged


def _wall_times(size: int, series: Sequence[ScalarPoints], places: Sequence[I64]) -> F64:
    """When each place was logged: by the first of the series that has a point there."""
    found = np.empty(size)
    for one, place in reversed(list(zip(series, places, strict=True))):
        found[place] = one.wall_time_s
    return found


def _at(size: int, place: I64, values: F64) -> F64:
    """The values at their places: the last one written for each, -1 where there is none."""
    found = np.full(size, -1.0)
    found[place] = values
    return found


def _rule(local: ScalarPoints | None, average: ScalarPoints | None) -> str:
    """At its first question Rate equals GlobalRate. Where it does not, it was asked before: after every batch."""
    if local is None or average is None or not len(local.step) or not len(average.step):
        return "unknown"
    same_step = int(local.step[0]) == int(average.step[0])
    first, total = float(local.value[0]), float(average.value[0])
    return "batch" if same_step and abs(first - total) > SAME_RATE * abs(total) else "log_step"
