"""Critical sections that become atomic updates: what the near misses are made from, other files, the look for races."""

from __future__ import annotations

import pytest

from chathpc.fix.gates.races import new_races
from chathpc.fix.recipes.analysis.program import Spot, program
from chathpc.fix.recipes.recipe import Context
from chathpc.fix.recipes.threads.atomic_updates import atomic_elements
from tests.fix.recipes import misses
from tests.fix.recipes.applying import changed, project
from tests.fix.recipes.atomic_programs import ATOMIC, base, cpp_base, fortran_base, internal_base, lock_base
from tests.fix.recipes.cases import Case
from tests.fix.recipes.misses import Miss

_FILES = {"c": "app.c", "c++": "app.cpp", "fortran": "app.f90"}
_ELEMENTS = "atomic-instead-of-critical"


@pytest.mark.parametrize(
    "whole",
    [
        misses.c("C", _ELEMENTS, base()),
        misses.c(
            "pointer of its own", _ELEMENTS, base(before="double *h = s->depth;", section="h[k] += w; s->events++;")
        ),
        misses.c(
            "loop of its own",
            _ELEMENTS,
            base(
                loop="int stop = i % 3; double x = 0; stop += 1; for (int j = 0; j < stop; j++) x += j; if (x < 0) continue;"
            ),
        ),
        misses.c("lock", _ELEMENTS, lock_base()),
        misses.cpp("C++", _ELEMENTS, cpp_base()),
        misses.f90("Fortran", f"fortran-{_ELEMENTS}", fortran_base()),
        misses.f90("internal procedure", f"fortran-{_ELEMENTS}", internal_base("call put(3)")),
    ],
    ids=lambda one: one.why,
)
def test_what_the_near_misses_are_made_from_is_changed(whole: Miss) -> None:
    new = changed(whole.recipe, whole.source, whole.language)
    assert new is not None
    assert "critical" not in new


@pytest.mark.parametrize("case", ATOMIC, ids=lambda case: case.name)
def test_no_race_is_seen_in_what_became_atomic(case: Case) -> None:
    new = changed(case.recipe, case.source, case.language)
    assert new is not None
    file = _FILES[case.language]
    assert new_races({file: case.source}, {file: new}) == []


_HEADER = "typedef struct { int n; double *depth; } Score;\nvoid add(Score *s, int k, double w);\nvoid less(Score *s, int k, double w);\n"
_ADD = '#include "score.h"\nvoid add(Score *s, int k, double w)\n{\n#pragma omp critical (score)\n    s->depth[k] += w;\n}\n'
_LESS = '#include "score.h"\nvoid less(Score *s, int k, double w)\n{\n#pragma omp critical (score)\n    {\n        s->depth[k] -= w;\n    }\n}\n'
_MAIN = """#include <stdlib.h>
#include "score.h"
int main(void)
{
    Score s;
    s.n = 40;
    s.depth = calloc(40, sizeof *s.depth);
#pragma omp parallel for
    for (int i = 0; i < 2000; i++) { add(&s, i % 40, 0.5); less(&s, i % 7, 0.25); }
    return s.depth[3] > 0;
}
"""


def _edited(**sources: str) -> dict[str, bytes]:
    files = {name.replace("_", "."): text for name, text in sources.items()}
    parsed = program(files)
    procedure = parsed.named("add")[0]
    spot = Spot(procedure, procedure.model.first, 1.0, None, "omp-critical-contention")
    return {
        path: b"".join(each.new for each in edits)
        for change in atomic_elements(Context(parsed, project()), spot)
        for path, edits in change.edits.items()
    }


def test_sections_of_one_name_are_changed_in_all_files() -> None:
    found = _edited(score_h=_HEADER, add_c=_ADD, less_c=_LESS, main_c=_MAIN)
    assert found == {"add.c": b"#pragma omp atomic", "less.c": b"#pragma omp atomic\n"}


def test_a_section_of_another_file_that_does_more_keeps_them_all() -> None:
    more = _LESS.replace("-= w", "= w")
    assert _edited(score_h=_HEADER, add_c=_ADD, less_c=more, main_c=_MAIN) == {}


def test_a_section_of_another_name_does_not_keep_them() -> None:
    other = _LESS.replace("s->depth[k] -= w", "s->n = 40").replace("(score)", "(size)")
    assert set(_edited(score_h=_HEADER, add_c=_ADD, less_c=other, main_c=_MAIN)) == {"add.c"}


def test_nothing_is_known_beside_fortran_or_what_cannot_be_read() -> None:
    fortran = "subroutine look(s)\n  real(8) :: s\n  !$omp critical (score)\n  s = 0\n  !$omp end critical (score)\nend subroutine\n"
    assert _edited(score_h=_HEADER, add_c=_ADD, less_c=_LESS, main_c=_MAIN, look_f90=fortran) == {}
