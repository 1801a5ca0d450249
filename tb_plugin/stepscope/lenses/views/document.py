"""The JSON document of a view."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.lenses.views.fields import OWN_FIELDS
from stepscope.lenses.views.options import DETAIL_COLUMNS

if TYPE_CHECKING:
    from stepscope.lenses.views.result import ViewResult


def document(result: ViewResult) -> dict[str, Any]:
    """Rows in preorder with name, depth, parent and figures."""
    every = np.arange(len(result))
    columns: dict[str, list[Any]] = {
        "name": result.paths(every),
        "depth": result.depth.tolist(),
        "parent": result.parent.tolist(),
    }
    if not result.resolved.tfprof:
        columns["kind"] = result.kind_words(every)
        columns["share"] = result.shares(every)
    columns |= result.figures(every)
    if result.view in ("op", "code") and len(result):
        columns["n_graph_nodes"] = result.graph_nodes().tolist()
    nodes = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    if not result.resolved.tfprof:
        _add_selected(result, nodes)
    if result.resolved.options.detail == "full":
        _add_details(result, nodes)
    if result.resolved.tfprof:
        nodes = [_without_zeros(node) for node in nodes]
    return {
        "view": result.view,
        "options": dataclasses.asdict(result.resolved.options),
        "resource": result.resolved.resource,
        "nodes": nodes,
        "problems": [problem.to_json() for problem in result.problems],
    }


def _without_zeros(node: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in node.items() if value or key in ("name", "depth", "parent")
    }


def _add_details(result: ViewResult, nodes: list[dict[str, Any]]) -> None:
    details = result.details
    for row, node in zip(result.rows.tolist(), nodes, strict=True):
        members = details.nodes(row)
        if result.view in ("scope", "graph") or not result.resolved.tfprof:
            node["devices"] = details.devices(members)
        if result.view in ("scope", "graph"):
            node["input_shapes"] = details.input_shapes(members[0]) if len(members) == 1 else {}
        else:
            node["graph_nodes"] = [_graph_node(result, member) for member in members]


def _add_selected(result: ViewResult, nodes: list[dict[str, Any]]) -> None:
    """Adds what `select` asks for beside figures: devices, op types and input shapes of each row."""
    chosen = [word for word in DETAIL_COLUMNS if word in (result.resolved.options.select or ())]
    if not chosen:
        return
    details = result.details
    for row, node in zip(result.rows.tolist(), nodes, strict=True):
        members = details.nodes(row)
        for word in chosen:
            node[word] = details.selected(word, members)


def _graph_node(result: ViewResult, node: int) -> dict[str, Any]:
    figures: dict[str, Any] = {"name": result.profile.strings[int(result.profile.nodes.name[node])]}
    figures |= {spec.name: result.node_figure(spec, node) for spec in OWN_FIELDS}
    figures |= {
        "total_definition_count": 1,
        "devices": result.details.devices([node]),
        "input_shapes": result.details.input_shapes(node),
    }
    return _without_zeros(figures) if result.resolved.tfprof else figures
