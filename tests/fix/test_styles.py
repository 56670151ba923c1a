"""The recipe for an ordinary fault is proposed in whatever style the program is written."""

from __future__ import annotations

import pytest

from tests.fix.styles import Style, proposed, styles


@pytest.mark.parametrize("style", [one for one in styles() if one.recipe], ids=lambda one: one.name)
def test_the_recipe_for_the_fault_is_proposed(style: Style) -> None:
    assert style.recipe in {one.recipe for one in proposed(style)}


def test_there_are_programs_of_all_kinds() -> None:
    assert len(styles()) >= 76
    assert {one.file.suffix for one in styles()} == {".c", ".cpp", ".f90"}
    assert {one.file.name for one in styles()} == {one.file.name for one in styles() if one.file.exists()}
