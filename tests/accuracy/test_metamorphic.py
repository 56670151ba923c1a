"""What must not matter: names of the program's functions, how long it runs, how many threads or ranks it has.

Only cases of the half that rules may be written with.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import chathpc
from tests.accuracy.generate import Case, cases
from tests.accuracy.truth import SEEN

#: The first seen case of each recipe.
FIRST = list({case.recipe.name: case for case in reversed([each for each in cases() if each.split == SEEN])}.values())


def answer(folder: Path, case: Case, **change: str | int) -> tuple[str, str | None]:
    """The verdict and the first cause."""
    made = case.write(folder, **change)  # type: ignore[arg-type]
    report = chathpc.explain(chathpc.load(*[str(folder / name) for name in made["profiles"]]), llm="none")
    return report.verdict, report.findings[0].cause if report.findings else None


def is_parallel(case: Case) -> bool:
    """True if the recipe draws a number of threads, ranks or devices."""
    return "draw.width" in inspect.getsource(case.recipe.make)


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.recipe.name)
def test_names_length_and_width_change_no_verdict_and_no_first_cause(case: Case, tmp_path: Path) -> None:
    expected = answer(tmp_path / "as_it_is", case)
    assert answer(tmp_path / "renamed", case, names="other") == expected
    assert answer(tmp_path / "longer", case, repeat=2) == expected
    if is_parallel(case):
        assert answer(tmp_path / "wider", case, wider=2) == expected
