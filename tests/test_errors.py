"""Errors say what was found, in few words, and come whole from another process."""

from __future__ import annotations

import pickle

from stepscope.errors import LONGEST_FOUND, NotFound, RecordError


def test_an_error_comes_whole_from_another_process() -> None:
    error = pickle.loads(pickle.dumps(NotFound("no run", where="logdir", remedy="Choose one")))
    assert isinstance(error, NotFound)
    assert str(error) == "logdir: no run. Choose one."


def test_what_somebody_gave_is_repeated_only_in_part() -> None:
    assert NotFound("x" * 60_000).found == "x" * LONGEST_FOUND + "…"


def test_an_error_of_a_record_says_where_it_lies() -> None:
    error = RecordError("a tick of 0 ps", where="profile record, tick_ps", remedy="Report it")
    assert (
        str(error.within("trace.json"))
        == "trace.json: profile record, tick_ps: a tick of 0 ps. Report it."
    )
    assert RecordError("nothing").within("trace.json").where == "trace.json"
