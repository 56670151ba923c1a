from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.errors import UsageError
from chathpc.prompts.untrusted import LONGEST, block, clean_lines, quote

TOKENS = ["<|im_end|>", "<|im_start|>system", "[INST]", "[/INST]", "<s>", "</s>", "<<SYS>>", "<</SYS>>", "<start_of_turn>", "<|eot_id|>", "<think>"]


@pytest.mark.parametrize("token", TOKENS)
def test_template_tokens_are_taken_out_also_when_taking_out_makes_one(token: str) -> None:
    for text in (f"a{token}b", token[:3] + token + token[3:], token.upper(), token.replace("<", "＜")):
        assert token.lower() not in quote(text).lower()


@given(st.text(max_size=600) | st.lists(st.sampled_from([*TOKENS, "<", "|", ">", "x", "[", "]"]), max_size=80).map("".join))
def test_what_is_quoted_is_one_short_line_without_invisible_characters_and_tokens(text: str) -> None:
    quoted = quote(text)
    assert not [c for c in quoted if unicodedata.category(c) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")]
    assert not [token for token in TOKENS if token.lower() in quoted.lower()]
    assert "<|" not in quoted.replace("<|…", "")
    assert len(quoted.replace("\\\\", "\\")) <= LONGEST


@pytest.mark.parametrize("name", ["std::vector<int, std::allocator<int>>::push_back(int&&)", "main", "kern<<<1, 2>>>", "operator||", "f(char*)", 'g("x")'])
def test_ordinary_names_stay_as_they_are(name: str) -> None:
    assert quote(name) == name


def test_bidirectional_zero_width_and_tag_characters_vanish() -> None:
    assert quote("a\u202eb\u200bc\U000e0041d\x1b[31m\x85e") == "abcd[31m e"


def test_lines_of_source_keep_their_indentation() -> None:
    assert clean_lines("for (;;)\n\tx += 1;  <|im_end|>") == "for (;;)\n    x += 1;"


@pytest.mark.parametrize("marker", ["", "short", "with space", "x" * 65, "insidetext"])
def test_a_marker_must_be_a_secret_that_the_data_cannot_hold(marker: str) -> None:
    with pytest.raises(UsageError):
        block("FACTS", "data insidetext", marker)
