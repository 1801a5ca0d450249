"""A lens's document as flat rows, for tables and CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stepscope.lenses.views.options import ORDER_FIELDS

Row = dict[str, Any]


def document_rows(lens: str, document: Mapping[str, Any]) -> list[Row]:
    """The rows of a document: nodes, samples, invocations or collectives; for a comparison its rows."""
    if "sources" in document:
        return [row for one in document["sources"] for row in document_rows(lens, one)]
    if "rows" in document and "unmatched_share" in document:
        return [_compared(row) for row in document["rows"]]
    return _ROWS[lens](document)


def comparison_rows(lens: str, document: Mapping[str, Any]) -> list[Row]:
    """A comparison to be read: one figure a row with A, B, delta and delta %, the largest change first."""
    figures = _LEADING["op" if document.get("view") == "op" else lens]
    rows = [row for one in document["rows"] for row in _figure_rows(one, figures)]
    whole = [max(abs(row["A"] or 0), abs(row["B"] or 0)) for row in rows]
    if lens == "throughput":
        return rows
    order = sorted(range(len(rows)), key=lambda at: (-abs(rows[at]["delta"]), -whole[at]))
    return [rows[at] for at in order]


def comparison_notes(document: Mapping[str, Any]) -> list[str]:
    """What is to be said of a comparison as a whole, as sentences."""
    notes = []
    if "view" in document:
        figure = "self" if document["view"] == "op" else "total"
        per = ", an average over the steps of each profile" if document["per"] == "step" else ""
        notes.append(f"A, B and delta are {figure} times in us{per}.")
    if document["unmatched_share"]:
        notes.append(f"{document['unmatched_share']:.1%} has no counterpart.")
    notes += [
        f"{row['from']} may be {row['to']} now: {row['rows']} rows are alike." for row in document.get("renames", ())
    ]
    notes += [_SURE[row["verdict"]].format(**row) for row in document.get("significance", ())]
    return notes


_SURE = {
    "different": "{series}: mean training rates differ by {difference:+,.4g} ± {standard_error:.2g} a second.",
    "indistinguishable": "{series}: mean training rates differ by {difference:+,.4g} a second, "
    "no more than they vary anyway.",
    "too_short": "{series}: too short to say whether the difference is more than chance.",
}

_LEADING: dict[str, dict[str, tuple[str, float]] | None] = {
    "views": {"total_exec_micros": ("us", 1)},
    # Totals of ops that call each other, or themselves, hold the same time more than once.
    "op": {"exec_micros": ("us", 1)},
    "throughput": None,
    "incore": {"cycles_x2": ("cycles", 0.5)},
    "dcn": {"total_stall_ms": ("stall ms", 1)},
}
"""The figure that comparisons are read by, its unit, and what the document's is multiplied by. None: all of them."""


def _figure_rows(row: Mapping[str, Any], leading: Mapping[str, tuple[str, float]] | None) -> list[Row]:
    sides = [row["a"] or {}, row["b"] or {}]
    names = dict.fromkeys(name for side in sides for name in side if isinstance(side[name], int | float))
    if leading is not None:
        names = dict.fromkeys(name for name in leading if name in names)
    rows = []
    for name in names:
        unit, factor = (leading or {}).get(name, (name, 1))
        a, b = (None if side.get(name) is None else side[name] * factor for side in sides)
        key = _text(row["key"]) if leading is not None else f"{_text(row['key'])} {unit}"
        delta = (a or 0) - (b or 0)
        rows.append({"key": key, "A": a, "B": b, "delta": delta, "delta %": 100 * delta / b if b else None})
        rows[-1]["state"] = "" if row["state"] == "both" else row["state"]
    return rows


def _compared(row: Mapping[str, Any]) -> Row:
    flat: Row = {"key": _text(row["key"]), "state": row["state"]}
    for field in row["delta"] or row["a"] or row["b"] or {}:
        for side in ("a", "b", "delta"):
            values = row[side] or {}
            flat[f"{field} {side}"] = values.get(field)
    return flat


def _text(key: Any) -> str:
    return key if isinstance(key, str) else "/".join(str(part) for part in key)


def _views(document: Mapping[str, Any]) -> list[Row]:
    rows = []
    for node in document["nodes"]:
        figures = {
            k: v for k, v in node.items() if k not in ("name", "depth", "parent") and not isinstance(v, list | dict)
        }
        rows.append({"name": "  " * node["depth"] + node["name"]} | figures)
    return rows


def leading_rows(document: Mapping[str, Any]) -> list[Row]:
    """The rows of a view to be read: names, time with its share of the whole, runs, and what the options ask for.

    Figures that are 0 or unknown in every row are left out. Own figures stand beside the totals for time, and for what
    rows are ordered by; all of them are in `document_rows`.
    """
    rows, options = _views(document), document["options"]
    whole = rows[0].get("total_exec_micros") if rows else None
    for row in rows if whole else ():
        row["share %"] = 100 * row["total_exec_micros"] / whole
    ordered = _figure(options["order_by"])
    totals = [f"total_{_figure(word)}" for word in options["select"]]
    others = [word for word in options["select"] if word not in ORDER_FIELDS]
    columns = dict.fromkeys((*_READ_FIRST, f"total_{ordered}", ordered, *totals, *others))
    used = [column for column in columns if any(row.get(column) not in (0, None) for row in rows)]
    return [{column: row.get(column) for column in used} for row in rows]


_READ_FIRST = ("name", "total_exec_micros", "share %", "exec_micros", "run_count")


def _figure(word: str) -> str:
    """The figure that a word of `order_by` or `select` stands for."""
    return "definition_count" if word == "occurrence" else ORDER_FIELDS.get(word, word)


def _throughput(document: Mapping[str, Any]) -> list[Row]:
    rows: list[Row] = []
    columns = ("step", "time_ns", "total", "local_samples_per_sec", "avg_samples_per_sec")
    for series in document["series"]:
        named = {"run": series.get("run", ""), "series": series["name"]}
        values = zip(*(series[column] for column in columns), strict=True)
        rows.extend(named | dict(zip(columns, row, strict=True)) for row in values)
    return rows


def _incore(document: Mapping[str, Any]) -> list[Row]:
    if "columns" in document and "per_invocation" in document:
        return [
            dict(zip(document["columns"], row, strict=True)) for row in document["per_invocation"] if row is not None
        ]
    rows: list[Row] = [{"figure": "status", "value": document.get("status")}]
    for key, value in document.items():
        if isinstance(value, Mapping):
            rows += [{"figure": f"{key} {name}", "value": _short(inner)} for name, inner in value.items()]
        elif key != "status":
            rows.append({"figure": key, "value": _short(value)})
    return rows


def _short(value: Any) -> Any:
    return ", ".join(str(part) for part in value) if isinstance(value, list) else value


def summary_rows(lens: str, document: Mapping[str, Any]) -> list[Row]:
    """What there is to know first of a document: series with their averages, phases, or collectives over all hosts."""
    if lens == "throughput":
        return [_series(series) for series in document["series"]]
    if lens == "dcn":
        return sorted(map(_scalars, document["all_hosts"]["all_cores"]), key=lambda row: -(row["total_stall_ms"] or 0))
    return _incore(document)


def _series(series: Mapping[str, Any]) -> Row:
    found = series["statistics"]
    rates = {kind: found[kind]["per_sec"] for kind in ("whole_time", "windowed", "training_only")}
    shares = {"data_wait_share": found["data_wait_share"], "last_step": found["last_step"]}
    return {"run": series.get("run", ""), "series": series["name"], "unit": series["unit"], **rates, **shares}


def _dcn(document: Mapping[str, Any]) -> list[Row]:
    rows = []
    for host, found in document["hosts"].items():
        for core, table in found["cores"].items():
            rows += [{"host": host, "core": core} | _scalars(row) for row in table["rows"]]
    return sorted(rows, key=lambda row: -(row.get("total_stall_ms") or 0))


def _scalars(row: Mapping[str, Any]) -> Row:
    return {key: value for key, value in row.items() if not isinstance(value, list | dict)}


_ROWS: dict[str, Callable[[Mapping[str, Any]], list[Row]]] = {
    "views": _views,
    "throughput": _throughput,
    "incore": _incore,
    "dcn": _dcn,
}
