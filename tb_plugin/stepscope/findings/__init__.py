"""Rules over lens results, and what they find, ranked and with evidence."""

from stepscope.findings import (
    communication,
    compilation,
    cross,
    dcn,
    device_costs,
    host_waits,
    incore,
    missing_work,
    precision,
    ranks,
    remaining_time,
    steps,
    throughput,
    views,
)
from stepscope.findings.finding import Certainty, Evidence, Finding, panel_hash
from stepscope.findings.rules import (
    AnyRule,
    CrossRule,
    LensResult,
    ResidualRule,
    Rule,
    document_rank,
    find,
    rank,
    unreadable,
)

RULES: tuple[AnyRule, ...] = (
    *host_waits.RULES,
    *device_costs.RULES,
    *compilation.RULES,
    *communication.RULES,
    precision.RULE,
    missing_work.RULE,
    *views.RULES,
    *steps.RULES,
    *throughput.RULES,
    *incore.RULES,
    *dcn.RULES,
    *cross.RULES,
    *ranks.RULES,
    *remaining_time.RULES,
)
"""All rules, of all lenses."""

__all__ = [
    "RULES",
    "Certainty",
    "CrossRule",
    "Evidence",
    "Finding",
    "LensResult",
    "ResidualRule",
    "Rule",
    "document_rank",
    "find",
    "panel_hash",
    "rank",
    "unreadable",
]
