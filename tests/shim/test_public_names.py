"""`import stepscope` is cheap, and its public names are those of the design."""

from __future__ import annotations

import subprocess
import sys

import pytest

import stepscope


def test_the_public_names_are_there() -> None:
    assert set(stepscope.__all__) == {"RateTracker", "Writer", "__version__", "compare", "open"}
    for name in stepscope.__all__:
        assert getattr(stepscope, name) is not None
    assert set(stepscope.__all__) <= set(dir(stepscope))


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="writer_of"):
        stepscope.writer_of  # noqa: B018


def test_importing_the_module_imports_neither_numpy_nor_tensorboard() -> None:
    code = "import sys, stepscope; sys.exit(any(name in sys.modules for name in ('numpy', 'tensorboard', 'google')))"
    assert subprocess.run([sys.executable, "-S", "-c", _path() + code], check=False).returncode == 0


def test_the_tracker_needs_no_numpy() -> None:
    code = "import sys, stepscope; stepscope.RateTracker(0.4); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-S", "-c", _path() + code], check=False).returncode == 0


def test_a_writer_imports_neither_tensorboard_nor_a_framework(tmp_path: object) -> None:
    code = f"import sys, stepscope; stepscope.Writer({str(tmp_path)!r}).close();"
    code += "sys.exit(any(name in sys.modules for name in ('tensorboard', 'torch', 'tensorflow')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _path() -> str:
    """Without site packages only the package itself can be found."""
    return f"import sys; sys.path.insert(0, {stepscope.__file__.removesuffix('/stepscope/__init__.py')!r});"
