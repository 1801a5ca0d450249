"""The option tables of the lenses: flags, query parameters, chips and docs are made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepscope.errors import OptionError
from stepscope.lenses.dcn.options import DcnOptions
from stepscope.lenses.incore.options import InCoreOptions
from stepscope.lenses.options import OptionSpec, specs
from stepscope.lenses.throughput.options import ThroughputOptions
from stepscope.lenses.views.options import ViewsOptions

OPTION_TYPES: dict[str, type[Any]] = {
    "views": ViewsOptions,
    "throughput": ThroughputOptions,
    "incore": InCoreOptions,
    "dcn": DcnOptions,
}
TABLES: dict[str, tuple[OptionSpec, ...]] = {lens: specs(kind) for lens, kind in OPTION_TYPES.items()}


def build(lens: str, values: Mapping[str, Any]) -> Any:
    """The options of a lens from Python values; those left out keep their default.

    Raises:
        OptionError: A name that the lens does not have, or a value of a wrong type.
    """
    table = {spec.name: spec for spec in TABLES[lens]}
    unknown = sorted(set(values) - set(table))
    if unknown:
        raise OptionError(
            f"{lens} has no option {unknown[0]!r}", where=lens, remedy=f"Choose from {', '.join(sorted(table))}"
        )
    checked = {name: _checked(lens, table[name], value) for name, value in values.items()}
    return OPTION_TYPES[lens](**checked)


def parse(lens: str, texts: Mapping[str, Sequence[str]]) -> Any:
    """The options of a lens from texts, as a command line or a query string gives them.

    A list is written as several values, or as one with commas, as tfprof has it.
    """
    table = {spec.name: spec for spec in TABLES[lens]}
    known = {name: given for name, given in texts.items() if name in table}
    return build(lens, {name: _from_text(lens, table[name], given) for name, given in known.items()})


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
    return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[text.lower()]


_EMPTY_IS_A_VALUE = ("order_by",)
"""Options whose '' does not mean "decide for me": no order is the natural one."""
_READERS: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": _bool}
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
    wrong = isinstance(value, bool) and spec.type != "bool"
    if wrong or not isinstance(value, _PYTHON[spec.type]):
        raise _wrong(lens, spec, value)
    if spec.type == "strings":
        return tuple(map(_text, value))
    if spec.type in ("str", "float"):
        value = _text(value) if spec.type == "str" else float(value)
    if spec.choices and value not in spec.choices:
        raise _wrong(lens, spec, value)
    return value


def _text(value: Any) -> str:
    """A text that has a UTF-8 form: an argument of the command may be of any bytes."""
    return str(value).encode("utf-8", "replace").decode()


def _wrong(lens: str, spec: OptionSpec, value: Any) -> OptionError:
    wanted = "one of " + ", ".join(spec.choices) if spec.choices else f"a value of type {spec.type}"
    return OptionError(f"option {spec.name} is {value!r}", where=lens, remedy=f"Give {wanted}")
