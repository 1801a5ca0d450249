"""The entry point `tensorboard_plugins`. An exception here would end TensorBoard for everyone, so none leaves it."""

from __future__ import annotations

import argparse
import logging
from typing import Any

from tensorboard.plugins import base_plugin

logger = logging.getLogger("stepscope")


class StepscopeLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Loads the plugin, and asks TensorBoard to keep the last value of each of our tags."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        """Adds no flags."""

    def fix_flags(self, flags: Any) -> None:
        """Sets the plugin's samples to one a tag, unless the user set them."""
        try:
            from stepscope.store.flags import set_sampling

            set_sampling(flags)
        except Exception:
            logger.exception("stepscope could not set samples_per_plugin; records may be shown in old versions")

    def load(self, context: base_plugin.TBContext) -> base_plugin.TBPlugin | None:
        """The plugin, or None where it cannot work."""
        try:
            from stepscope.plugin.plugin import StepscopePlugin

            return StepscopePlugin(context)
        except Exception:
            logger.exception("stepscope could not be loaded; TensorBoard goes on without its tab")
            return None
