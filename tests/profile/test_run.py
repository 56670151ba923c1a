"""What is known of a run as a whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.profile.run import processors
from tests.profile.build import build, call, entry


@pytest.mark.parametrize(
    ("told", "number"), [("16", 16), ("", 0), ("many", 0), ("\N{SUPERSCRIPT TWO}", 0), ("1" * 10, 0)]
)
def test_the_number_of_cores_is_one_or_unknown(told: str, number: int) -> None:
    profile = replace(build(entry("<program root>", call("main", time=1.0))), hardware={"processors": told})
    assert processors(profile) == number
