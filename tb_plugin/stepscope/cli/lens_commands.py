"""One command for each lens. Its flags are the lens's option table."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stepscope.cli.arguments import keep_sources, path
from stepscope.cli.output import print_document, print_problems, problems_of, say
from stepscope.cli.trace_shapes import SHAPES, add_shape
from stepscope.cli.view_output import parse_output, write_view
from stepscope.errors import StepscopeError
from stepscope.lenses.lens import Scope
from stepscope.lenses.options import OptionSpec
from stepscope.lenses.registry import LENSES, AnyLens, lens_named
from stepscope.session import options as option_tables
from stepscope.session.analysis import hidden_records
from stepscope.session.opening import open as open_source
from stepscope.session.results import ComparisonAnswer, LensAnswer, ViewsAnswer
from stepscope.session.source import Source

Answer = LensAnswer[Any] | ComparisonAnswer


def add_parsers(commands: Any) -> None:
    """Adds one command per lens."""
    for lens in LENSES:
        parser = commands.add_parser(
            lens.name, help=lens.question, description=f"{lens.name}: {lens.question}."
        )
        of_one_record = lens.scope(lens.options_type()) is Scope.RECORD
        add_selection(parser, several=not of_one_record)
        parser.add_argument(
            "--compare", type=path, metavar="SOURCE", help="compare with this source"
        )
        parser.add_argument(
            "--compare-run", metavar="RUN", help="run of the source to compare with"
        )
        for spec in option_tables.TABLES[lens.name]:
            add_option(parser, spec)
        if lens.name == "views":
            add_shape(parser)
            _add_tfprof_inputs(parser)
        parser.set_defaults(run_command=run, lens=lens.name)


class _TfprofInput(argparse.Action):
    """Answers a flag of tfprof's own command with the command to type."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        folder = shlex.quote(str(Path(str(values)).parent))
        parser.error(
            f"{option_string} is not supported: StepScope finds graph, run metadata and op log in one folder. "
            f"Put the files there and type: stepscope views {folder}"
        )


def _add_tfprof_inputs(parser: argparse.ArgumentParser) -> None:
    for name in ("graph_path", "run_meta_path", "op_log_path", "profile_path", "checkpoint_path"):
        parser.add_argument(f"--{name}", f"-{name}", action=_TfprofInput, help=argparse.SUPPRESS)


def add_selection(parser: argparse.ArgumentParser, *, several: bool) -> None:
    """Adds what every query takes: the source, the format, and which record.

    Args:
        parser: The command's parser.
        several: Whether the command takes several sources.
    """
    count = "+" if several else 1
    parser.add_argument(
        "source", nargs=count, type=path, metavar="SOURCE", help="log directory, run, or file"
    )
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.add_argument(
        "--run", action="append", metavar="NAME", help="run or pattern; may be repeated"
    )
    parser.add_argument("--name", help="record name")
    parser.add_argument("--record-step", type=int, help="training step of the record")


def add_option(parser: argparse.ArgumentParser, spec: OptionSpec) -> None:
    """Adds the flag of an option, with underscores, with dashes, and with tfprof's single dash."""
    names = [f"--{spec.name}", f"--{spec.name.replace('_', '-')}", f"-{spec.name}"]
    keywords: dict[str, Any] = {
        "dest": f"option_{spec.name}",
        "default": None,
        "help": _help(spec),
    }
    if spec.choices:
        keywords["choices"] = spec.choices
    if spec.type == "bool":
        keywords |= {"nargs": "?", "const": "true", "metavar": "BOOL"}
    elif spec.type == "strings":
        keywords |= {"action": "append", "metavar": "LIST"}
    elif not spec.choices:
        keywords["metavar"] = spec.type.upper()
    parser.add_argument(*dict.fromkeys(names), **keywords)


def _help(spec: OptionSpec) -> str:
    text = spec.help
    if spec.default not in (None, (), ""):
        default = ",".join(spec.default) if isinstance(spec.default, tuple) else spec.default
        text = f"{text} (default {default})"
    return text.replace("%", "%%")


def given_options(options: argparse.Namespace, lens: AnyLens) -> dict[str, Any]:
    """Checked values of the lens options that were given on the command line."""
    texts: dict[str, list[str]] = {}
    for spec in option_tables.TABLES[lens.name]:
        value = getattr(options, f"option_{spec.name}")
        if value is not None:
            texts[spec.name] = value if isinstance(value, list) else [value]
    return option_tables.parse(lens.name, texts)


def opened(options: argparse.Namespace, source: str) -> Source:
    """A source with the record that was selected."""
    return open_source(source, run=options.run, name=options.name, record_step=options.record_step)


def _opened_baseline(options: argparse.Namespace) -> Source | None:
    if not options.compare:
        return None
    run = options.compare_run or None
    return open_source(options.compare, run=run, name=options.name, record_step=options.record_step)


def run(options: argparse.Namespace) -> int:
    """Runs the command of a lens."""
    lens = lens_named(options.lens)
    values = given_options(options, lens)
    if getattr(options, "shape", None):
        lens = lens_named("trace")
        _, values = SHAPES[options.shape]
    baseline = _opened_baseline(options)

    documents = []
    code = 0
    for place in options.source:
        try:
            answer = _ask(opened(options, place), lens, values, baseline)
        except StepscopeError as error:
            if len(options.source) == 1:
                raise
            say(f"{place}: {error}")
            code = max(code, error.exit_code)
            continue
        if isinstance(answer, ViewsAnswer) and _written(options, answer, values):
            continue
        documents.append(answer.to_json())
    if documents:
        document = _joined(documents)
        print_document(lens, document, lens.options_type(**values), options.format)
    return code


def _ask(source: Source, lens: AnyLens, values: dict[str, Any], baseline: Source | None) -> Answer:
    """The answer. Prints what cannot be read, once."""
    before = source.problems()
    print_problems(before)
    answer = source.ask(lens, values, baseline)
    printed = {(problem.where, problem.what) for problem in before}
    after = [*source.problems(), *problems_of(answer)]
    print_problems([one for one in after if (one.where, one.what) not in printed])
    print_problems(hidden_records(source, lens, lens.options_type(**values)))
    return answer


def _written(options: argparse.Namespace, answer: ViewsAnswer, values: dict[str, Any]) -> bool:
    """Whether `--output` wrote the view somewhere else."""
    output = values.get("output") or ""
    _, file = parse_output(output or "stdout")
    if file is not None:
        keep_sources(file, options.source)
    compat = values.get("compat") == "tfprof" and options.format == "table"
    return write_view(answer, output, compat=compat)


def _joined(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The documents of several sources as one. Series are put in one list."""
    if len(documents) == 1:
        return documents[0]
    if not all("series" in document for document in documents):
        return {"sources": documents}
    series = []
    for document in documents:
        series += document["series"]
    return {"series": series}
