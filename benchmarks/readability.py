"""How the code reads, in figures, beside packages that read well.

    python benchmarks/readability.py [PATH ...]

Each PATH is a package or a folder; without one, this package and those of httpx, werkzeug, attrs and memray that are
installed. The figures are a thermometer: they say where to look, not what to reach.
"""

from __future__ import annotations

import ast
import importlib.util
import io
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

OURS = Path(__file__).resolve().parent.parent / "tb_plugin" / "stepscope"
ANCHORS = ("httpx", "werkzeug", "attr", "memray")
GENERATED = ("pb", "lens_methods.py")
DOORS = ("session", "shim", "integrations", "__init__.py")
"""Rooms whose functions users call."""

LEAST_BODY_LINES = 6
LONG_LINE = 100
MANY_POSITIONAL = 5
SHORT_MODULE_LINES = 60

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.IfExp, ast.ExceptHandler, ast.Assert)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Figures:
    """What is counted in a package.

    Attributes:
        lines: Lines that are not empty.
        density: Cyclomatic complexity per body line, of each function of six lines and more.
        counts: How often each construct appears.
        imports: For each module how many others import it.
        sizes: Lines of each module.
    """

    lines: int = 0
    density: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    imports: Counter[str] = field(default_factory=Counter)
    sizes: dict[str, int] = field(default_factory=dict)


def measure(folder: Path) -> Figures:
    """Counts a package."""
    figures = Figures()
    modules: dict[str, ast.Module] = {}
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        if any(part in GENERATED or part.startswith((".", "_vendor")) for part in relative.parts):
            continue
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        modules[module_name(folder, path)] = tree
        count_lines(figures, text)
        count_nodes(figures, tree)
        if folder != OURS or relative.parts[0] in DOORS:
            count_door(figures, tree)
        figures.sizes[module_name(folder, path)] = len(text.splitlines())
    count_imports(figures, modules)
    return figures


def module_name(folder: Path, path: Path) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def count_lines(figures: Figures, text: str) -> None:
    """Counts lines, long lines and comments."""
    for line in text.splitlines():
        if line.strip():
            figures.lines += 1
        if len(line) > LONG_LINE:
            figures.counts["long lines"] += 1
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_comment = token.type == tokenize.COMMENT
        if is_comment and not token.string.startswith(("# type:", "# noqa", "# fmt:", "#!")):
            figures.counts["comments"] += 1


def count_nodes(figures: Figures, tree: ast.Module) -> None:
    """Counts constructs of statements and expressions, and the density of functions."""
    for node in ast.walk(tree):
        if isinstance(node, COMPREHENSIONS):
            figures.counts["comprehensions"] += 1
            inner = (child for child in ast.walk(node) if child is not node)
            if len(node.generators) > 1 or any(
                isinstance(child, COMPREHENSIONS) for child in inner
            ):
                figures.counts["nested comprehensions"] += 1
        elif isinstance(node, ast.IfExp):
            figures.counts["conditional expressions"] += 1
        elif isinstance(node, ast.Assign):
            is_pair = isinstance(node.value, ast.Tuple) and isinstance(node.targets[0], ast.Tuple)
            figures.counts["tuple assignments"] += is_pair
        elif isinstance(node, ast.Call):
            figures.counts["calls with many positional arguments"] += (
                len(node.args) >= MANY_POSITIONAL
            )
        elif isinstance(node, FUNCTIONS):
            count_density(figures, node)


def count_density(figures: Figures, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """The cyclomatic complexity of a function per line of its body, where it has six lines and more."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    if not body:
        return
    lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
    if lines < LEAST_BODY_LINES:
        return
    complexity = 1
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, BRANCHES):
                complexity += 1
            elif isinstance(node, ast.BoolOp):
                complexity += len(node.values) - 1
            elif isinstance(node, ast.comprehension):
                complexity += 1 + len(node.ifs)
    figures.density.append(complexity / lines)


def count_door(figures: Figures, tree: ast.Module) -> None:
    """Counts public functions whose types say nothing."""
    for function in public_functions(tree):
        if is_any(function.returns):
            figures.counts["functions that return bare Any"] += 1
        keywords = function.args.kwarg
        if keywords is not None and is_any(keywords.annotation):
            figures.counts["functions that take **kwargs: Any"] += 1


def public_functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and methods that are called by their names."""
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS) and not node.name.startswith("_"):
            yield node


def is_any(annotation: ast.expr | None) -> bool:
    """Whether an annotation is `Any` alone."""
    if isinstance(annotation, ast.Name):
        return annotation.id == "Any"
    if isinstance(annotation, ast.Attribute):
        return annotation.attr == "Any"
    return False


def count_imports(figures: Figures, modules: dict[str, ast.Module]) -> None:
    """Counts for each module how many others import it."""
    for name, tree in modules.items():
        needed = {found for found in imported(name, tree, modules) if found != name}
        figures.imports.update(needed)


def imported(name: str, tree: ast.Module, modules: dict[str, ast.Module]) -> Iterator[str]:
    """The modules of the same package that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(name, node)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in modules else base


def absolute(name: str, node: ast.ImportFrom) -> str:
    """The module that a `from` names, also where it is relative."""
    if not node.level:
        return node.module or ""
    parts = name.split(".")[: -node.level]
    return ".".join([*parts, *([node.module] if node.module else [])])


def rows(figures: Figures) -> Iterator[tuple[str, str]]:
    """The figures by their names."""
    counts = figures.counts

    def per_thousand(name: str) -> str:
        return f"{1000 * counts[name] / figures.lines:.1f}"

    density = sorted(figures.density)
    p90 = density[int(0.9 * (len(density) - 1))] if density else 0.0
    median = statistics.median(density) if density else 0.0
    modules = [name for name in figures.sizes if "." in name]
    single = sum(figures.imports[name] == 1 for name in modules)
    short = sum(figures.sizes[name] < SHORT_MODULE_LINES for name in modules)

    yield "lines", f"{figures.lines:,}"
    yield "complexity per body line, median / p90", f"{median:.2f} / {p90:.2f}"
    yield (
        "comprehensions / nested, per 1,000 lines",
        f"{per_thousand('comprehensions')} / {per_thousand('nested comprehensions')}",
    )
    yield (
        "conditional expressions / a, b = c, d, per 1,000",
        f"{per_thousand('conditional expressions')} / {per_thousand('tuple assignments')}",
    )
    yield "lines over 100 characters", f"{100 * counts['long lines'] / figures.lines:.1f} %"
    yield (
        "calls with 5+ positional arguments, per 1,000",
        per_thousand("calls with many positional arguments"),
    )
    yield (
        "public door: bare Any returns / **kwargs: Any",
        f"{counts['functions that return bare Any']} / {counts['functions that take **kwargs: Any']}",
    )
    yield "comments per 100 lines", f"{100 * counts['comments'] / figures.lines:.1f}"
    yield (
        "modules with one importer / under 60 lines",
        f"{share(single, len(modules))} / {share(short, len(modules))}",
    )


def share(part: int, whole: int) -> str:
    """A share in percent."""
    return f"{100 * part / whole:.0f} %" if whole else "—"


def packages(arguments: list[str]) -> Iterator[tuple[str, Path]]:
    """What to measure: the paths that are given, or this package and the anchors that are installed."""
    if arguments:
        for argument in arguments:
            path = Path(argument).resolve()
            yield path.name, path
        return
    yield "stepscope", OURS
    for name in ANCHORS:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            yield name, Path(spec.origin).parent


def main() -> None:
    """Prints the table."""
    measured = {name: dict(rows(measure(path))) for name, path in packages(sys.argv[1:])}
    names = list(measured)
    width = max(len(label) for label in measured[names[0]])
    print(" " * width, *(f"{name:>16}" for name in names))
    for label in measured[names[0]]:
        print(f"{label:<{width}}", *(f"{measured[name][label]:>16}" for name in names))


if __name__ == "__main__":
    main()
