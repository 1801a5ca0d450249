"""Rows are found by text and by regex, and stay what they are called."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st
from view_profiles import Node, few, profile, profiles

from stepscope.errors import OptionError
from stepscope.lenses.views import ViewEngine, ViewResult, ViewsOptions, matching
from stepscope.lenses.views.index import ProfileIndex
from stepscope.lenses.views.matching import SearchTable, byte_ranks, full_matches
from stepscope.model.columns import Strings
from stepscope.model.profile import Profile, Scopes

TEXTS = st.lists(st.text("abAB/é.", max_size=5), max_size=8)


@few
@given(TEXTS, st.text("abAB/é.", min_size=1, max_size=3), st.booleans())
def test_a_text_is_found_where_it_is(texts: Sequence[str], text: str, ignore_case: bool) -> None:
    found = SearchTable(Strings.of(texts)).contains(text, ignore_case=ignore_case)
    fold = str.lower if ignore_case else str
    assert found.tolist() == [fold(text) in fold(one) for one in texts]


REGEXES = (
    ".*a.*",
    "[^b]*",
    "a?b*|/.",
    "(a)(/)?",
    "^a.*$",
    r"\Aa.*",
    "(?i)A.",
    r"\s*",
    r"a\C",
    "(?s)a.b",
    "",
    "[^a]b",
    r"\Ba|a\b",
)


@few
@given(
    st.lists(st.text("abA/\n", max_size=4), min_size=1, max_size=30),
    st.lists(st.sampled_from(REGEXES), max_size=3),
)
def test_many_texts_match_as_each_does_alone(texts: Sequence[str], regexes: Sequence[str]) -> None:
    wanted = [any(re2.fullmatch(regex, text) for regex in regexes) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_MANY", 1)
        patch.setattr(matching, "_SAMPLE", 1)
        patch.setattr(matching, "_OFTEN", 1)
        assert full_matches(regexes, [text.encode() for text in texts]).tolist() == wanted
        assert full_matches(regexes, Strings.of(texts)).tolist() == wanted


@few
@given(
    st.lists(st.text("abA/\n", max_size=4), min_size=1, max_size=30),
    st.sampled_from(REGEXES),
    st.booleans(),
)
def test_many_texts_are_searched_as_each_is_alone(
    texts: Sequence[str], regex: str, ignore_case: bool
) -> None:
    options = re2.Options()
    options.case_sensitive = not ignore_case
    wanted = [bool(re2.search(regex, text, options)) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_MANY", 1)
        patch.setattr(matching, "_SAMPLE", 1)
        patch.setattr(matching, "_OFTEN", 1)
        found = SearchTable(Strings.of(texts)).contains(regex, regex=True, ignore_case=ignore_case)
    assert found.tolist() == wanted


def test_a_text_is_not_found_across_two_names() -> None:
    assert SearchTable(Strings.of(["ab", "cd", ""])).contains("bc").tolist() == [
        False,
        False,
        False,
    ]
    assert SearchTable(Strings.of(["xa", "", "aa", "a"])).contains("aa").tolist() == [
        False,
        False,
        True,
        False,
    ]
    assert SearchTable(Strings.of([])).contains("a").tolist() == []


@pytest.mark.parametrize("ignore_case", [False, True])
def test_half_a_surrogate_pair_is_in_no_text(ignore_case: bool) -> None:
    table = SearchTable(Strings.of(["a", "\ud800"]))
    assert not table.contains("a\udcff", ignore_case=ignore_case).any()


def test_regexes_cover_the_whole_name_and_search_any_part() -> None:
    names = [b"conv1", b"conv12", b"x\ny"]
    assert full_matches(["conv.", "x.y"], names).tolist() == [True, False, False]
    assert full_matches([".*"], names).tolist() == [True, True, False]
    assert full_matches([".*", ".*"], names).tolist() == [True, True, False]
    assert full_matches([], names).tolist() == [False, False, False]
    table = SearchTable(Strings.of(["Conv1", "dense"]))
    assert table.contains("v[0-9]", regex=True).tolist() == [True, False]
    assert table.contains("^conv", regex=True, ignore_case=True).tolist() == [True, False]


def test_a_search_regex_that_re2_does_not_know_is_an_error() -> None:
    with pytest.raises(OptionError, match=r"search: regex '\(\?=a\)' matches nothing"):
        SearchTable(Strings.of(["a"])).contains("(?=a)", regex=True)


def scopes() -> ViewResult:
    nodes = profile([Node("net/conv/w"), Node("net/dense"), Node("conv")])
    return ViewEngine(nodes).analyze(ViewsOptions(view="scope", order_by="name"))


def test_rows_are_searched_by_their_own_name_and_with_a_slash_by_their_path() -> None:
    result = scopes()
    paths = result.paths(range(len(result)))

    def found(text: str, *, regex: bool = False) -> list[str]:
        return [
            path
            for path, hit in zip(paths, result.search(text, regex=regex).tolist(), strict=True)
            if hit
        ]

    assert found("CONV") == ["conv", "net/conv"]
    assert found("net/conv") == ["net/conv", "net/conv/w"]
    assert found("^(conv|dense)$", regex=True) == ["conv", "net/conv", "net/dense"]


def test_short_names_and_paths() -> None:
    result = scopes()
    assert result.names(range(len(result))) == ["_TFProfRoot", "conv", "net", "conv", "w", "dense"]
    assert result.paths([4]) == ["net/conv/w"]
    assert result.name_ranks.argsort().tolist() == [0, 1, 2, 3, 4, 5]


@few
@given(profiles())
def test_scope_paths_stand_in_the_byte_order_of_whole_names(profile: Profile) -> None:
    index = ProfileIndex(profile)
    names = [profile.strings[i] for i in profile.nodes.name.tolist()]
    by_rank = sorted(range(len(names)), key=index.node_ranks.tolist().__getitem__)
    assert [names[i] for i in by_rank] == sorted(names, key=str.encode)


@few
@given(st.data(), st.sampled_from([("a", "ab", "b", "a0"), ("a", "a-", "a-b", "a.c", "a!", "b")]))
def test_ranks_of_scopes_are_the_byte_order_of_their_paths(
    data: st.DataObject, names: tuple[str, ...]
) -> None:
    paths: list[str] = []
    parents: list[int] = []
    words: list[int] = []
    for _ in range(data.draw(st.integers(1, 25))):
        parent, word = (
            data.draw(st.integers(-1, len(paths) - 1)),
            data.draw(st.integers(0, len(names) - 1)),
        )
        path = f"{paths[parent]}/{names[word]}" if parent >= 0 else names[word]
        if path not in paths:
            paths.append(path)
            parents.append(parent)
            words.append(word)
    scopes = Scopes(parent=np.array(parents), name=np.array(words))
    ranks = ProfileIndex(Profile(strings=Strings.of(names), scopes=scopes)).scope_ranks
    assert [paths[i] for i in np.argsort(ranks)] == sorted(paths, key=str.encode)
    assert sorted(ranks.tolist()) == sorted(set(ranks.tolist()))


def test_equal_texts_have_equal_ranks() -> None:
    assert byte_ranks([b"b", b"a", b"b", b"a-", b"a/"]).tolist() == [3, 0, 3, 1, 2]
    assert byte_ranks([]).tolist() == []
