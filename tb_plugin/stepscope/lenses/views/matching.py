"""Which texts match: tfprof's full-match regexes, and search by text or regex, on RE2, so that no pattern can hang."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import re2

from stepscope.errors import OptionError
from stepscope.model.columns import Array, Ints, Strings

_MEMORY_BYTES = 64 << 20
_FEW = 16
_MANY = 10_000
_SAMPLE = 1000
_OFTEN = 0.1
_BOUND_TO_ONE_TEXT = re.compile(r"\\[AzZCQ]|\(\?[^:]")
"""What means another thing in a text of many lines: the text's start and end, any byte, literal text, and flags."""


def slices(table: Strings) -> list[bytes]:
    """All texts of a table as UTF-8."""
    data, ends = table.blob.tobytes(), table.end.tolist()
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def chosen(table: Strings, ids: Array) -> list[bytes]:
    """Some texts of a table as UTF-8; those of negative ids are empty."""
    if not len(table):
        return [b""] * len(ids)
    # Bytes are cut faster than a view of them, but to make them is worth it for many texts only.
    data: Any = table.blob.tobytes() if len(ids) > len(table) // _FEW else table.blob.data
    known = np.maximum(ids, 0)
    stop = np.where(ids >= 0, table.end[known], 0)
    start = np.where(ids > 0, table.end[known - 1], 0)
    return [bytes(data[a:b]) for a, b in zip(start.tolist(), stop.tolist(), strict=True)]


def bad_regexes(regexes: Iterable[str]) -> list[str]:
    """What is wrong with the regexes that RE2 cannot compile, one clause each."""
    found = []
    for regex in regexes:
        try:
            re2.compile(regex, options=_options())
        except re2.error as error:
            reason = error.args[0] if error.args else ""
            text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
            found.append(f"regex {regex!r} matches nothing: {text}")
    return found


def full_matches(regexes: Sequence[str], texts: Sequence[bytes] | Strings) -> Array:
    """Whether some regex covers the whole of each text. A bad regex matches nothing, `.` no end of line."""
    good = [regex for regex in regexes if not bad_regexes([regex])]
    return _matching(good, texts, _options(), whole=True) if good else np.zeros(len(texts), bool)


def _matching(
    regexes: Sequence[str], texts: Sequence[bytes] | Strings, options: re2.Options, *, whole: bool
) -> Array:
    """Whether some regex matches each text, its whole or a part of it."""
    matcher = re2.Set.FullMatchSet(options) if whole else re2.Set.SearchSet(options)
    for regex in regexes:
        matcher.Add(regex)
    matcher.Compile()
    if len(texts) >= _MANY and not _BOUND_TO_ONE_TEXT.search("".join(regexes)):
        # A scan of all texts costs by the match, and otherwise a tenth of asking for each.
        some = range(0, len(texts), len(texts) // _SAMPLE)
        sample = (
            chosen(texts, np.array(some))
            if isinstance(texts, Strings)
            else [texts[at] for at in some]
        )
        if _matches(matcher, sample).mean() <= _OFTEN:
            found = _line_matches(regexes, *_lines(texts), options, whole=whole)
            if found is not None:
                return found
    return _matches(matcher, slices(texts) if isinstance(texts, Strings) else texts)


def _lines(texts: Sequence[bytes] | Strings) -> tuple[Array, Ints]:
    """The texts, each with an end of line, and where those stand."""
    if not isinstance(texts, Strings):
        size = np.fromiter(map(len, texts), np.int64, len(texts))
        return np.frombuffer(b"\n".join([*texts, b""]), np.uint8), np.cumsum(size + 1) - 1
    end = texts.end + np.arange(len(texts))
    lines = np.full(len(texts.blob) + len(texts), ord("\n"), np.uint8)
    is_text = np.ones(len(lines), bool)
    is_text[end] = False
    lines[is_text] = texts.blob
    return lines, end


def _line_matches(
    regexes: Sequence[str], lines: Array, end: Ints, options: re2.Options, *, whole: bool
) -> Array | None:
    """The lines that some regex matches, by one scan; None where there are more ends of lines than texts."""
    if np.count_nonzero(lines == ord("\n")) > len(end):
        return None
    options.never_nl = options.never_capture = True
    either = "|".join(f"(?:{regex})" for regex in regexes)
    # The rest of the line goes with a part of it, so that each line is found once.
    pattern = re2.compile(
        f"(?m)^(?:{either})$" if whole else f"(?m)(?:{either}).*$", options=options
    )
    starts = [match.start() for match in pattern.finditer(lines[:-1])]
    found = np.zeros(len(end), bool)
    found[np.searchsorted(end, starts)] = True
    return found


class SearchTable:
    """Texts to be searched again and again. Plain text is looked for in the bytes of all texts at once."""

    def __init__(self, table: Strings) -> None:
        self._table = table

    @cached_property
    def _lower(self) -> bytes:
        return self._table.blob.tobytes().lower()

    def contains(self, text: str, *, regex: bool = False, ignore_case: bool = False) -> Array:
        """Whether each text holds `text`, or has a part that matches it as a regex.

        Raises:
            OptionError: The regex is not RE2's.
        """
        text = text.encode("utf-8", "replace").decode()
        if not regex and not ignore_case:
            return self._find(self._table.blob.data, text.encode())
        if not regex and text.isascii():
            return self._find(self._lower, text.lower().encode())
        pattern = text if regex else re2.escape(text)
        if problems := bad_regexes([pattern]):
            raise OptionError(
                problems[0], where="search", remedy="Use RE2's syntax, without look-around"
            )
        options = _options()
        options.case_sensitive = not ignore_case
        return _matching([pattern], self._table, options, whole=False)

    def _find(self, data: bytes | memoryview, needle: bytes) -> Array:
        end = self._table.end
        found = np.full(len(end), not needle)
        if not needle or not len(data):
            return found
        starts = np.fromiter(
            (match.start() for match in re.finditer(re.escape(needle), data)), np.int64
        )
        text = np.searchsorted(end, starts, side="right")
        inside = starts + len(needle) <= end[text]
        found[text[inside]] = True
        # What is found across texts may hide what begins a little later, in one of them.
        for start, at in zip(starts[~inside].tolist(), text[~inside].tolist(), strict=True):
            while end[at] < start + len(needle):
                at += 1
                found[at] |= needle in bytes(data[end[at - 1] : end[at]])
        return found


def _matches(matcher: Any, texts: Sequence[bytes]) -> Array:
    return np.fromiter(map(bool, map(matcher.Match, texts)), bool, len(texts))


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY_BYTES
    return options


def byte_ranks(texts: Sequence[bytes]) -> Ints:
    """The place of each text in the byte order of all; equal texts have equal places."""
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = np.empty(len(texts), np.int64)
    ordered = [texts[i] for i in order]
    new = np.fromiter((a != b for a, b in pairwise(ordered)), np.int64, max(len(texts) - 1, 0))
    ranks[order] = np.concatenate((np.zeros(min(len(texts), 1), np.int64), np.cumsum(new)))
    return ranks
