"""docs/views.md speaks of every option and every figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.lenses.options import specs
from stepscope.lenses.views import ViewsOptions
from stepscope.lenses.views.fields import CALL_FIELDS, fields
from stepscope.lenses.views.options import ORDERS

TEXT = (Path(__file__).parents[3] / "docs/views.md").read_text(encoding="utf-8")
OWN = [
    spec.name
    for spec in fields("scope", tfprof=False, nested=False)
    if not spec.name.startswith("total_")
]


@pytest.mark.parametrize("name", [spec.name for spec in specs(ViewsOptions)])
def test_every_option_is_in_the_docs(name: str) -> None:
    assert f"`{name}`" in TEXT


@pytest.mark.parametrize(
    "name", [*OWN, "total_definition_count", *(spec.name for spec in CALL_FIELDS), *ORDERS]
)
def test_every_figure_and_order_is_in_the_docs(name: str) -> None:
    assert f"`{name}`" in TEXT
