"""Every recipe, applied to small programs: the result is built and prints what the original prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.fix.recipes.table import recipes
from tests.fix.recipes.applying import changed, output
from tests.fix.recipes.programs import APPLIED as OTHERS
from tests.fix.recipes.programs import Case
from tests.fix.recipes.programs_fortran import APPLIED as FORTRAN
from tests.fix.recipes.programs_mpi import APPLIED as MPI
from tests.fix.recipes.thread_programs import THREADED as THREADS

APPLIED = (
    *OTHERS,
    *FORTRAN,
    *MPI,
)
THREADED = THREADS


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case.recipe}-{case.name}", marks=pytest.mark.kind(case.recipe))
        for case in (*APPLIED, *THREADED)
    ],
)
def test_a_changed_program_prints_what_the_original_prints(case: Case, tmp_path: Path) -> None:
    new = changed(case.recipe, case.source, case.language, cause=case.cause)
    assert new is not None, "the recipe was not applied"
    for part in case.has:
        assert part in new, new
    for part in case.has_not:
        assert part not in new, new
    before = output(case.source, case.language, tmp_path / "old")
    assert before.strip()
    for threads in (2, 4) if case in THREADED else (2,):
        _compare(case, before, output(new, case.language, tmp_path / f"new{threads}", threads=threads))


def _compare(case: Case, before: str, after: str) -> None:
    if case.relative == 0:
        assert after == before
    else:
        left, right = (list(map(float, each.split())) for each in (before, after))
        assert right == pytest.approx(left, rel=case.relative)


def test_every_recipe_is_applied_to_some_program() -> None:
    here = {one.name for one in recipes() if one.languages != ("cuda",)}
    assert here <= {case.recipe for case in (*APPLIED, *THREADED)}
