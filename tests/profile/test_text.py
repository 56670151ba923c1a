"""Text of a profile: what acts on a terminal, misleads or cannot be seen is made visible."""

from __future__ import annotations

import unicodedata

import pytest

from chathpc.profile.text import REPLACEMENT, clean


@pytest.mark.parametrize("name", ["relax<double>", "größe", "計算", "a\N{COMBINING ACUTE ACCENT}", "🚀 fast"])
def test_text_that_can_be_seen_is_unchanged(name: str) -> None:
    assert clean(name) == name


@pytest.mark.parametrize("code", [0x00, 0x1B, 0x85, 0x200B, 0x202E, 0x2066, 0xD800, 0xE000, 0xE0041, 0x2028, 0xFEFF])
def test_what_acts_or_reorders_is_replaced(code: int) -> None:
    assert clean(f"f{chr(code)}g") == f"f{REPLACEMENT}g"


@pytest.mark.parametrize("code", [0x034F, 0x115F, 0x180B, 0x3164, 0xFE00, 0xFE0F, 0xFFA0, 0xE0100, 0xE01EF])
def test_what_shows_nothing_is_replaced_though_it_is_a_letter_or_a_mark(code: int) -> None:
    assert unicodedata.category(chr(code)) in ("Lo", "Mn", "Cf")
    assert clean(f"f{chr(code)}g") == f"f{REPLACEMENT}g"
