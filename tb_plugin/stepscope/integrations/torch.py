"""PyTorch: profiles straight from a training loop, with the attribute paths of modules.

PyTorch is imported when something here is called, not before.

    with stepscope.Writer("runs/a") as writer, profile_steps(writer, steps=range(10, 13), model=model) as profiler:
        for batch in loader:
            train(batch)
            profiler.step()
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any

from stepscope.errors import OptionError
from stepscope.shim.writer import Writer

if TYPE_CHECKING:
    from torch.nn import Module
    from torch.profiler import ProfilerAction, profile

_WRAPPERS = frozenset({"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"})
"""Attributes that torch.compile, FSDP and activation checkpointing put between a module and its parent."""


def trace_handler(writer: Writer, *, name: str = "torch") -> Callable[[profile], None]:
    """What `torch.profiler.profile(on_trace_ready=...)` calls: logs each finished cycle as a profile.

    The record's step is the first that was profiled. Meanwhile a span `profile` is open on the writer's throughput
    series: the time is the profiler's, not the training's. A trace that cannot be exported is counted in
    `writer.failures` and does not stop the loop.

    Args:
        writer: Where to log.
        name: The name of the record.
    """

    log = _cycle_logger(writer, name)

    def handle(profiler: profile) -> None:
        with writer.span("profile"):
            log(profiler)

    return handle


def _cycle_logger(writer: Writer, name: str) -> Callable[[profile], None]:
    def log(profiler: profile) -> None:
        with tempfile.TemporaryDirectory(prefix="stepscope-") as directory:
            path = Path(directory) / "trace.json"
            try:
                profiler.export_chrome_trace(str(path))
            except (OSError, RuntimeError, UnicodeDecodeError) as error:
                writer.failed(f"profile {name}", error)
                return
            writer.log_profile(path, name=name)

    return log


@contextmanager
def profile_steps(
    writer: Writer,
    *,
    steps: int | Iterable[int],
    model: Module | None = None,
    name: str = "torch",
    **settings: Any,
) -> Iterator[profile]:
    """Profiles chosen steps of a loop and logs each run of consecutive ones as a profile.

    Call `step()` on what this gives at the end of every step of the loop. The step before a chosen one is for warm-up.
    While the profiler starts, and while a trace is collected and logged, a span `profile` is open on the writer's
    throughput series.

    Args:
        writer: Where to log.
        steps: The chosen steps, counted from 0: one, a range, or any collection.
        model: Its modules become scopes by attribute path, as `module_scopes` makes them.
        name: The name of the records.
        **settings: For `torch.profiler.profile`; shapes, memory and stacks are recorded unless switched off here.

    Raises:
        OptionError: No step is chosen, or one is negative.
    """
    chosen = frozenset([steps] if isinstance(steps, int) else steps)
    if not chosen or min(chosen) < 0:
        raise OptionError(
            f"steps to profile are {sorted(chosen)}",
            remedy="Choose steps from 0, such as range(10, 13)",
        )
    settings = {"record_shapes": True, "profile_memory": True, "with_stack": True, **settings}
    with ExitStack() as stack:
        if model is not None:
            stack.enter_context(module_scopes(model))
        handler = _cycle_logger(writer, name)
        yield stack.enter_context(
            _profiler(writer)(schedule=_schedule(chosen), on_trace_ready=handler, **settings)
        )


def _profiler(writer: Writer) -> type[profile]:
    """PyTorch's profiler, with a span on the writer's series while it starts, and while it stops and is logged."""
    from torch.profiler import ProfilerAction, profile

    class SpanProfiler(profile):  # type: ignore[misc]
        def step(self) -> None:
            works = {ProfilerAction.NONE, ProfilerAction.RECORD_AND_SAVE}
            changes = self.schedule(self.step_num + 1) is not self.current_action
            with (
                writer.span("profile")
                if changes and self.current_action in works
                else nullcontext()
            ):
                super().step()

    return SpanProfiler


def _schedule(chosen: frozenset[int]) -> Callable[[int], ProfilerAction]:
    from torch.profiler import ProfilerAction

    def action(step: int) -> ProfilerAction:
        if step in chosen:
            return ProfilerAction.RECORD if step + 1 in chosen else ProfilerAction.RECORD_AND_SAVE
        return ProfilerAction.WARMUP if step + 1 in chosen else ProfilerAction.NONE

    return action


@contextmanager
def module_scopes(model: Module) -> Iterator[None]:
    """Makes every call of a module a named range with its attribute path, such as `layers.3.attn`.

    No trace has these paths: the profiler names modules by class and count. The model itself goes by its class. What
    DistributedDataParallel, FSDP and torch.compile wrap around modules is left out of the paths; inside code that
    torch.compile has compiled there are no calls of modules, so none are named.
    """
    scopes = _OpenScopes()
    handles = []
    for path, module in _modules(model):
        handles.append(module.register_forward_pre_hook(scopes.opening(path)))
        handles.append(module.register_forward_hook(scopes.close, always_call=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _modules(model: Module) -> Iterator[tuple[str, Module]]:
    from torch.nn.parallel import DataParallel, DistributedDataParallel

    if isinstance(model, DataParallel | DistributedDataParallel):
        model = model.module
    for path, module in model.named_modules():
        parts = path.split(".")
        if parts[-1] not in _WRAPPERS:
            yield (
                ".".join(part for part in parts if part not in _WRAPPERS) or type(module).__name__,
                module,
            )


class _OpenScopes:
    """The ranges of modules that are being called, by thread: a module may call itself, and replicas run in threads."""

    def __init__(self) -> None:
        import torch

        self._range = torch.profiler.record_function
        self._is_compiling = torch.compiler.is_compiling
        self._open: defaultdict[tuple[int, int], list[Any]] = defaultdict(list)

    def opening(self, path: str) -> Callable[..., None]:
        """A hook that opens a range of that name."""

        def open_module_scope(module: Module, _: object) -> None:
            if not self._is_compiling():
                scope = self._range(path)
                scope.__enter__()
                self._open[get_ident(), id(module)].append(scope)

        return open_module_scope

    def close(self, module: Module, *_: object) -> None:
        """The hook that closes the module's innermost range, also after an exception."""
        if not self._is_compiling():
            waiting = self._open[get_ident(), id(module)]
            if waiting:
                waiting.pop().__exit__(None, None, None)
