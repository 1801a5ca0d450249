"""Rules over lens results, and what they find, ranked and with evidence."""

from typing import Any

from stepscope.findings import dcn, incore, throughput, views
from stepscope.findings.finding import Certainty, Evidence, Finding, panel_hash
from stepscope.findings.rules import Rule, Subject, find

RULES: tuple[Rule[Any], ...] = (*views.RULES, *throughput.RULES, *incore.RULES, *dcn.RULES)
"""All rules, of all lenses."""

__all__ = ["RULES", "Certainty", "Evidence", "Finding", "Rule", "Subject", "find", "panel_hash"]
