"""A report: one page that holds the panel and the documents that it shows, and asks no network for anything.

Documents and panel are in it as base 64, so that no name in a record can be markup.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from html import escape
from typing import Any

import msgspec

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
</head>
<body>
<noscript>This report requires JavaScript (embedded; no network access).</noscript>
<script id="documents" type="application/gzip">{documents}</script>
<script type="module">
const {{ install, render }} = await import("{panel}");
const {{ title }} = document;
await install(window, document.getElementById("documents"));
render();
document.title = title;
</script>
</body>
</html>
"""


def report_page(title: str, answers: Sequence[dict[str, Any]], panel: bytes) -> bytes:
    """The page, in UTF-8.

    Args:
        title: What the page is called.
        answers: Route, questions and document of each, as frontend/src/report/snapshot_documents.ts reads them.
        panel: The bundle of the panel with what answers it, `report.js`.
    """
    page = _PAGE.format(
        policy=_POLICY,
        title=escape(title),
        documents=base64.b64encode(gzip.compress(msgspec.json.encode(answers), mtime=0)).decode(),
        panel="data:text/javascript;base64," + base64.b64encode(panel).decode(),
    )
    return page.encode()
