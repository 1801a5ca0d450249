"""The runs of two results, pair by pair: their parts, and what merging changes in each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from stepscope.lenses.incore.analysis import merged_run
from stepscope.lenses.incore.combining import combine
from stepscope.lenses.incore.result import InCoreResult
from stepscope.lenses.incore.runs import RunParts, pair_up, parts
from stepscope.model.incore import InCore, Variant

_PARTS = ("producer", "gap", "consumer", "total")
_SETUP = ("device", "inputs", "configuration")
MERGED_AGAINST_SPLIT = "merged-split"


class RunKey(NamedTuple):
    """What aligns a part of a run in two results.

    Attributes:
        kind: pair, or run for one that stands alone.
        number: Of the pair or run.
        phase: producer, gap, consumer or total, after the variant where both results could hold either.
    """

    kind: str
    number: int
    phase: str

    def __str__(self) -> str:
        return f"{self.kind} {self.number}/{self.phase}"


@dataclass(frozen=True)
class RunFigure:
    """The length of a part of a run in cycles, and what is known of how the run was made."""

    cycles: int
    setup: Mapping[str, str]


Members = dict[tuple[str, int], dict[int, int]]
"""The row in Runs of each variant of a pair or run."""


def run_figures(result: InCoreResult, other: InCoreResult) -> dict[RunKey, RunFigure]:
    """The parts of the runs of a result, by the keys that align them with those of another.

    Variants are told apart, but where one result holds a pair's merged run and the other its split run: those two
    are each other's counterpart. A complete pair adds its merged total - split total.
    """
    record, theirs = _with_runs(result, other), _members(_with_runs(other, result))
    lengths = parts(record.runs)
    found: dict[RunKey, RunFigure] = {}
    for place, variants in _members(record).items():
        across = variants.keys().isdisjoint(theirs.get(place, variants))
        for variant, row in variants.items():
            named = "" if across or place[0] == "run" else f"{Variant(variant).name.lower()}/"
            found.update(_run(RunKey(*place, named), record, lengths, row))
    deltas = {pair.number: pair.total_delta for pair in pair_up(record, lengths.total)}
    complete = {number: delta for number, delta in deltas.items() if delta is not None}
    return found | {
        RunKey("pair", n, MERGED_AGAINST_SPLIT): RunFigure(delta, {})
        for n, delta in complete.items()
    }


def _run(
    key: RunKey, record: InCore, lengths: RunParts, row: int
) -> Iterator[tuple[RunKey, RunFigure]]:
    words = {name: record.text(int(getattr(record.runs, name)[row])) for name in _SETUP}
    setup = {"variant": Variant(int(record.runs.variant[row])).name.lower(), **words}
    for part in _PARTS:
        figure = RunFigure(
            int(getattr(lengths, part)[row]), {name: word for name, word in setup.items() if word}
        )
        yield key._replace(phase=key.phase + part), figure


def _with_runs(result: InCoreResult, other: InCoreResult) -> InCore:
    """The record, with what it is to its pair among its runs where the other result has something of that pair too."""
    record = result.record
    shared = record.pair >= 0 and (
        record.pair == other.record.pair or record.pair in other.record.runs.pair
    )
    merged = merged_run(result.phases) if shared and record.variant == "merged" else None
    return combine([record], [merged]) if shared and (merged or len(record.runs)) else record


def _members(record: InCore) -> Members:
    runs = record.runs
    found: Members = {}
    for row, (pair, run, variant) in enumerate(
        zip(runs.pair.tolist(), runs.run.tolist(), runs.variant.tolist(), strict=True)
    ):
        place = ("pair", pair) if pair >= 0 else ("run", run)
        found.setdefault(place, {}).setdefault(variant, row)
    return found
