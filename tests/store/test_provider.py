"""Reading through a data provider whose values come and go."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from stores import profile
from tensorboard import errors

from stepscope.errors import NotFound, StoreError
from stepscope.store.provider import ATTEMPTS, ProviderStore
from stepscope.store.writing import RecordWriter


class MemoryProvider:
    """A sink that offers what it was given as TensorBoard's data providers do.

    Attributes:
        failures: What the next calls of `read_blob` raise.
        broken: What every listing raises.
    """

    def __init__(self) -> None:
        self.values: dict[str, SimpleNamespace] = {}
        self.failures: list[Exception] = []
        self.broken: Exception | None = None

    def add_blobs(
        self, tag: str, content: bytes, blobs: list[bytes], *, step: int, wall_time_s: float
    ) -> None:
        keys = tuple(SimpleNamespace(blob_key=(tag, step, i)) for i in range(len(blobs)))
        self.values[tag] = SimpleNamespace(
            step=step, wall_time=wall_time_s, values=keys, blobs=blobs
        )

    def list_blob_sequences(self, context: Any, *, experiment_id: str, plugin_name: str) -> Any:
        if self.broken:
            raise self.broken
        return {
            "run": {
                t: SimpleNamespace(max_step=v.step, max_wall_time=v.wall_time)
                for t, v in self.values.items()
            }
        }

    def read_blob_sequences(
        self, context: Any, *, downsample: int, run_tag_filter: Any, **_: str
    ) -> Any:
        assert downsample > 0
        return {
            "run": {
                tag: [value] for tag, value in self.values.items() if tag in run_tag_filter.tags
            }
        }

    def read_blob(self, context: Any, *, blob_key: tuple[str, int, int]) -> bytes:
        if self.failures:
            raise self.failures.pop()
        tag, step, position = blob_key
        if self.values[tag].step != step:
            raise errors.NotFoundError
        return bytes(self.values[tag].blobs[position])

    def list_scalars(self, context: Any, *, experiment_id: str, plugin_name: str) -> Any:
        return {"run": {"avg_samples_per_sec": None, "loss": None}}

    def read_scalars(self, context: Any, *, run_tag_filter: Any, **_: Any) -> Any:
        assert set(run_tag_filter.tags) == {"avg_samples_per_sec"}
        points = [SimpleNamespace(step=i, wall_time=float(i), value=2.0) for i in range(1000)]
        return {"run": {"avg_samples_per_sec": points}}


@pytest.fixture
def provider() -> MemoryProvider:
    """A provider with one record."""
    provider = MemoryProvider()
    RecordWriter(provider, session="s").write(profile(3), name="p")  # type: ignore[arg-type]
    return provider


GONE = [errors.NotFoundError("no such step"), KeyError("run"), IndexError(3)]


@pytest.mark.parametrize("error", GONE, ids=lambda e: type(e).__name__)
def test_a_value_that_is_gone_is_asked_for_again(
    provider: MemoryProvider, error: Exception
) -> None:
    store = ProviderStore(provider, None)
    provider.failures = [error]
    store.refresh()
    (entry,) = store.entries()
    provider.failures = [error, error]
    assert store.read(entry) == profile(3)


def test_a_value_that_stays_away_is_not_found(provider: MemoryProvider) -> None:
    store = ProviderStore(provider, None)
    store.refresh()
    (entry,) = store.entries()
    provider.failures = [KeyError("run")] * (ATTEMPTS * 20)
    with pytest.raises(NotFound, match="Refresh"):
        store.read(entry)


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidArgumentError("BadJson"),
        grpc.RpcError(),
        UnicodeDecodeError("utf-8", b"", 0, 1, "bad"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_what_a_loader_cannot_give_is_a_store_error_with_a_remedy(
    provider: MemoryProvider, error: Exception
) -> None:
    store = ProviderStore(provider, None)
    store.refresh()
    (entry,) = store.entries()
    provider.failures = [error]
    with pytest.raises(StoreError, match="--load_fast=false"):
        store.read(entry)


def test_a_listing_that_fails_is_a_problem_and_what_was_listed_stays(
    provider: MemoryProvider,
) -> None:
    store = ProviderStore(provider, None)
    store.refresh()
    provider.broken = errors.PermissionDeniedError("not yours")
    store.refresh()
    assert [problem.where for problem in store.problems()] == ["data provider"]
    assert len(store.entries()) == 1


def test_only_what_changed_is_read_again(provider: MemoryProvider) -> None:
    store = ProviderStore(provider, None)
    store.refresh()
    provider.failures = [AssertionError("read again")]
    store.refresh()
    assert len(provider.failures) == 1


def test_scalars_that_may_have_been_thinned_out_are_said(provider: MemoryProvider) -> None:
    store = ProviderStore(provider, None)
    store.refresh()
    (series,) = store.scalar_series()
    assert (series.run, series.tag, len(series.step)) == ("run", "avg_samples_per_sec", 1000)
    assert ["dropped others" in problem.what for problem in store.problems()] == [True]
    assert "samples_per_plugin" in store.problems()[0].remedy
