"""Asks a lens about the chosen records of a source, and keeps what it worked out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from stepscope.lenses.lens import HasDocument, Scope
from stepscope.lenses.registry import AnyLens
from stepscope.model.diagnostic import Diagnostic
from stepscope.session.catalog import RecordRef
from stepscope.session.job import job_refs
from stepscope.session.results import ComparisonAnswer
from stepscope.session.selection import hidden_among, newest

if TYPE_CHECKING:
    from stepscope.session.source import Source


def analyze(source: Source, lens: AnyLens, options: Any) -> HasDocument:
    """The lens's result for the chosen records.

    Raises:
        NotFound: No record of the lens's kind is chosen.
        OptionError: Records of several runs are left where the lens takes those of one.
        StepscopeError: None of the records can be read.
    """
    scope = lens.scope(options)
    if scope is Scope.RECORD:
        return analyze_record(source, lens, source.select_record(lens.record_kind), options)
    refs = job_refs(source) if scope is Scope.JOB else source.select_records(lens.record_kind)
    key = (lens.name, options, *(_key(ref) for ref in refs))

    def make() -> HasDocument:
        result: HasDocument = lens.analyze(lens.prepare(source.readable(refs)), options)
        return result

    return source.caches.answers.get(key, make)


def hidden_records(source: Source, lens: AnyLens, options: Any) -> list[Diagnostic]:
    """Which of several records of a run the lens shows, and how to choose the others.

    Raises:
        NotFound: No record of the lens's kind is chosen.
    """
    scope = lens.scope(options)
    if scope is Scope.JOB:
        return []
    refs = source.candidates(lens.record_kind)
    if scope is Scope.RECORD:
        return hidden_among(refs, [newest(refs)])
    return hidden_among(refs, source.select_records(lens.record_kind))


def analyze_record(source: Source, lens: AnyLens, ref: RecordRef, options: Any) -> HasDocument:
    """The lens's result for one record."""

    def make() -> HasDocument:
        result: HasDocument = lens.analyze(prepared(source, lens, ref), options)
        return result

    if not lens.keeps_results:
        return make()
    return source.caches.views.get((lens.name, _key(ref), options), make)


def prepared(source: Source, lens: AnyLens, ref: RecordRef) -> Any:
    """What all analyses of a record share."""
    key = (lens.name, _key(ref))
    return source.caches.engines.get(key, lambda: lens.prepare([source.read(ref)]))


def compare(
    source: Source, baseline: Source, lens: AnyLens, values: Mapping[str, Any]
) -> ComparisonAnswer:
    """Compares the chosen records of two sources. Deltas are source minus baseline.

    Args:
        source: The source in question.
        baseline: What it is compared with.
        lens: The lens.
        values: Checked values of the options that were given.
    """
    # How many steps each profile has decides what a comparison of views is per.
    if lens.scope(lens.options_type()) is Scope.RECORD:
        a = prepared(source, lens, source.select_record(lens.record_kind))
        b = prepared(baseline, lens, baseline.select_record(lens.record_kind))
        values = lens.comparison_values(values, a, b)
    options = lens.options_type(**values)
    a_result = analyze(source, lens, options)
    b_result = analyze(baseline, lens, options)
    comparison = lens.compare(a_result, b_result, options)
    notes = lens.comparison_notes(a_result, b_result, comparison)
    return ComparisonAnswer(lens, comparison, notes)


def _key(ref: RecordRef) -> Hashable:
    return (ref.run, ref.name, ref.key)
