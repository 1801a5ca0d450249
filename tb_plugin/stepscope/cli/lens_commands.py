"""`stepscope views`, `throughput`, `incore` and `dcn`: their flags are the lens's option table."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.arguments import keep_sources, path
from stepscope.cli.executions import add_shape, print_shape
from stepscope.cli.output import print_document, print_problems, problems_of, say
from stepscope.cli.view_output import parse_output, write_view
from stepscope.errors import StepscopeError
from stepscope.lenses.options import OptionSpec
from stepscope.session import options as option_tables
from stepscope.session.opening import open as open_source
from stepscope.session.results import ViewsAnswer
from stepscope.session.source import Source

_HELP = {
    "views": "which op, scope, line of code or graph node costs the time and memory",
    "throughput": "how fast the run is, on average and right now",
    "incore": "which phase inside one fused kernel is long",
    "dcn": "which cross-slice collective stalls the accelerator",
}


def add_parsers(commands: Any) -> None:
    """Adds one command per lens."""
    for lens, text in _HELP.items():
        parser = commands.add_parser(lens, help=text, description=f"{lens}: {text}.")
        add_choice(parser, several=lens != "views")
        parser.add_argument("--compare", type=path, metavar="SOURCE", help="compare with this source")
        parser.add_argument("--compare-run", metavar="RUN", help="the run of the source to compare with")
        for spec in option_tables.TABLES[lens]:
            add_option(parser, spec)
        if lens == "views":
            add_shape(parser)
        parser.set_defaults(run_command=run, lens=lens, **({} if lens == "views" else {"shape": None}))


def add_choice(parser: argparse.ArgumentParser, *, several: bool) -> None:
    """Adds what every asking command takes: the source, the format and the choice of a record."""
    parser.add_argument(
        "source", nargs="+" if several else 1, type=path, metavar="SOURCE", help="log directory, run, or file"
    )
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.add_argument("--run", action="append", metavar="NAME", help="run or pattern; may be given several times")
    parser.add_argument("--name", help="the record's name")
    parser.add_argument("--record-step", type=int, help="the record's training step")


def add_option(parser: argparse.ArgumentParser, spec: OptionSpec) -> None:
    """Adds the flag of an option, by its own name and with dashes."""
    names = list(dict.fromkeys((f"--{spec.name}", f"--{spec.name.replace('_', '-')}")))
    shown = "" if spec.default in (None, (), "") else f" (default {_shown(spec.default)})"
    help_text = f"{spec.help}{shown}".replace("%", "%%")
    common: dict[str, Any] = {"dest": f"option_{spec.name}", "default": None, "help": help_text}
    if spec.choices:
        common["choices"] = spec.choices
    if spec.type == "bool":
        parser.add_argument(*names, nargs="?", const="true", metavar="BOOL", **common)
    elif spec.type == "strings":
        parser.add_argument(*names, action="append", metavar="LIST", **common)
    elif spec.choices:
        parser.add_argument(*names, **common)
    else:
        parser.add_argument(*names, metavar=spec.type.upper(), **common)


def _shown(default: Any) -> str:
    return ",".join(default) if isinstance(default, tuple) else str(default)


def chosen_options(options: argparse.Namespace, lens: str) -> dict[str, Any]:
    """The lens options that were given on the command line."""
    given: dict[str, list[str]] = {}
    for spec in option_tables.TABLES[lens]:
        value = getattr(options, f"option_{spec.name}")
        if value is not None:
            given[spec.name] = value if isinstance(value, list) else [value]
    parsed = option_tables.parse(lens, given)
    return {name: getattr(parsed, name) for name in given}


def opened(options: argparse.Namespace, source: str, *, compare: bool = False) -> Source:
    """The source with the record that was chosen."""
    runs = ([options.compare_run] if options.compare_run else None) if compare else options.run
    return open_source(source, run=runs, name=options.name, record_step=options.record_step)


def run(options: argparse.Namespace) -> int:
    """Answers a lens command."""
    if options.shape:
        print_shape(opened(options, options.source[0]), options.shape, options.format)
        return 0
    lens, values = options.lens, chosen_options(options, options.lens)
    baseline = opened(options, options.compare, compare=True) if options.compare else None
    documents, code = [], 0
    for place in options.source:
        try:
            source = opened(options, place)
            known = source.problems()
            print_problems(known)
            result = getattr(source, lens)(compare=baseline, **values)
            told = {(problem.where, problem.what) for problem in known}
            found = [*source.problems(), *problems_of(result)]
            print_problems([one for one in found if (one.where, one.what) not in told])
        except StepscopeError as error:
            if len(options.source) == 1:
                raise
            say(f"{place}: {error}")
            code = max(code, error.exit_code)
            continue
        if lens == "views" and baseline is None and _written(options, result, values):
            continue
        documents.append(result.to_json())
    if documents:
        print_document(lens, _joined(documents), options.format)
    return code


def _written(options: argparse.Namespace, answer: ViewsAnswer, values: dict[str, Any]) -> bool:
    _, file = parse_output(values.get("output") or "stdout")
    if file is not None:
        keep_sources(file, options.source)
    compat = values.get("compat") == "tfprof" and options.format == "table"
    return write_view(answer, values.get("output") or "", compat=compat)


def _joined(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The documents of several sources as one: a single one is itself, series are put in one list."""
    if len(documents) == 1:
        return documents[0]
    if all("series" in document for document in documents):
        return {"series": [series for document in documents for series in document["series"]]}
    return {"sources": documents}
