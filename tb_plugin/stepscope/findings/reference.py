"""The rules as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable

from stepscope.findings.rules import AnyRule

_HEAD = """\
# Findings: what to do first

`stepscope findings SOURCE...`, the panel's Findings and `stepscope.open(SOURCE).findings()` ask every rule about every
lens and rank what they find by the share of the time that could be gained at most. Each cause is told once.

```json
{"rule": "hot-spot", "title": "op aten::conv2d takes 41.4% of the time (2.99 ms)",
 "cost_share": 0.414, "cost": 2990, "unit": "us",
 "evidence": [{"lens": "views", "run": "a", "name": "profile", "key": "aten::conv2d",
               "hash": "#stepscope&p.stepscope.lens=views&..."}],
 "advice": "See which calls make it up, and whether they can be fewer, fused or smaller", "certainty": "measured"}
```

The answer is the list of these. `certainty` is `measured` where the cost was recorded, `derived` where it follows from
what was recorded, and `hint` where only the pattern is known. `hash` is the address at which the panel shows the
evidence.

* Shares of the throughput lens are of the run, those of the views lens of the profile, those of the dcn lens of the
  profiled time of the cores, those of the in-core lens of the kernel.
* Rows of the views that cover the same time are one finding, named after the op: an op and what it calls, a scope or a
  line that runs nothing else. A scope or line is told where ops do not explain most of it.
  A line of an installed library is told as the nearest line above it that is not, unless that holds everything.
* A rule over several lenses looks at the records of one run, or of the ranks of one job, and replaces the findings that
  it joins.
* What several ranks of a job have in common (one rule, one subject) is one finding: it says in how many ranks, and its
  cost, share and first evidence are those of the worst; up to eight places of evidence are kept.
* A record that cannot be read, or is too large for a rule, is a finding itself: `unreadable-record`. It hides no other.

"""

_TAIL = """
tfprof's checkers are among them, mended: it takes each node's own last step and counts parallel streams twice where we
take the union per device and step; it does not know FusedBatchNormV2 and V3; it prints scopes with their own time,
which is 0, where we print totals.

`examples/planted_run.py` trains with a slow op, waits for data and checkpoints of known shares: they are found first.

This page is written by `python docs/write_findings.py`.
"""


def page(rules: Iterable[AnyRule]) -> str:
    """The page, in Markdown."""
    lines = ["| rule | lens | finds | certainty |", "|---|---|---|---|"]
    lines += [f"| `{rule.name}` | {', '.join(rule.lenses)} | {rule.help} | {rule.certainty} |" for rule in rules]
    return _HEAD + "\n".join(lines) + "\n" + _TAIL
