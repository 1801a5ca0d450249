"""The entry point of the TensorBoard plugin.

It stands outside the package, so that a broken installation of StepScope or of what it depends on
cannot end TensorBoard: an exception that leaves an entry point does. In place of the tab there is
then one that names the fault and the command that mends it.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Callable, Iterable
from typing import Any

from tensorboard.plugins import base_plugin
from werkzeug import wrappers

logger = logging.getLogger("stepscope")

DISTRIBUTIONS = {"google_crc32c": "google-crc32c", "re2": "google-re2", "_re2": "google-re2"}
"""The names to install, where they differ from the names to import."""
REINSTALL = "pip install --force-reinstall tensorboard-plugin-stepscope"
# `except Exception` would let a package end TensorBoard that calls sys.exit while it is imported.
FAULTS = (Exception, SystemExit)

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_PAGE = """
export function render() {
  const box = document.createElement("p");
  box.setAttribute("role", "alert");
  box.style.cssText = "font: 15px/1.5 system-ui, sans-serif; margin: 2rem; max-width: 50rem";
  box.textContent = %s;
  document.body.append(box);
}
"""


def remedy(fault: BaseException) -> str:
    """Returns the command that mends a fault of the installation."""
    if (
        isinstance(fault, ModuleNotFoundError)
        and fault.name
        and not fault.name.startswith("stepscope")
    ):
        package = fault.name.partition(".")[0]
        return f"pip install {DISTRIBUTIONS.get(package, package)}"
    return REINSTALL


def describe(fault: BaseException) -> str:
    """Returns one line that names a fault of the installation and its remedy."""
    return f"StepScope cannot start: {type(fault).__name__}: {fault}. Run: {remedy(fault)}"


class StepscopeLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Loads the plugin, and asks TensorBoard to keep the last value of each of its tags."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        """Adds no flags."""

    def fix_flags(self, flags: argparse.Namespace) -> None:
        """Sets the plugin's samples to one a tag, unless the user set them."""
        try:
            from stepscope.store.flags import set_sampling

            set_sampling(flags)
        except FAULTS as fault:
            logger.error("%s. Records may be shown in old versions", describe(fault))

    def load(self, context: base_plugin.TBContext) -> base_plugin.TBPlugin:
        """Returns the plugin, or a tab that names the fault where StepScope cannot be imported."""
        try:
            from stepscope.plugin.plugin import StepscopePlugin

            return StepscopePlugin(context)
        except FAULTS as fault:
            logger.exception("%s", describe(fault))
            return BrokenPlugin(describe(fault))


class BrokenPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """A tab that shows one message.

    Args:
        message: The message.
    """

    plugin_name = "stepscope"

    def __init__(self, message: str) -> None:
        self._message = message

    def get_plugin_apps(self) -> dict[str, WsgiApp]:
        """The route of the page."""
        # A text in JSON is one in JavaScript too; nothing of it reaches the page as markup.
        page = _PAGE % json.dumps(self._message)

        @wrappers.Request.application
        def application(request: wrappers.Request) -> wrappers.Response:
            return wrappers.Response(page, content_type="text/javascript; charset=utf-8")

        return {"/index.js": application}

    def is_active(self) -> bool:
        """The tab stands among the active ones, so that the message is seen."""
        return True

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """The tab."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="StepScope")
