"""tfprof's `--output`: where a view goes, and in which form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stepscope.errors import OptionError
from stepscope.exporting.json import to_json
from stepscope.session.results import ViewsAnswer

FORMS = ("stdout", "none", "file", "timeline", "pprof", "speedscope")


def parse_output(text: str) -> tuple[str, Path | None]:
    """The form and the file of an `--output` value such as `timeline:outfile=F`.

    Raises:
        OptionError: An unknown form, a key other than `outfile`, or no file where one is needed.
    """
    form, _, rest = text.partition(":")
    key, _, file = rest.partition("=")
    if form not in FORMS or (rest and key != "outfile"):
        raise OptionError(
            f"output is {text!r}",
            remedy="Give stdout, none, or file, timeline, pprof, speedscope with :outfile=FILE",
        )
    if form in ("stdout", "none"):
        return form, None
    if not file:
        raise OptionError(f"output {form} needs a file", remedy=f"Give {form}:outfile=FILE")
    return form, Path(file)


def write_view(answer: ViewsAnswer, output: str, *, compat: bool) -> bool:
    """Does what `--output` asks for, and says whether the view is done with.

    Args:
        answer: The view.
        output: The option's value, empty where it is not given.
        compat: Whether tfprof's own text is wanted on the standard output.
    """
    form, path = parse_output(output or "stdout")
    if form == "none":
        return True
    if path is None:
        if compat:
            print(answer.to_text(), end="")
        return compat
    _WRITERS[form](answer, path)
    return True


def _write_text(answer: ViewsAnswer, path: Path) -> None:
    path.write_text(answer.to_text(), encoding="utf-8")


def _write_timeline(answer: ViewsAnswer, path: Path) -> None:
    for step, trace in answer.to_timeline().items():
        path.with_name(f"{path.name}_{step}").write_bytes(to_json(trace))


def _write_pprof(answer: ViewsAnswer, path: Path) -> None:
    path.write_bytes(answer.to_pprof())


def _write_speedscope(answer: ViewsAnswer, path: Path) -> None:
    path.write_bytes(to_json(answer.to_speedscope()))


_WRITERS: dict[str, Callable[[ViewsAnswer, Path], None]] = {
    "file": _write_text,
    "timeline": _write_timeline,
    "pprof": _write_pprof,
    "speedscope": _write_speedscope,
}
