"""The response of each route. Routes are read-only; `panel` builds the documents."""

from __future__ import annotations

import os
import threading
import time

from tensorboard import plugin_util
from tensorboard.plugins import base_plugin
from werkzeug import wrappers

from stepscope.panel import documents
from stepscope.panel.export import export_file
from stepscope.panel.parameters import openapi
from stepscope.panel.request import Query
from stepscope.plugin.answers import Answer, json_answer
from stepscope.session.cache import Caches
from stepscope.session.catalog import Catalog
from stepscope.session.source import Source
from stepscope.session.store_catalog import StoreCatalog
from stepscope.store.local import LocalStore
from stepscope.store.provider import ProviderStore

REFRESH_S = 1.0


class Routes:
    """The routes of one TensorBoard process."""

    def __init__(self, context: base_plugin.TBContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._refreshed_s = -REFRESH_S
        self._catalog: Catalog | None = None
        self._caches = Caches()
        self._documents = documents.routes()

    def answer(self, name: str, request: wrappers.Request) -> Answer:
        """Returns the response of a route."""
        if name == "options":
            return json_answer(documents.option_tables())
        if name == "openapi":
            return json_answer(openapi())
        values = {key: request.args.getlist(key) for key in request.args}
        query = Query(self._source(request), values)
        if name == "export":
            file = export_file(query)
            disposition = f'attachment; filename="{file.name}"'
            headers = (("Content-Disposition", disposition),)
            return Answer(file.content, file.content_type, headers=headers)
        return json_answer(self._documents[name](query))

    def has_records(self) -> bool:
        """Whether the log directory has anything for the tab."""
        return bool(self._fresh(None).refs())

    def _source(self, request: wrappers.Request) -> Source:
        return Source(self._fresh(request), where=self._context.logdir or "", caches=self._caches)

    def _fresh(self, request: wrappers.Request | None) -> Catalog:
        with self._lock:
            if self._catalog is None:
                self._catalog = self._open(request)
            if time.monotonic() - self._refreshed_s >= REFRESH_S:
                self._catalog.refresh()
                self._refreshed_s = time.monotonic()
            return self._catalog

    def _open(self, request: wrappers.Request | None) -> Catalog:
        flags = self._context.flags
        spec = getattr(flags, "logdir_spec", "") if flags else ""
        logdir = self._context.logdir or ""
        if spec and "://" not in spec:
            return StoreCatalog(LocalStore(logdir_spec=spec))
        if logdir and "://" not in logdir:
            return StoreCatalog(LocalStore(os.path.expanduser(logdir)))
        environ = request.environ if request is not None else {}
        experiment = plugin_util.experiment_id(environ)
        context = plugin_util.context(environ)
        return StoreCatalog(ProviderStore(self._context.data_provider, context, experiment))
