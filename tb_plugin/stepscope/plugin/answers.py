"""HTTP answers: JSON with ETag and gzip, panel files, and errors that say what to do."""

from __future__ import annotations

import gzip
import hashlib
import importlib.resources
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from stepscope_tensorboard import describe, remedy
from werkzeug import wrappers

from stepscope.errors import NotFound, StepscopeError

logger = logging.getLogger("stepscope")
GZIP_FROM_BYTES = 1024
_TYPES = {
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
    "json": "application/json",
}


@dataclass(frozen=True)
class Answer:
    """The body of an answer."""

    body: bytes
    content_type: str = "application/json; charset=utf-8"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


def json_answer(document: Any, status: int = 200) -> Answer:
    """An answer in JSON. Numbers that JSON does not have become null."""
    return Answer(msgspec.json.encode(document), status=status)


def route(answer: Callable[[wrappers.Request], Answer]) -> Callable[..., Any]:
    """A WSGI application that answers GET requests, and turns errors into documents that say what to do."""

    @wrappers.Request.application
    def application(request: wrappers.Request) -> wrappers.Response:
        if request.method not in ("GET", "HEAD"):
            error = {
                "found": f"method {request.method}",
                "where": request.path,
                "remedy": "Use GET",
            }
            return _respond(request, json_answer({"error": error}, 405))
        return _respond(request, _guarded(answer, request))

    return application


def _guarded(answer: Callable[[wrappers.Request], Answer], request: wrappers.Request) -> Answer:
    try:
        return answer(request)
    except StepscopeError as error:
        document = {"found": error.found, "where": error.where, "remedy": error.remedy}
        return json_answer({"error": document}, error.http_status)
    except (ImportError, SystemExit) as error:
        logger.exception("%s", describe(error))
        document = {"found": str(error), "where": request.path, "remedy": f"Run: {remedy(error)}"}
        return json_answer({"error": document}, 500)
    except Exception as error:
        logger.exception("stepscope could not answer %s", request.url)
        document = {
            "found": f"Internal error in StepScope ({type(error).__name__})",
            "where": request.path,
            "remedy": "Report it with the text that TensorBoard printed",
        }
        return json_answer({"error": document}, 500)


class _NotModified(wrappers.Response):
    """An answer of status 304 that keeps its content type: TensorBoard warns of every answer without one."""

    def get_wsgi_headers(self, environ: Any) -> Any:
        headers = super().get_wsgi_headers(environ)
        headers["Content-Type"] = self.headers["Content-Type"]
        return headers


def _respond(request: wrappers.Request, answer: Answer) -> wrappers.Response:
    etag = hashlib.blake2b(answer.body, digest_size=12).hexdigest()
    headers = [
        ("ETag", f'"{etag}"'),
        ("Cache-Control", "no-cache"),
        ("X-Content-Type-Options", "nosniff"),
        ("Vary", "Accept-Encoding"),
        *answer.headers,
    ]
    if answer.status == 200 and etag in request.if_none_match:
        return _NotModified(status=304, headers=headers, content_type=answer.content_type)
    body = answer.body
    if len(body) >= GZIP_FROM_BYTES and request.accept_encodings["gzip"] > 0:
        body = gzip.compress(body, 1, mtime=0)
        headers.append(("Content-Encoding", "gzip"))
    return wrappers.Response(body, answer.status, headers, content_type=answer.content_type)


def static_file(request: wrappers.Request) -> Answer:
    """A file of the panel: only names that the package ships."""
    name = request.path.rpartition("/static/")[2]
    folder = importlib.resources.files("stepscope.plugin").joinpath("static")
    shipped = {file.name: file for file in folder.iterdir() if file.is_file()}
    if name not in shipped:
        raise NotFound(
            "no such file of the panel", where=request.path, remedy="Install StepScope again"
        )
    kind = _TYPES.get(name.rpartition(".")[2], "application/octet-stream")
    return Answer(shipped[name].read_bytes(), f"{kind}; charset=utf-8")
