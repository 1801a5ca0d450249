"""Times as findings say them: in the units and with the spaces that the panel has."""

from __future__ import annotations

PS_PER_US = 1_000_000
NS_PER_US = 1000
_UNITS = (("s", 1e6), ("ms", 1e3), ("µs", 1.0))
_LARGEST = 999.5
"""Three digits from here on are one more than three."""


def time_words(micros: float) -> str:
    """A time given in microseconds, to three digits: `12 µs`, `1.2 ms`, `3 s`."""
    unit, size = next(
        ((unit, size) for unit, size in _UNITS if micros >= _LARGEST / 1e3 * size), _UNITS[-1]
    )
    value = micros / size
    return f"{value:.3g} {unit}" if value < _LARGEST else f"{value:,.0f} {unit}"
