"""What a throughput series is told at its start."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.errors import OptionError
from stepscope.shim.rate_tracker import default_smoothing


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
        """Checks what would otherwise fail in the training loop."""
        for name in ("log_every", "print_every"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise OptionError(f"{name} is {value!r}", remedy="Give a number of steps, at least 1")
        if not 0.0 <= self.weight <= 1.0:
            raise OptionError(f"smoothing is {self.weight}", remedy="Give a number from 0 to 1")

    @property
    def weight(self) -> float:
        """The weight of the previous rate."""
        return default_smoothing() if self.smoothing is None else self.smoothing

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
