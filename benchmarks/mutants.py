"""Counts the mutants of a room that its tests kill.

A mutant is the package with one place changed: a comparison flipped, a condition lost or negated, a
number one more or less, an addition made a subtraction, `and` made `or`. Each runs the room's tests
in a copy of the package, so the checkout stays as it is. A mutant that survives is printed with its
line: either it changes nothing (an equivalent mutant, such as `<=` where the values are never
equal), or a test is missing.

    python benchmarks/mutants.py lenses/dcn --count 30 --seed 1
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("tb_plugin/stepscope")
COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*"}
# Tests that hold a room beside those in the folder of its own name.
FURTHER_TESTS = {
    "sources/torch_trace": ["tests/sources", "-k", "torch"],
    "sources/xplane": ["tests/sources", "tests/lenses/dcn", "-k", "xplane or golden"],
    "sources/tfprof": ["tests/sources", "tests/lenses/views", "-k", "tfprof or golden"],
    "sources/throughput": ["tests/sources", "-k", "throughput"],
    "sources/swimlane": ["tests/sources", "-k", "swimlane"],
}


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes:
        path: The file, relative to the package.
        line: Counted from 1.
        start: Byte offset of what is replaced, in the file.
        end: Byte offset after it.
        text: What stands there instead.
    """

    path: Path
    line: int
    start: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        """Returns the changed source."""
        return source[: self.start] + self.text.encode() + source[self.end :]


class _Finder(ast.NodeVisitor):
    """Gathers the mutants of one file."""

    def __init__(self, path: Path, source: bytes) -> None:
        self._path = path
        self._source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self.mutants: list[Mutant] = []

    def _offset(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column

    def _add(self, line: int, start: int, end: int, text: str) -> None:
        self.mutants.append(Mutant(self._path, line, start, end, text))

    def _between(self, left: ast.expr, right: ast.expr) -> tuple[int, int]:
        """Returns where the operator between two operands may stand."""
        start = self._offset(left.end_lineno or left.lineno, left.end_col_offset or 0)
        return start, self._offset(right.lineno, right.col_offset)

    def _replace_operator(self, left: ast.expr, right: ast.expr, text: str) -> None:
        start, end = self._between(left, right)
        between = self._source[start:end].decode()
        stripped = between.strip(" ()\n")
        if stripped and between.count(stripped) == 1:
            self._add(left.lineno, start, end, between.replace(stripped, text))

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, right, operator in zip(operands, operands[1:], node.ops, strict=False):
            self._replace_operator(left, right, COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = "or" if isinstance(node.op, ast.And) else "and"
        self._replace_operator(node.values[0], node.values[1], other)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        text = ARITHMETIC.get(type(node.op))
        if text is not None and not _is_text(node):
            self._replace_operator(node.left, node.right, text)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            start = self._offset(node.lineno, node.col_offset)
            self._add(node.lineno, start, start + len("not"), "")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if not _is_type_checking(node.test):
            start = self._offset(node.test.lineno, node.test.col_offset)
            end = self._offset(node.test.end_lineno or 0, node.test.end_col_offset or 0)
            self._add(node.test.lineno, start, end, "False")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            start = self._offset(node.lineno, node.col_offset)
            end = self._offset(node.end_lineno or 0, node.end_col_offset or 0)
            self._add(node.lineno, start, end, str(node.value + 1))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) or _is_string(side) for side in sides
    )


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _is_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def find_mutants(room: str) -> Iterator[Mutant]:
    """All mutants of a room, which is a folder or a file below the package."""
    base = ROOT / PACKAGE / room
    files = sorted(base.rglob("*.py")) if base.is_dir() else [base]
    for path in files:
        source = path.read_bytes()
        finder = _Finder(path.relative_to(ROOT / PACKAGE), source)
        finder.visit(ast.parse(source))
        yield from finder.mutants


def tests_of(room: str) -> list[str]:
    """The arguments for pytest that run the tests of a room."""
    if room in FURTHER_TESTS:
        return FURTHER_TESTS[room]
    folder = ROOT / "tests" / room
    return [str(folder if folder.is_dir() else folder.parent)]


def passes(copy: Path, tests: list[str], timeout_s: float) -> bool:
    """Whether the tests pass with the package in a folder. A mutant that hangs does not pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=timeout_s
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> int:
    """Prints the survivors of each room and how many mutants died."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "rooms", nargs="+", help="folders or files below the package, such as lenses/dcn"
    )
    parser.add_argument("--count", type=int, default=30, help="mutants of each room (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: 1)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tb_plugin"
        shutil.copytree(ROOT / "tb_plugin", copy, ignore=shutil.ignore_patterns("__pycache__"))
        for room in chosen.rooms:
            run_room(room, copy, chosen.count, chosen.seed)
    return 0


def run_room(room: str, copy: Path, count: int, seed: int) -> None:
    """Runs some mutants of a room and prints what became of them."""
    mutants = list(find_mutants(room))
    drawn = random.Random(seed).sample(mutants, min(count, len(mutants)))
    tests = tests_of(room)
    begin = time.monotonic()
    if not passes(copy, tests, timeout_s=1800):
        raise SystemExit(f"the tests of {room} fail without a mutant")
    timeout_s = 30 + 5 * (time.monotonic() - begin)
    survivors = []
    for mutant in drawn:
        path = copy / "stepscope" / mutant.path
        source = path.read_bytes()
        path.write_bytes(mutant.apply(source))
        if passes(copy, tests, timeout_s):
            survivors.append(mutant)
            print(f"survived {describe(mutant, source)}", flush=True)
        path.write_bytes(source)
    print(f"{room}: {len(drawn) - len(survivors)} of {len(drawn)} mutants died", flush=True)


def describe(mutant: Mutant, source: bytes) -> str:
    """Returns where a mutant is and the line before and after it."""
    before = source.splitlines()[mutant.line - 1].strip().decode()
    after = mutant.apply(source).splitlines()[mutant.line - 1].strip().decode()
    return f"{mutant.path}:{mutant.line}\n    {before}\n    {after}"


if __name__ == "__main__":
    raise SystemExit(main())
