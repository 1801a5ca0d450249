"""What a training loop gives: numbers of many types, checked before they can do harm, and shown whatever they are."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable
from typing import Any, TypeVar

from stepscope.errors import OptionError

LARGEST = 2**62
T = TypeVar("T")


def tried(read: Callable[[Any], T], value: Any) -> T | Exception:
    """What is read of a value, or the error where it cannot be: a foreign type may raise anything."""
    try:
        return read(value)
    except Exception as error:
        return error


def integer(value: Any) -> int:
    """The integer that a float, a numpy scalar or a tensor of one element stands for.

    Raises:
        ValueError: It is no whole number of 63 bits. A value of a foreign type may raise anything.
    """
    number = int(value)
    if number != value or abs(number) >= LARGEST:
        raise ValueError("value must fit in a signed 64-bit integer")
    return number


def shown(value: object) -> str:
    """The value in a message: short, and never an error."""
    text = tried(reprlib.repr, value)
    return text if isinstance(text, str) else f"a {type(value).__name__}"


def whole(name: str, value: Any, least: int) -> int:
    """The whole number of a setting.

    Raises:
        OptionError: It is none, or below the least.
    """
    number = tried(integer, value)
    if isinstance(number, Exception) or number < least:
        raise OptionError(
            f"{name} is {shown(value)}", remedy=f"Pass a whole number of at least {least}"
        )
    return number


def real(name: str, value: Any, largest: float = math.inf) -> float:
    """The number of a setting, not below 0.

    Raises:
        OptionError: It is none, or out of its range.
    """
    number = tried(float, value)
    if isinstance(number, Exception) or not 0.0 <= number <= largest or math.isinf(number):
        limit = "" if math.isinf(largest) else f" to {largest:g}"
        raise OptionError(f"{name} is {shown(value)}", remedy=f"Pass a number from 0{limit}")
    return number


def word(name: str, value: Any) -> str:
    """The text of a setting.

    Raises:
        OptionError: It is none.
    """
    if not isinstance(value, str):
        raise OptionError(f"{name} is {shown(value)}", remedy="Pass a string")
    return value
