"""Options of the lenses from Python values and from texts. Each is checked once; the lens's dataclass is built once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stepscope.errors import OptionError
from stepscope.lenses.options import OptionSpec, specs
from stepscope.lenses.registry import LENSES

TABLES: dict[str, tuple[OptionSpec, ...]] = {lens.name: specs(lens.options_type) for lens in LENSES}
"""The options of each lens: flags, query parameters, chips and docs are made from them."""

Values = Mapping[str, Any]
"""Checked values of those options that were given."""

_EMPTY_IS_A_VALUE = ("order_by",)
"""Options whose '' does not mean "decide for me": no order is the natural one."""


def check(lens: str, given: Values) -> dict[str, Any]:
    """Checks Python values.

    Raises:
        OptionError: The lens has no option of that name, or a value is of a wrong type.
    """
    table = {spec.name: spec for spec in TABLES[lens]}
    unknown = sorted(set(given) - set(table))
    if unknown:
        known = ", ".join(sorted(table))
        raise OptionError(
            f"unknown option {unknown[0]!r}", where=lens, remedy=f"Choose from: {known}"
        )
    return {name: _checked(lens, table[name], value) for name, value in given.items()}


def parse(lens: str, texts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Reads values from texts, as a command line or a query string gives them. Other names are ignored.

    A list is written as several values, or as one with commas, as tfprof has it.

    Raises:
        OptionError: A text cannot be read as the option's type.
    """
    values = {}
    for spec in TABLES[lens]:
        if spec.name in texts:
            values[spec.name] = _from_text(lens, spec, texts[spec.name])
    return check(lens, values)


def _from_text(lens: str, spec: OptionSpec, given: Sequence[str]) -> Any:
    if spec.type == "strings":
        return tuple(part for text in given for part in text.split(",") if part)
    text = given[-1].strip()
    if spec.optional and not text and spec.name not in _EMPTY_IS_A_VALUE:
        return None
    try:
        return _READERS[spec.type](text)
    except (ValueError, KeyError):
        raise _wrong(lens, spec, text) from None


def _bool(text: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    return words[text.lower()]


_READERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str, "bool": _bool}
_PYTHON: dict[str, tuple[type[Any], ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str, int),
    "bool": (bool,),
    "strings": (list, tuple),
}


def _checked(lens: str, spec: OptionSpec, value: Any) -> Any:
    if value is None and spec.optional:
        return None
    is_misused_bool = isinstance(value, bool) and spec.type != "bool"
    if is_misused_bool or not isinstance(value, _PYTHON[spec.type]):
        raise _wrong(lens, spec, value)
    if spec.type == "strings":
        return tuple(_text(part) for part in value)
    if spec.type == "str":
        value = _text(value)
    if spec.type == "float":
        value = float(value)
    if spec.choices and value not in spec.choices:
        raise _wrong(lens, spec, value)
    return value


def _text(value: Any) -> str:
    """A text that has a UTF-8 form: an argument of the command may be of any bytes."""
    return str(value).encode("utf-8", "replace").decode()


_TYPE_WORDS = {
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "strings": "a list of strings",
}


def _wrong(lens: str, spec: OptionSpec, value: Any) -> OptionError:
    if spec.choices:
        remedy = f"Choose from: {', '.join(spec.choices)}"
        return OptionError(f"invalid {spec.name} {value!r}", where=lens, remedy=remedy)
    wanted = _TYPE_WORDS[spec.type]
    return OptionError(
        f"{spec.name} must be {wanted}, got {value!r}", where=lens, remedy=f"Give {wanted}"
    )
