"""Writes docs/first-findings.md: the first three findings of each real and made trace beside the project.

python docs/write_first_findings.py ../shared
"""

from __future__ import annotations

import sys
from pathlib import Path

import stepscope

PAGE = Path(__file__).with_name("first-findings.md")
HEAD = """\
# The first findings of real traces

What `stepscope findings` says first of each PyTorch trace that the tests read: public material of HTA, Kineto, PARAM
and TraceLens, and traces made for the project. The share is what is saved at most; a dash
stands where that is unknown.

This page is written by `python docs/write_first_findings.py ../shared`.
"""
MOST = 3


def main() -> None:
    """Writes the page."""
    shared = Path(sys.argv[1])
    lines = [HEAD]
    for folder in ("data/torch", "cases/findings"):
        lines += [f"## {folder}", ""]
        for trace in sorted((shared / folder).rglob("*.json*")):
            if "right" in trace.name or "memory_timeline" in trace.parts:
                continue
            lines += _lines(trace, str(trace.relative_to(shared / folder)))
    PAGE.write_text("\n".join(lines), encoding="utf-8")


def _lines(trace: Path, name: str) -> list[str]:
    source = stepscope.open(trace)
    summaries = source.summary()
    sentence = summaries[0]["sentence"] if summaries else ""
    lines = [f"**{name}**: {sentence}", ""]
    findings = source.findings()[:MOST]
    for number, finding in enumerate(findings, 1):
        lines.append(
            f"{number}. {_share(finding)} `{finding['rule']}` {_shortened(finding['title'])}"
        )
    if not findings:
        lines.append("No issues found.")
    return [*lines, ""]


def _share(finding: dict[str, object]) -> str:
    saving_share = finding["saving_share"]
    if isinstance(saving_share, float):
        return f"{saving_share:.1%}"
    return "—"


def _shortened(title: str) -> str:
    return title if len(title) < 160 else f"{title[:157]}..."


if __name__ == "__main__":
    main()
