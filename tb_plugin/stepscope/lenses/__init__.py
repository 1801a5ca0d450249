"""Pure analysis: a record and options go in, a result comes out. No I/O, no state, no TensorBoard.

Each folder is a lens; `lenses/registry.py` lists them.
"""

from pkgutil import iter_modules


def folders() -> tuple[str, ...]:
    """The names of the lenses, without importing any: TensorBoard asks for routes before they are needed."""
    return tuple(module.name for module in iter_modules(__path__) if module.ispkg)
