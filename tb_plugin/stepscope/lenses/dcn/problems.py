"""Problems that make the tables incomplete or empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepscope.lenses.dcn.tabulate import Core, Pool
from stepscope.model.collectives import Collectives

Problem = dict[str, Any]


def problems_of(records: Sequence[Collectives], pooled: Pool) -> tuple[Problem, ...]:
    """Losses of the records, then ops that the tables leave out, then why there is no table."""
    problems: list[Problem] = []
    for record in records:
        problems += [loss.to_json() for loss in record.header.losses]
    for core in pooled.cores:
        problems += _of_core(core)
    return (*problems, *_emptiness(records, pooled))


def _of_core(core: Core) -> list[Problem]:
    counts = core.counters
    problems = []
    for name, what, remedy in _CORE_PROBLEMS:
        if counts[name]:
            where = f"host {core.host}, core {core.id}"
            problems.append({"where": where, "what": what, "count": counts[name], "remedy": remedy})
    return problems


_WRITE_HLO = (
    "Profile again without compiling for the CPU in the same process, so that the HLO is written"
)
_CORE_PROBLEMS = (
    (
        "dcn_ops_unidentified",
        "send and recv ops could not be identified: neither an HLO proto nor an instruction text describes them",
        _WRITE_HLO,
    ),
    (
        "dcn_ops_without_hlo",
        "send and recv ops have no HLO proto, so that it is unknown what could overlap them",
        _WRITE_HLO,
    ),
    (
        "dcn_ops_outside_modules",
        "cross-slice ops start outside every module execution, so they belong to no occurrence",
        "Profile for longer, so that whole executions are recorded",
    ),
    (
        "unmatched_sends",
        "sends have no recv-done in the profile; they are in no row",
        "Profile for longer if these are many",
    ),
    (
        "unmatched_recv_dones",
        "recv-dones have no send in the profile; they are in no row",
        "Profile for longer if these are many",
    ),
)


def _emptiness(records: Sequence[Collectives], pooled: Pool) -> list[Problem]:
    if any(core.counters["dcn_ops"] for core in pooled.cores):
        return []
    where = ", ".join(dict.fromkeys(record.header.source for record in records))
    if not pooled.cores:
        what = "the profile is empty"
        if pooled.hosts:
            what = "the profile holds no TPU core"
        remedy = "Profile the workers that run on TPUs; a profile longer than about 30 s may lose its device events"
    else:
        what = "no core sent or received anything across slices"
        remedy = "This is right for a run on one slice"
    return [{"where": where, "what": what, "count": 0, "remedy": remedy}]
