"""Numbers of a trace, read from their text so that nothing is rounded.

`ts` is absolute in files of 2024 and has decimals: 1712195495519689.047 us needs 61 bits, a double has 53.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

import numpy as np
from msgspec import Raw

from stepscope.model.columns import Array

MISSING = -(1 << 63)
_COMMA, _DOT, _ZERO, _NINE = b",.09"
_MOST_DIGITS = 16
"""Digits of microseconds whose nanoseconds fit int64, if the first is not 9."""


def nanoseconds(tokens: Sequence[Raw | bytes]) -> Array:
    """Microseconds as JSON text to integer nanoseconds; MISSING where the text is no number.

    Quoted numbers, exponents and more than three decimals are understood, to the nearest nanosecond.
    """
    if not tokens:
        return np.empty(0, np.int64)
    text = b",".join(tokens).replace(b'"', b"")
    plain = _plain_nanoseconds(text, len(tokens))
    if plain is not None:
        return plain
    return np.fromiter((_one(bytes(token)) for token in tokens), np.int64, len(tokens))


def _plain_nanoseconds(text: bytes, count: int) -> Array | None:
    """All tokens at once where each is digits with at most three decimals, else None."""
    chars = np.frombuffer(text, np.uint8)
    end = np.append(np.flatnonzero(chars == _COMMA), len(chars))
    dots = np.flatnonzero(chars == _DOT)
    digits = np.count_nonzero((chars >= _ZERO) & (chars <= _NINE))
    lengths = np.diff(end, prepend=-1) - 1
    if len(end) != count or digits + len(dots) + count - 1 != len(chars):
        return None
    token = np.searchsorted(end, dots)
    decimals = np.zeros(count, np.int64)
    decimals[token] = end[token] - dots - 1
    whole = lengths - decimals
    whole[token] -= 1
    odd = bool((np.diff(token) == 0).any()) or int(decimals.max()) > 3 or int(whole.min()) < 1
    if odd:
        return None
    long = (whole > _MOST_DIGITS) | ((whole == _MOST_DIGITS) & (chars[end - lengths] == _NINE))
    if long.any():
        return None
    values = np.fromstring(text.replace(b".", b""), np.int64, sep=",")
    return np.asarray(values * 10 ** (3 - decimals), np.int64) if len(values) == count else None


def _one(token: bytes) -> int:
    try:
        value = Decimal(token.decode("ascii").strip().strip('"'))
    except (InvalidOperation, UnicodeDecodeError):
        return MISSING
    if not value.is_finite() or value.adjusted() >= _MOST_DIGITS:
        return MISSING
    exact = int((value * 1000).to_integral_value(ROUND_HALF_EVEN))
    return exact if abs(exact) < 1 << 63 else MISSING


def integer(value: object, default: int) -> int:
    """A whole number that a field holds as int, float or text, as signed 64 bits; the default where it holds none."""
    if isinstance(value, str):
        try:
            value = int(value, 0)
        except ValueError:
            return default
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    if not isinstance(value, int):
        return default
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def small(value: object, default: int) -> int:
    """`integer` of a value that is a count or a number of something, the default where it is no such thing."""
    found = integer(value, default)
    return found if 0 <= found < 1 << 31 else default


def integers(values: Sequence[object], default: int) -> Array:
    """`integer` of each value."""
    try:
        return np.array([default if v is None else v for v in values], np.int64)
    except (OverflowError, TypeError, ValueError):
        return np.fromiter((integer(v, default) for v in values), np.int64, len(values))


def identities(values: Sequence[object]) -> Array:
    """Numbers that only tell things apart, as signed 64 bits. 0 stands for none, also for negative ones.

    Some writers print 64-bit numbers without a sign: 2^64-1 is a number, -1 is none.
    """
    try:
        numbers = np.array([0 if v is None else v for v in values], np.int64)
    except (OverflowError, TypeError, ValueError):
        return np.fromiter((_identity(value) for value in values), np.int64, len(values))
    return np.maximum(numbers, 0)


def _identity(value: object) -> int:
    is_negative = str(value).strip().startswith("-")
    return 0 if is_negative else integer(value, 0)
