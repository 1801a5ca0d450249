"""Rules over lens results, and what they find, ranked and with evidence."""

from stepscope.findings import cross, dcn, incore, precision, ranks, steps, throughput, views
from stepscope.findings.finding import Certainty, Evidence, Finding, panel_hash
from stepscope.findings.rules import AnyRule, CrossRule, LensResult, Rule, find, rank, unreadable

RULES: tuple[AnyRule, ...] = (
    *views.RULES,
    *steps.RULES,
    precision.RULE,
    *throughput.RULES,
    *incore.RULES,
    *dcn.RULES,
    *cross.RULES,
    *ranks.RULES,
)
"""All rules, of all lenses."""

__all__ = [
    "RULES",
    "Certainty",
    "CrossRule",
    "Evidence",
    "Finding",
    "LensResult",
    "Rule",
    "find",
    "panel_hash",
    "rank",
    "unreadable",
]
