"""Writes docs/findings.md from the rules: `python docs/write_findings.py`."""

from pathlib import Path

from stepscope.findings import RULES
from stepscope.findings.reference import page

if __name__ == "__main__":
    Path(__file__).with_name("findings.md").write_text(page(RULES), encoding="utf-8")
