"""How a lens declares its options, so that flags, routes, chips and docs come from one place.

A lens keeps its options in a frozen dataclass whose fields are made with `option`. The dataclass is the typed
interface of the analysis; `specs` is the table that the queries turn into flags and query parameters.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin, get_type_hints

ValueType = Literal["int", "float", "str", "bool", "strings"]


@dataclass(frozen=True)
class OptionSpec:
    """One option of a lens.

    Attributes:
        name: The word used for the flag, the query parameter, the chip and the Python keyword.
        type: How its text is read; `strings` is a list.
        default: The value where it is not given.
        help: One sentence, with the unit.
        choices: The allowed words, empty when any value is.
        optional: Whether None is a value, meaning "decide for me".
    """

    name: str
    type: ValueType
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    optional: bool = False


def option(default: Any, help: str, *, choices: tuple[str, ...] = ()) -> Any:
    """Declares an option as a field of a lens's options dataclass. The field's annotation gives the type."""
    return field(default=default, metadata={"help": help, "choices": choices})


def specs(options_type: type[Any]) -> tuple[OptionSpec, ...]:
    """The option table of a lens's options dataclass, in order of declaration."""
    hints = get_type_hints(options_type)
    return tuple(_spec(f, hints[f.name]) for f in dataclasses.fields(options_type))


def _spec(spec: dataclasses.Field[Any], hint: Any) -> OptionSpec:
    arguments = [a for a in get_args(hint) if a is not type(None)]
    optional = type(None) in get_args(hint)
    bare = arguments[0] if optional else hint
    kind: ValueType = "strings" if get_origin(bare) is tuple else _NAMES[bare]
    return OptionSpec(
        spec.name, kind, spec.default, spec.metadata["help"], spec.metadata["choices"], optional
    )


_NAMES: dict[Any, ValueType] = {int: "int", float: "float", str: "str", bool: "bool"}
