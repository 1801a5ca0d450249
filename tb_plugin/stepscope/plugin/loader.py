"""The plugin's loader, under the name that it had before it moved out of the package."""

from __future__ import annotations

from stepscope_tensorboard import StepscopeLoader

__all__ = ["StepscopeLoader"]
