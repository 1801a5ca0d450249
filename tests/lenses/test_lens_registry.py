"""Every lens keeps the contract, and everything that is made from the registry has every lens."""

from __future__ import annotations

import dataclasses

import pytest

from stepscope import lenses
from stepscope.cli.main import build_parser
from stepscope.errors import OptionError
from stepscope.lenses.lens import Scope
from stepscope.lenses.registry import LENSES, AnyLens, lens_named
from stepscope.model import kinds
from stepscope.panel import documents
from stepscope.panel.parameters import ROUTE, openapi
from stepscope.session.options import TABLES
from stepscope.session.source import Source

each_lens = pytest.mark.parametrize("lens", LENSES, ids=lambda lens: lens.name)


def test_folders_are_the_registered_lenses() -> None:
    assert sorted(lenses.folders()) == sorted(lens.name for lens in LENSES)
    assert len({lens.title for lens in LENSES}) == len(LENSES)


@each_lens
def test_lens_has_command_method_route_and_options(lens: AnyLens) -> None:
    arguments = build_parser().parse_args([lens.name, "SOURCE"])
    assert arguments.lens == lens.name
    assert callable(getattr(Source, lens.name))
    assert lens.name in documents.routes()
    assert [spec.name for spec in TABLES[lens.name]] == [
        field.name for field in dataclasses.fields(lens.options_type)
    ]
    (parameters,) = (path["parameters"] for path in [openapi()["paths"][ROUTE + lens.name]["get"]])
    names = [parameter["name"] for parameter in parameters]
    assert set(names) >= {spec.name for spec in TABLES[lens.name]} | {"run", "compare"}
    assert len(names) == len(set(names))


@each_lens
def test_lens_names_its_record_kind_and_how_to_log_it(lens: AnyLens) -> None:
    assert lens.record_kind in kinds.KINDS
    assert lens.how_to_log
    assert lens.nothing_logged
    assert isinstance(lens.scope(lens.options_type()), Scope)


def test_unknown_lens_is_an_option_error() -> None:
    with pytest.raises(OptionError, match="unknown lens 'nothing'"):
        lens_named("nothing")


def test_export_describes_each_parameter_once() -> None:
    parameters = openapi()["paths"][f"{ROUTE}export"]["get"]["parameters"]
    names = [parameter["name"] for parameter in parameters]
    assert len(names) == len(set(names))
