"""Imports go down only, as docs/architecture.md says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "tb_plugin" / "stepscope"
# What a room may import, with all that those may import in turn.
ON = {
    "pb": set(),
    "model": {"pb"},
    "statistics": set(),
    "lenses": {"model", "statistics"},
    "findings": {"lenses"},
    "store": {"model"},
    "sources": {"model"},
    "exporting": {"lenses", "findings"},
    "session": {"exporting", "store", "sources"},
    "panel": {"session"},
    "shim": {"model", "lenses", "store", "sources"},
    "integrations": {"shim"},
    "plugin": {"panel"},
    "cli": {"panel", "shim"},
}
BESIDE = ("errors", "version")
PURE = ("model", "statistics", "lenses", "findings")
LENSES = ("views", "trace", "throughput", "incore", "dcn")
FRAMEWORKS = {
    "tensorboard",
    "torch",
    "tensorflow",
    "jax",
    "keras",
    "lightning",
    "transformers",
    "dask",
    "distributed",
}
OUTSIDE = {
    "os",
    "io",
    "pathlib",
    "shutil",
    "tempfile",
    "socket",
    "subprocess",
    "urllib",
    "http",
    "mmap",
    "glob",
}
FILES = sorted(
    path for path in PACKAGE.rglob("*.py") if "pb" not in path.relative_to(PACKAGE).parts
)


def below(room: str) -> set[str]:
    """The rooms that a room may import."""
    return {room} | {deeper for direct in ON[room] for deeper in below(direct)}


def imports(tree: ast.AST) -> Iterator[str]:
    """The dotted names that a module imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class _WithoutTypes(ast.NodeTransformer):
    """Leaves out what is imported for annotations alone."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" else node


def test_every_room_has_a_rule() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert rooms == ON.keys()


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.parent != PACKAGE], ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_imports_go_down(path: Path) -> None:
    room, *inner = path.relative_to(PACKAGE).with_suffix("").parts
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for name in imports(tree):
        parts = name.split(".")
        if name == "stepscope":
            assert room == "cli", f"{room} imports the public names, which stand above it"
        elif parts[0] == "stepscope" and parts[1] not in BESIDE:
            assert parts[1] in below(room), f"{room} imports {name}"
            if (
                room == "lenses"
                and inner[0] in LENSES
                and parts[1] == "lenses"
                and parts[2] in LENSES
            ):
                assert parts[2] == inner[0], f"the lens {inner[0]} imports {name}"
        if room in PURE:
            assert parts[0] not in FRAMEWORKS | OUTSIDE, f"{room} is pure, but imports {name}"
    if room in PURE:
        called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert not any(
            isinstance(function, ast.Name) and function.id == "open" for function in called
        )


@pytest.mark.parametrize("name", BESIDE)
def test_what_stands_beside_the_rooms_imports_none(name: str) -> None:
    names = imports(ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8")))
    assert not any(name.startswith("stepscope") for name in names)


def test_no_modules_need_each_other() -> None:
    files = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in FILES
    }
    modules = {name.removesuffix(".__init__"): path for name, path in files.items()}
    needs = {}
    for module, path in modules.items():
        named = imports(_WithoutTypes().visit(ast.parse(path.read_text(encoding="utf-8"))))
        needs[module] = {
            name if name in modules else name.rpartition(".")[0] for name in named
        } & modules.keys() - {module}
    TopologicalSorter(needs).prepare()


def test_test_files_have_names_that_pytest_can_tell_apart() -> None:
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
