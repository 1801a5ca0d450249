"""Which texts match: tfprof's full-match regexes, and search by text or regex, on RE2, so that no pattern can hang."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import re2

from stepscope.errors import OptionError
from stepscope.lenses.views.options import EVERYTHING
from stepscope.model.columns import Array, Ints, Strings

_MEMORY_BYTES = 64 << 20


def slices(table: Strings) -> list[bytes]:
    """All texts of a table as UTF-8."""
    data, ends = table.blob.tobytes(), table.end.tolist()
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


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


def full_matches(regexes: Sequence[str], texts: Sequence[bytes]) -> Array:
    """Whether some regex covers the whole of each text. The list `['.*']` matches everything; a bad regex nothing."""
    if tuple(regexes) == EVERYTHING:
        return np.ones(len(texts), bool)
    matcher = re2.Set.FullMatchSet(_options())
    good = [regex for regex in regexes if not bad_regexes([regex])]
    if not good:
        return np.zeros(len(texts), bool)
    for regex in good:
        matcher.Add(regex)
    matcher.Compile()
    match = matcher.Match
    return np.fromiter((bool(match(text)) for text in texts), bool, len(texts))


def contains(table: Strings, text: str, *, regex: bool, ignore_case: bool) -> Array:
    """Whether each text of a table holds `text`, or has a part that matches it as a regex.

    Raises:
        OptionError: The regex is not RE2's.
    """
    plain = not regex and (not ignore_case or text.isascii())
    if plain:
        return _contains_text(table, text.encode("utf-8", "replace"), ignore_case)
    pattern = text if regex else re2.escape(text)
    if problems := bad_regexes([pattern]):
        raise OptionError(problems[0], where="search", remedy="Use RE2's syntax, without look-around")
    options = _options()
    options.case_sensitive = not ignore_case
    matcher = re2.Set.SearchSet(options)
    matcher.Add(pattern)
    matcher.Compile()
    match = matcher.Match
    return np.fromiter((bool(match(one)) for one in slices(table)), bool, len(table))


def _contains_text(table: Strings, needle: bytes, ignore_case: bool) -> Array:
    found = np.zeros(len(table), bool)
    if not needle:
        return ~found
    data = table.blob.tobytes()
    if ignore_case:
        data, needle = data.lower(), needle.lower()
    at = data.find(needle)
    while at >= 0:
        index = int(np.searchsorted(table.end, at, side="right"))
        if at + len(needle) <= int(table.end[index]):
            found[index] = True
            at = data.find(needle, int(table.end[index]))
        else:
            at = data.find(needle, at + 1)
    return found


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
