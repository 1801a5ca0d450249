"""Named baselines: folders of records with a fingerprint of where they come from."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepscope.errors import NotFound, OptionError, StoreError
from stepscope.model.profile import Profile
from stepscope.model.throughput import Throughput
from stepscope.session.catalog import RecordRef
from stepscope.session.opening import open as open_source
from stepscope.session.run_figures import RunFigures, figures_of
from stepscope.session.source import Source
from stepscope.store.sink import EventFileSink
from stepscope.store.writing import RecordWriter

FOLDER_VARIABLE = "STEPSCOPE_BASELINES"
_DEFAULT_FOLDER = ".stepscope/baselines"
_MANIFEST = "baseline.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_GIT_SECONDS = 5


@dataclass(frozen=True)
class Baseline:
    """A named set of runs.

    Attributes:
        name: Its name.
        folder: Where its records lie.
        runs: The names of its runs.
        added_ns: When the first was added, Unix ns.
        commit: The git commit at that time, '' where there was none.
        environment: What the runs ran on, by word.
    """

    name: str
    folder: Path
    runs: tuple[str, ...]
    added_ns: int
    commit: str
    environment: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """The manifest. Stamps are decimal strings."""
        return {
            "name": self.name,
            "runs": list(self.runs),
            "added_ns": str(self.added_ns),
            "commit": self.commit,
            "environment": self.environment,
        }


def baselines_folder(folder: str | None = None) -> Path:
    """The folder of all baselines: as given, else of STEPSCOPE_BASELINES, else .stepscope/baselines here."""
    return Path(folder or os.environ.get(FOLDER_VARIABLE) or _DEFAULT_FOLDER)


def list_baselines(folder: Path) -> list[Baseline]:
    """All baselines, in order of their names."""
    if not folder.is_dir():
        return []
    baselines = []
    for path in sorted(folder.iterdir()):
        if (path / _MANIFEST).is_file():
            baselines.append(_read(path))
    return baselines


def baseline_named(folder: Path, name: str) -> Baseline:
    """The baseline of that name.

    Raises:
        NotFound: There is none.
    """
    path = folder / _checked(name)
    if not (path / _MANIFEST).is_file():
        raise NotFound(
            f"baseline not found: {name}",
            where=str(folder),
            remedy="List them: stepscope baseline list",
        )
    return _read(path)


def add_baseline(folder: Path, name: str, sources: Sequence[Source]) -> Baseline:
    """Copies the throughput series and profiles of runs into a baseline, which is made if need be.

    Raises:
        OptionError: The name is invalid.
        NotFound: A source has nothing to compare.
    """
    path = folder / _checked(name)
    existing = _read(path) if (path / _MANIFEST).is_file() else None
    taken = list(existing.runs) if existing else []
    environment: dict[str, str] = dict(existing.environment) if existing else _machine()
    for source in sources:
        for run in figures_of(source):
            target = _free_name(run.title, taken)
            _copy(source, run.run, path / target)
            taken.append(target)
            environment |= _of_run(run)
    baseline = Baseline(
        name=name,
        folder=path,
        runs=tuple(taken),
        added_ns=existing.added_ns if existing else time.time_ns(),
        commit=existing.commit if existing else current_commit(),
        environment=environment,
    )
    manifest = path / f"{_MANIFEST}.new"
    manifest.write_text(json.dumps(baseline.to_json(), indent=1) + "\n", encoding="utf-8")
    manifest.replace(path / _MANIFEST)
    return baseline


def remove_baseline(folder: Path, name: str) -> None:
    """Deletes a baseline and its records.

    Raises:
        NotFound: There is none of that name.
    """
    shutil.rmtree(baseline_named(folder, name).folder)


def open_baseline(folder: Path, name: str) -> Source:
    """The runs of a baseline.

    Raises:
        NotFound: There is none of that name.
    """
    return open_source(baseline_named(folder, name).folder)


def current_commit() -> str:
    """The commit of the git work tree here, '' where there is none."""
    try:
        answer = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def _copy(source: Source, run: str, folder: Path) -> None:
    """Writes the run's records into an event file of their own."""
    refs: list[RecordRef] = []
    for kind in (Throughput.KIND, Profile.KIND):
        refs.extend(ref for ref in source.catalog.refs(kind) if ref.kind == kind and ref.run == run)
    folder.mkdir(parents=True, exist_ok=True)
    sink = EventFileSink(str(folder))
    try:
        writer = RecordWriter(sink)
        for ref in refs:
            steps = (
                None
                if ref.first_step is None
                else (ref.first_step, ref.last_step or ref.first_step)
            )
            writer.write(source.read(ref), name=ref.name, steps=steps)
        sink.flush()
    finally:
        sink.close()


def _free_name(name: str, taken: Sequence[str]) -> str:
    words = [word for word in re.split(r"[\\/]+", name) if word not in ("", ".", "..")]
    base = "/".join(words) or "run"
    number = 2
    free = base
    while free in taken:
        free = f"{base}-{number}"
        number += 1
    return free


def _machine() -> dict[str, str]:
    return {
        "machine": platform.machine(),
        "processors": str(os.cpu_count() or 0),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _of_run(run: RunFigures) -> dict[str, str]:
    chosen = {word: text for word, text in run.details.items() if word in ("framework", "host")}
    return {**run.environment, **chosen}


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        remedy = "Use letters, digits, dots, dashes and underscores"
        raise OptionError(f"baseline name must be a plain word: {name!r}", remedy=remedy)
    return name


def _read(path: Path) -> Baseline:
    manifest = path / _MANIFEST
    try:
        document = json.loads(manifest.read_text(encoding="utf-8"))
        return Baseline(
            name=path.name,
            folder=path,
            runs=tuple(str(run) for run in document["runs"]),
            added_ns=int(document["added_ns"]),
            commit=str(document["commit"]),
            environment={str(word): str(text) for word, text in document["environment"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        found = f"baseline cannot be read: {error}"
        raise StoreError(
            found, where=str(manifest), remedy="Remove the folder and add the baseline again"
        ) from error
