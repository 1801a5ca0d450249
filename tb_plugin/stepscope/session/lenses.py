"""The four lenses: the kind of record that each looks at, and the module that does."""

from __future__ import annotations

from typing import Any

from stepscope.lenses import dcn, incore, throughput, views

LENS_KINDS = {"views": "profile", "throughput": "throughput", "incore": "incore", "dcn": "collectives"}
"""The kind of record that each lens looks at."""

LENSES: dict[str, Any] = {"views": views, "throughput": throughput, "incore": incore, "dcn": dcn}
"""The module of each lens, with its doors `compare` and, but for the views, which keep an engine, `analyze`."""
