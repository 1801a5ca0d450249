"""What cannot be opened is said with its place, whatever the path is."""

from __future__ import annotations

from pathlib import Path

import pytest

import stepscope
from stepscope.errors import SourceError


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "path is empty"),
        ("a" * 5000, "cannot be read"),
        ("a\0b", "not found"),
        ("absent", "not found"),
    ],
)
def test_a_path_to_nothing_is_a_source_error(path: str, said: str) -> None:
    with pytest.raises(SourceError, match=said) as caught:
        stepscope.open(path)
    assert caught.value.remedy
    assert len(str(caught.value)) < 1000


def test_a_folder_that_the_system_refuses_is_a_source_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    (tmp_path / "x").write_text("x")
    with pytest.raises(SourceError, match="cannot be read \\(Permission denied\\)"):
        stepscope.open(tmp_path)
