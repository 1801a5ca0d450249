"""The page about the rules is the rules'."""

from __future__ import annotations

from pathlib import Path

from stepscope.findings import RULES
from stepscope.findings.reference import page

PAGE = Path(__file__).parents[2] / "docs" / "findings.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(RULES), "run: python docs/write_findings.py"


def test_each_rule_says_what_it_finds_in_one_line() -> None:
    for rule in RULES:
        assert rule.help
        assert not {"\n", "|"} & set(rule.help), rule.name
