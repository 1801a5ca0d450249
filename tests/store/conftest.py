"""The readers that every store test runs on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from stepscope.store.local import LocalStore
from stepscope.store.provider import ProviderStore
from stepscope.store.reading import RecordStore
from stores import OpenStore, data_server, slow_loader
from tensorboard import context


@pytest.fixture(params=["local", "provider-fast", "provider-slow"])
def reader(request: pytest.FixtureRequest) -> str:
    """The name of a reader."""
    return str(request.param)


@pytest.fixture
def open_store(reader: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenStore]:
    """Opens a log directory with the reader under test."""
    with contextlib.ExitStack() as stack:

        def open_(logdir: Path) -> RecordStore:
            if reader == "local":
                return LocalStore(logdir)
            if reader == "provider-fast":
                provider, _ = stack.enter_context(data_server(logdir, tmp_path_factory.mktemp("server")))
            else:
                provider = stack.enter_context(slow_loader(logdir))
            return ProviderStore(provider, context.RequestContext())

        yield open_
