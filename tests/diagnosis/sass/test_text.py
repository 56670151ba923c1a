"""An instruction is taken apart as NVIDIA's tools write it, and no text breaks that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.sass.text import Written, is_predicate, operands, written


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("LDG.E.64 R2, [R4.64+0x8] ;", Written("", False, "LDG.E.64", "R2, [R4.64+0x8]")),
        ("@!UP2  UIADD3 UR4, UR5, 0x1, URZ", Written("UP2", True, "UIADD3", "UR4, UR5, 0x1, URZ")),
        ("@PT EXIT ;", Written("PT", False, "EXIT", "")),
        ('STL [R1+0x4], R0   (*"SpillRefill"*);', Written("", False, "STL", "[R1+0x4], R0")),
    ],
)
def test_an_instruction_has_a_predicate_a_word_and_operands(text: str, parts: Written) -> None:
    assert written(text) == parts
    assert written(text).opcode == parts.word.split(".")[0]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("R2, desc[UR4][R4.64+0x8], -R3", ["R2", "desc[UR4][R4.64+0x8]", "-R3"]),
        ("UR4, `(f(int, float))", ["UR4", "`(f(int, float))"]),  # symbols that c++filt has made readable
        ("R4, 32@lo((f + .L_x_1@srel)), R5", ["R4", "32@lo((f + .L_x_1@srel))", "R5"]),
    ],
)
def test_operands_stand_between_commas_outside_brackets(text: str, parts: list[str]) -> None:
    assert operands(text) == parts


def test_a_predicate_stands_alone() -> None:
    assert [text for text in ("P0", "!UPT", "P7", "R0", "PR", "P0.B1", "!", "") if is_predicate(text)] == [
        "P0",
        "!UPT",
        "P7",
    ]


@given(st.text(alphabet='@!PRU0T .,;[](*")x|~-') | st.text())
def test_no_text_breaks_it(text: str) -> None:
    for operand in operands(written(text).rest):
        is_predicate(operand)
