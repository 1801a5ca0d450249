"""The TBPlugin: which tab there is, whether it has something to show, and its routes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from tensorboard.plugins import base_plugin

from stepscope import lenses
from stepscope.plugin import answers

logger = logging.getLogger("stepscope")
PLUGIN_NAME = "stepscope"
LOOK_AFTER_S = 1.0
WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Any]


class StepscopePlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """StepScope for TensorBoard."""

    plugin_name = PLUGIN_NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._routes: Any = None
        self._looking: threading.Timer | None = None
        self._found = False

    def get_plugin_apps(self) -> dict[str, WsgiApp]:
        """The routes; what answers them is imported when the first is asked."""
        names = ("index", "options", "openapi", "findings", "summary", "export", *lenses.folders())
        apps: dict[str, WsgiApp] = {f"/{name}": answers.route(self._answer(name)) for name in names}
        apps["/static/*"] = answers.route(answers.static_file)
        # While the page is being opened, but after TensorBoard has started.
        self._look_later(LOOK_AFTER_S)
        return apps

    def _look_later(self, after_s: float) -> None:
        """Indexes the log directory beside what TensorBoard is doing, unless that is under way."""
        if self._looking is None or not self._looking.is_alive():
            self._looking = threading.Timer(after_s, self._look)
            self._looking.daemon = True
            self._looking.start()

    def _look(self) -> None:
        try:
            self._found = self._ready().has_records()
        except Exception:
            logger.exception("stepscope could not look into the log directory")

    def _answer(self, name: str) -> Callable[[Any], answers.Answer]:
        return lambda request: self._ready().answer(name, request)

    def _ready(self) -> Any:
        with self._lock:
            if self._routes is None:
                from stepscope.plugin.routes import Routes

                self._routes = Routes(self._context)
            return self._routes

    def is_active(self) -> bool:
        """Whether there is something to show. TensorBoard asks only where no tag is ours: then rates that were logged
        as plain scalars may still be there. Answers at once with what was found so far, and looks again for later.
        """
        if not self._found:
            self._look_later(0.0)
        return self._found

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """The tab."""
        return base_plugin.FrontendMetadata(
            es_module_path="/static/index.js", tab_name="StepScope", disable_reload=False
        )
