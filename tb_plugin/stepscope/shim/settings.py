"""What a throughput series is told at its start."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.shim import values
from stepscope.shim.rate_tracker import default_smoothing

_WORDS = ("name", "unit", "measured_at")
_LEAST = {"log_every": 1, "print_every": 1, "batch_size": 0, "devices": 0, "planned_steps": 0}
_NUMBERS = ("flops_per_sample", "peak_flops_per_sec")


@dataclass(frozen=True)
class SeriesSettings:
    """The settings of a throughput series.

    Attributes:
        name: The series' name.
        unit: The word for what is counted.
        log_every: Ask for the rates at each step that is a multiple of this; None: only when `sample` is called.
        print_every: Print the rates that are sampled at a step that is a multiple of this; None: never.
        smoothing: Weight of the previous rate; None: RATE_TRACKER_SMOOTHING, or 0.4.
        batch_size: Samples of one step on all devices, where it is constant.
        devices: Devices that share the work.
        flops_per_sample: Float operations per sample, for the utilisation.
        peak_flops_per_sec: Peak of one device, for the utilisation.
        planned_steps: Steps the run is to take, for the time left.
        measured_at: Where the stamps are taken.
    """

    name: str = "train"
    unit: str = "samples"
    log_every: int | None = None
    print_every: int | None = None
    smoothing: float | None = None
    batch_size: int | None = None
    devices: int | None = None
    flops_per_sample: float | None = None
    peak_flops_per_sec: float | None = None
    planned_steps: int | None = None
    measured_at: str = "the host that receives outputs"

    def __post_init__(self) -> None:
        """Checks what would otherwise fail at every flush."""
        for name in _WORDS:
            values.word(name, getattr(self, name))
        checked: dict[str, float] = {"smoothing": self._chosen_smoothing()}
        for name, value in vars(self).items():
            if value is not None and name in _LEAST:
                checked[name] = values.whole(name, value, _LEAST[name])
            elif value is not None and name in _NUMBERS:
                checked[name] = values.real(name, value)
        vars(self).update(checked)

    def _chosen_smoothing(self) -> float:
        return (
            default_smoothing()
            if self.smoothing is None
            else values.real("smoothing", self.smoothing, 1.0)
        )

    @property
    def weight(self) -> float:
        """The weight of the previous rate."""
        return self.smoothing or 0.0

    @property
    def every(self) -> int | None:
        """Steps between two samples."""
        return self.log_every or self.print_every

    @property
    def sampling_rule(self) -> str:
        """When the rate is asked for, as the record says it."""
        if self.every is None:
            return "call"
        return "batch" if self.every == 1 else "log_step"

    @property
    def scalar_prefix(self) -> str:
        """What stands before the scalar tags of the series."""
        return "" if self.name == "train" else f"{self.name}/"
