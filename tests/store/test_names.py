"""Names in tags."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from stepscope.store import names

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_escaping_is_reversible_and_leaves_nothing_that_a_loader_cannot_carry(name: str) -> None:
    text = names.escape(name)
    assert names.unescape(text) == name
    text.encode()
    assert json.dumps(text, ensure_ascii=False) == f'"{text}"'


@given(ANY_TEXT, st.integers(0, 10**9))
def test_a_tag_says_what_it_was_made_of(name: str, block: int) -> None:
    tag = names.tag_of("profile", name, "1a2b", block)
    assert names.parse_tag(tag) == ("profile", name, "1a2b", block)
    assert names.parse_tag(names.part_tag(tag, 3)) is None
    assert names.part_tag(tag, 0) == tag


def test_other_scripts_and_emoji_stay_readable() -> None:
    assert names.escape("größe/数 🦊") == "größe/数 🦊"
    assert names.escape('a"b\\c\n%') == "a%22b%5Cc%0A%25"


def test_tags_of_others_are_not_taken_for_records() -> None:
    for tag in ("loss", "stepscope", "stepscope/profile/s-0", "other/profile/p/s-0", "stepscope/profile/p/s-x"):
        assert names.parse_tag(tag) is None
    assert names.unescape("%FF 5%") == "%FF 5%"
