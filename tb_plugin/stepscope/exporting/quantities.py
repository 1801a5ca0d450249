"""Figures of runs in words: times, bytes, rates and shares with three significant digits."""

from __future__ import annotations

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_BYTES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "bytes"))
_DIGITS = 3


def quantity(value: float | None, unit: str, per: str = "samples") -> str:
    """A figure with its unit.

    Args:
        value: The figure; None is a dash.
        unit: ns, bytes, share, per_sec, or any word.
        per: What a rate counts.
    """
    if value is None:
        return "—"
    if unit == "share":
        return f"{value:.1%}"
    if unit == "per_sec":
        return f"{number(value)} {per}/s"
    if unit in ("ns", "bytes"):
        return _scaled(value, _TIMES if unit == "ns" else _BYTES)
    return f"{number(value)} {unit}"


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    for size, word in units:
        if abs(value) >= size:
            return f"{number(value / size)} {word}"
    return f"{number(value)} {units[-1][1]}"


def number(value: float) -> str:
    """Three significant digits, all digits before the point."""
    if abs(value) >= 10 ** (_DIGITS - 1):
        return f"{value:,.0f}"
    return f"{value:.{_DIGITS}g}"


def share_words(share: float, low: float | None, high: float | None) -> str:
    """A share with its interval: `3.1 % (2.0 to 4.2)`."""
    text = f"{100 * share:.1f} %"
    if low is None or high is None:
        return text
    return f"{text} ({100 * low:.1f} to {100 * high:.1f})"
