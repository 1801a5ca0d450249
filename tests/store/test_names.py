"""Names in tags."""

from __future__ import annotations

import json
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from stepscope.store import names

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_escaping_is_reversible_and_leaves_nothing_that_a_loader_cannot_carry(name: str) -> None:
    text = names.escape(name)
    assert unquote(text, errors="surrogatepass") == name
    text.encode()
    assert json.dumps(text, ensure_ascii=False) == f'"{text}"'


@given(ANY_TEXT, st.integers(0, 10**9), st.integers(1, 10**6))
def test_further_parts_are_told_from_the_record_itself(name: str, block: int, part: int) -> None:
    tag = names.tag_of("profile", name, "1a2b", block)
    assert names.part_tag(tag, 0) == tag
    assert not names.is_part(tag)
    assert names.is_part(names.part_tag(tag, part))


def test_other_scripts_and_emoji_stay_readable() -> None:
    assert names.escape("größe/数 🦊") == "größe/数 🦊"
    assert names.escape('a"b\\c\n%') == "a%22b%5Cc%0A%25"
