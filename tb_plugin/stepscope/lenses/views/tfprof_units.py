"""Numbers as tfprof prints them: two decimals from the first unit on, decimal memory units, never gigabytes."""

from __future__ import annotations

Number = int | float


def number_text(value: Number) -> str:
    """A count: `12`, `1.20k`, `1.20m`, `1.20b`."""
    return _text(value, ((1e3, ""), (1e6, "k"), (1e9, "m"), (float("inf"), "b")))


def time_text(micros: Number) -> str:
    """A time given in microseconds: `12us`, `1.20ms`, `1.20sec`."""
    return _text(micros, ((1e3, "us"), (1e6, "ms"), (float("inf"), "sec")))


def memory_text(size: Number) -> str:
    """Memory given in bytes: `12B`, `1.20KB`, `1.20MB`."""
    return _text(size, ((1e3, "B"), (1e6, "KB"), (float("inf"), "MB")))


def percent(part: Number, whole: Number) -> float:
    """A share in percent, 0 of nothing."""
    return 100.0 * part / whole if whole else 0.0


def _text(value: Number, units: tuple[tuple[float, str], ...]) -> str:
    scale = 1.0
    for limit, unit in units:
        if value < limit:
            return f"{value:.15g}{unit}" if scale == 1.0 else f"{value / scale:.2f}{unit}"
        scale = limit
    return str(value)
