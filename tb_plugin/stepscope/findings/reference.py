"""The rules as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable

from stepscope.findings.rules import AnyRule

_HEAD = """\
# Findings: what to change, and what it saves

`stepscope findings SOURCE...`, the panel's Findings and `stepscope.open(SOURCE).findings()` run every rule and rank the
findings by the time that they save.

```json
{"rule": "host-sync",
 "title": "aten::item waits for the device once a step, which then stands idle: up to 1.6 ms of a step of 9.99 ms",
 "saving_share": 0.16, "saving": 1600, "cost_share": 0.16, "cost": 1604, "whole": 9990, "unit": "us", "step": null,
 "try": ["Log the loss every n steps instead of calling .item() in each"],
 "advice": "The host launches nothing while it waits, so that the device runs dry: wait less often, or later",
 "certainty": "derived",
 "evidence": [{"lens": "views", "run": "a", "name": "profile", "key": "aten::item",
               "hash": "#stepscope&p.stepscope.pane=trace&..."}]}
```

* `saving` is the elapsed time that a step is shorter without the cause, in `unit`, and `saving_share` its part of
  `whole`, the mean elapsed step. Both are null where StepScope cannot know them.
* StepScope replays the trace to find the saving: a graph of what waits for what (thread order, launch to kernel, stream
  order, streams that wait for each other, calls that wait for the device, threads that wait for each other). Unchanged,
  the replay gives the recorded steps. A cause is removed from it, and the steps are as much shorter as they would be.
  Idle time that another cause would fill again saves nothing.
* `cost` is what the cause takes in the trace, per step, as the panes show it. It may be more than the saving.
* `try` holds one to three changes, `step` the step that is meant, and `hash` opens the panel where the cause shows.
* `certainty` is `measured` where the trace records it, `derived` where it follows from the trace, and `hint` where
  only the pattern is known.
* Findings are ranked by `saving_share`. One whose saving is unknown ranks as half of its cost.
* Each cause is one finding: StepScope merges findings with the same cause, and what a job's ranks have in common, with
  the figures of the worst rank. `host-bound` is the idle time that is left once all other causes are gone.
* Shares of the throughput lens are of the run, those of the dcn lens of the profiled time of the cores, those of the
  in-core lens of the kernel.
* The profiler's own start and its last synchronisation lie outside the steps and are never told.
* A record that cannot be read is a finding itself, `unreadable-record`, and so is a rule that fails, `failed-rule`.
  Neither hides another finding.

"""

_TAIL = """
## How it is checked

`python benchmarks/planted.py` simulates training jobs with planted causes (host threads, launch queue, streams, ranks),
with and without the cause, in a model that shares no code with the replay, and compares the saving with the true
difference. 60 clean jobs must have no finding above 5 %.

tfprof's checkers are among the rules, with fixes: tfprof takes each node's own last step and counts parallel streams
twice, where StepScope takes the union per device and step; tfprof does not know FusedBatchNormV2 and V3.

This page is written by `python docs/write_findings.py`.
"""


def page(rules: Iterable[AnyRule]) -> str:
    """The page, in Markdown."""
    lines = ["| rule | lens | finds | certainty |", "|---|---|---|---|"]
    lines += [
        f"| `{rule.name}` | {', '.join(rule.lenses)} | {rule.help} | {rule.certainty} |"
        for rule in rules
    ]
    return _HEAD + "\n".join(lines) + "\n" + _TAIL
