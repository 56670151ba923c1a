"""Programs that look like those that a recipe changes, and in which the change would be wrong: none is touched."""

from __future__ import annotations

import pytest

from tests.fix.recipes.applying import changed
from tests.fix.recipes.near_misses import LEFT_ALONE as OTHERS
from tests.fix.recipes.near_misses import Miss
from tests.fix.recipes.near_misses_mpi import LEFT_ALONE as MPI

LEFT_ALONE = (
    *OTHERS,
    *MPI,
)


@pytest.mark.parametrize("case", LEFT_ALONE, ids=lambda case: f"{case.recipe}-{case.why}")
def test_what_cannot_be_proved_is_left_alone(case: Miss) -> None:
    new = changed(case.recipe, case.source, case.language, cause=case.cause, relative=case.relative)
    assert new is None, new
