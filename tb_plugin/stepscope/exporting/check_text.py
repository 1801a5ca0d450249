"""The verdict of `stepscope check` as text, Markdown for a pull request, and JUnit XML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from stepscope.exporting.quantities import quantity

Document = Mapping[str, Any]
_MOST_RUNS = 4
_MOST_CAUSES = 8
_MOST_DIFFERENCES = 8
_TITLES = {"pass": "Pass", "regression": "Regression", "cannot tell": "Cannot tell"}


def check_text(document: Document) -> str:
    """The verdict in plain lines."""
    lines = [
        f"{_TITLES[document['verdict']]}: {_runs(document['candidates'])} against {_runs(document['baselines'])}"
    ]
    for metric in document["metrics"]:
        lines.append(f"  {metric_sentence(metric)}")
        lines.extend(f"    Missing: {missing}." for missing in metric["missing"])
    lines.extend(f"  Not comparable: {difference}." for difference in document["incomparable"])
    lines.extend(f"  Differs: {difference}." for difference in document["differences"])
    if document["causes"]:
        lines.append("  Causes:")
        lines.extend(f"    {cause_sentence(cause)}" for cause in document["causes"])
    return "\n".join(lines)


def check_markdown(document: Document, report: str | None = None) -> str:
    """A comment for a pull request, at most 60 lines.

    Args:
        document: Of the check.
        report: The address of a report to link to.
    """
    lines = [f"### StepScope: {_TITLES[document['verdict']]}", ""]
    lines.append(
        f"{_escaped(_runs(document['candidates']))} against {_escaped(_runs(document['baselines']))}. "
    )
    lines[-1] += (
        f"Allowed: {document['max_regression']:.1%} worse. False alarms: at most {document['alpha']:.1%}."
    )
    lines += [
        "",
        "| metric | baseline | new | worse by (interval) | verdict |",
        "|---|---:|---:|---:|---|",
    ]
    lines.extend(_metric_row(metric) for metric in document["metrics"][:_MOST_CAUSES])
    missing = [
        f"- {_escaped(text)}" for metric in document["metrics"] for text in metric["missing"]
    ]
    if missing:
        lines += ["", "Missing to tell:", *list(dict.fromkeys(missing))[:_MOST_DIFFERENCES]]
    if document["causes"]:
        lines += [
            "",
            "| cause | time per step | share of the difference | sure |",
            "|---|---:|---:|---|",
        ]
        lines.extend(_cause_row(cause) for cause in document["causes"][:_MOST_CAUSES])
    different = [*document["incomparable"], *document["differences"]]
    if different:
        lines += [
            "",
            "Environment:",
            *(f"- {_escaped(text)}" for text in different[:_MOST_DIFFERENCES]),
        ]
    if report:
        lines += ["", f"[Report]({report})"]
    return "\n".join(lines)


def check_junit(document: Document) -> str:
    """JUnit XML: a test case for each metric; a regression fails, what cannot be told is an error."""
    metrics = document["metrics"]
    failures = sum(metric["verdict"] == "regression" for metric in metrics)
    errors = sum(metric["verdict"] == "cannot tell" for metric in metrics)
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": "stepscope check",
            "tests": str(len(metrics)),
            "failures": str(failures),
            "errors": str(errors),
        },
    )
    for metric in metrics:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": "stepscope.check", "name": metric["metric"]}
        )
        sentence = metric_sentence(metric)
        if metric["verdict"] == "regression":
            failure = ElementTree.SubElement(case, "failure", {"message": sentence})
            failure.text = "\n".join(cause_sentence(cause) for cause in document["causes"])
        elif metric["verdict"] == "cannot tell":
            error = ElementTree.SubElement(case, "error", {"message": sentence})
            error.text = "\n".join([*metric["missing"], *document["incomparable"]])
        else:
            output = ElementTree.SubElement(case, "system-out")
            output.text = sentence
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def metric_sentence(metric: Document) -> str:
    """`step_time: 3.1 % worse (2.0 to 4.2), 101 ms against 98.2 ms: regression`."""
    name = metric["metric"]
    if metric["worse"] is None:
        return f"{name}: {metric['verdict']}."
    figures = f"{_figure(metric, 'candidate')} against {_figure(metric, 'baseline')}"
    counts = f"{metric['candidate_runs']} against {metric['baseline_runs']} runs"
    return f"{name}: {_worse(metric)}, {figures}, {counts}: {metric['verdict']}."


def cause_sentence(cause: Document) -> str:
    """`host forward/attention: 10.2 ms more per step, 96 % of the difference, sure`."""
    amount = quantity(cause["difference_ns"], "ns")
    sure = "sure" if cause["sure"] else "within its noise"
    more = "more" if cause["difference_ns"] > 0 else "less"
    return f"{cause['kind']} {cause['name']}: {amount} {more} per step, {cause['share']:.0%} of the difference, {sure}"


def _worse(metric: Document) -> str:
    """How much worse, with the interval, in words."""
    worse = metric["worse"]
    low = metric["worse_low"]
    high = metric["worse_high"]
    word = "worse" if worse > 0 else "better"
    if not metric["relative"]:
        amount = quantity(abs(worse), metric["unit"])
        return f"{amount} {word}"
    text = f"{100 * abs(worse):.1f} % {word}"
    if low is None:
        return f"{text} (interval unknown)"
    bounds = (low, high) if worse > 0 else (-high, -low)
    return f"{text} ({100 * bounds[0]:.1f} to {100 * bounds[1]:.1f})"


def _figure(metric: Document, side: str) -> str:
    return quantity(metric[side], metric["unit"])


def _metric_row(metric: Document) -> str:
    worse = _worse(metric) if metric["worse"] is not None else "—"
    cells = (
        metric["metric"],
        _figure(metric, "baseline"),
        _figure(metric, "candidate"),
        worse,
        metric["verdict"],
    )
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _cause_row(cause: Document) -> str:
    amount = quantity(cause["difference_ns"], "ns")
    sure = "yes" if cause["sure"] else "no"
    name = _escaped(f"{cause['kind']} {_shortened(cause['name'])}")
    return f"| {name} | {amount} | {cause['share']:.0%} | {sure} |"


def _shortened(name: str) -> str:
    return name if len(name) <= 120 else f"…{name[-119:]}"


def _runs(names: Sequence[str]) -> str:
    shown = ", ".join(name or "." for name in names[:_MOST_RUNS])
    return shown if len(names) <= _MOST_RUNS else f"{shown} and {len(names) - _MOST_RUNS} more runs"


def _escaped(text: str) -> str:
    """Text that no Markdown or HTML of a run's name changes."""
    for sign in "\\`*_[]<>|~":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ").replace("\r", " ")
