"""The command `stepscope`: its parser, and the one place where errors become exit codes."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from stepscope.errors import StepscopeError
from stepscope.version import __version__


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    from stepscope.cli import (
        advise,
        baseline,
        check,
        compare,
        demo,
        findings,
        formats,
        goodput,
        history,
        importing,
        lens_commands,
        report,
    )

    parser = argparse.ArgumentParser(
        prog="stepscope", description="StepScope for TensorBoard: where a training step goes."
    )
    parser.add_argument("--version", action="version", version=f"stepscope {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    runs_commands = (compare, check, baseline, history, goodput)
    for module in (
        demo,
        importing,
        lens_commands,
        findings,
        *runs_commands,
        advise,
        report,
        formats,
    ):
        module.add_parsers(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Returns:
        0 done; 1 a source could not be read; 2 wrong usage.
    """
    from stepscope.cli.output import say

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What the terminal or the file cannot carry is written as its number.
            stream.reconfigure(errors="backslashreplace")
    options = build_parser().parse_args(arguments)
    try:
        code: int = options.run_command(options)
        sys.stdout.flush()
    except StepscopeError as error:
        say(str(error))
        return error.exit_code
    except BrokenPipeError:
        # Nobody reads on: what is still buffered has nowhere to go, and Python would complain when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        what = f"{error.filename or 'output'}: {error.strerror or error}"
        say(f"{what}. Check the path, its permissions, and free disk space")
        return 1
    except MemoryError:
        say("out of memory. Select fewer records with --run and --name, or profile fewer steps")
        return 1
    except KeyboardInterrupt:
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
