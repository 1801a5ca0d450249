"""`stepscope import`: foreign files into a log directory."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.arguments import path
from stepscope.cli.output import printable, say


def add_parsers(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("import", help="import files of other tools into a log directory")
    parser.add_argument("source", nargs="+", type=path, metavar="SOURCE", help="file or folder")
    parser.add_argument("--logdir", required=True, type=path, help="log directory to write to")
    parser.add_argument(
        "--run",
        metavar="NAME",
        help="run name to write to (default: one per file, derived from its contents)",
    )
    parser.add_argument("--name", help="record name")
    parser.add_argument(
        "--jobs", type=int, default=0, metavar="N", help="processes (default: one per processor)"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a running Dask scheduler to work on"
    )
    parser.set_defaults(run_command=run)


def run(options: argparse.Namespace) -> int:
    """Imports every file, and says what was written and what could not be."""
    from stepscope.session.importing import executor, expand, import_files

    found = expand(options.source)
    code = 0
    for note in dict.fromkeys(group.note for group, _ in found.files if group.note):
        say(note)
    with executor(options.jobs, options.scheduler, len(found.files)) as pool:
        for outcome in import_files(
            found.files, options.logdir, pool, run=options.run, name=options.name, bar=True
        ):
            for line in outcome.warnings:
                say(line)
            if outcome.error:
                code = 1
                say(outcome.error)
            else:
                print(printable(f"{outcome.path} -> {outcome.run}: {', '.join(outcome.written)}"))
    if found.skipped:
        named = ", ".join(file.name for file in found.skipped[:5])
        say(f"skipped {len(found.skipped)} files of no recognised format: {named}")
    return code
