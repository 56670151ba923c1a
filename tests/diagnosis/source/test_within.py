"""Functions as they stand in the loops that call them."""

from __future__ import annotations

import pytest

from chathpc.diagnosis.source.inlining import within
from chathpc.diagnosis.source.model import Function
from chathpc.diagnosis.source.text import SourceFile, parsed
from tests.diagnosis.parts import diagnosed, function, main, source
from tests.diagnosis.source.programs import first_cause
from tests.profile.build import build, line

CUBE = """
struct Cube { int nx, ny, nz; float *flux; };
static long voxel(const struct Cube *c, int z, int y, int x) { return ((long)z * c->ny + y) * c->nx + x; }
static double project(const struct Cube *c, int y, int x, const double *w) { double s = 0.0;
    for (int z = 0; z < c->nz; z++) s += w[z] * c->flux[voxel(c, z, y, x)];
    return s;
}
void moment(const struct Cube *cube, const double *w, double *map)
{
    for (int y = 0; y < cube->ny; y++)
        for (int x = 0; x < cube->nx; x++)
            map[y * cube->nx + x] = project(cube, y, x, w); // HOT project
}
"""


def file_of(text: str) -> SourceFile:
    file = parsed("a.c", text.encode())
    assert file is not None
    return file


def called(text: str, callee: str, caller: str) -> Function | None:
    file = file_of(text)
    (inner,), (outer,) = file.functions_named(callee), file.functions_named(caller)
    line = next(
        number for number, row in enumerate(text.splitlines(), 1) if f"{callee}(" in row and number > outer.first
    )
    return within(inner, outer, line)


def test_the_loops_of_the_caller_are_around_those_of_the_function() -> None:
    found = called(CUBE, "project", "moment")
    assert found is not None
    assert [(loop.index, loop.parent, loop.variable) for loop in found.loops] == [
        (0, -1, "y"),
        (1, 0, "x"),
        (2, 1, "z"),
    ]
    inner = [str(one.expr) for one in found.statements if one.loop == 2]
    assert any("cube.flux[voxel(cube, z, y, x)]" in text for text in inner)
    assert {one.loop for one in found.statements} == {1, 2}


def test_a_stride_that_a_loop_of_the_caller_would_not_have() -> None:
    assert first_cause(CUBE, "a.c") == "strided-access"


@pytest.mark.parametrize(
    "change",
    [
        ("for (int z = 0; z < c->nz; z++) s", "for (int x = 0; x < c->nz; x++) s"),  # a name that means two things
        (
            "    for (int y = 0; y < cube->ny; y++)\n        for (int x = 0; x < cube->nx; x++)\n",
            "    int y = 0, x = 0;\n",
        ),
        ("project(cube, y, x, w);", "project(cube, y, x);"),
    ],
)
def test_what_is_not_certain_is_not_said(change: tuple[str, str]) -> None:
    assert change[0] in CUBE
    assert called(CUBE.replace(*change), "project", "moment") is None


def test_functions_that_call_each_other_without_end_are_read_all_the_same() -> None:
    text = "int odd(int n);\nint even(int n) {\n  return n == 0 ? 1 : odd(n - 1);\n}\nint odd(int n) {\n  return n == 0 ? 0 : even(n - 1);\n}\n"
    top = line("a.c:3", time=10.0)
    for depth in range(1500):
        name, at, called = ("even", "a.c:2", "a.c:6") if depth % 2 == 0 else ("odd", "a.c:5", "a.c:3")
        top = line(called, function(name, top, at=at))
    found = diagnosed(build(main(function("odd", top, at="a.c:5")), read_source=source({"a.c": text})))
    assert found.findings


def test_a_parameter_that_the_function_changes_keeps_its_name() -> None:
    text = """
int sum(int n, const int *v) {
    int s = 0;
    while (n > 0) { n--; s += v[n]; }
    return s;
}
void all(int *out, const int *v, int count)
{
    for (int i = 0; i < count; i++)
        out[i] = sum(i, v);
}
"""
    found = called(text, "sum", "all")
    assert found is not None
    assert "n -= 1" in {str(one.expr) for one in found.statements}


NODES = """
#include <algorithm>
#include <set>
class Stream {
    template <class Visit>
    void around(double time, Visit visit)
    {
        auto it = std::lower_bound(live_.begin(), live_.end(), time); // HOT
        for (; it != live_.end(); ++it)
            visit(*it);
    }
    std::set<double> live_;
};
"""


def test_a_set_cannot_be_halved_by_its_iterators() -> None:
    assert first_cause(NODES, "a.cpp") == "quadratic-algorithm"
    assert first_cause(NODES.replace("std::set<double> live_", "std::vector<double> live_"), "a.cpp") == ""


BOUND = """
subroutine content(self, tec)
  class(plasma_t), intent(in) :: self
  real(dp), intent(out) :: tec(:,:)
  integer :: i, j
  do i = 1, self%nlon
    do j = 1, self%nlat
      call self%slant(i, j, tec(i, j)) ! HOT slant
    end do
  end do
end subroutine
subroutine slant(self, i, j, total)
  class(plasma_t), intent(in) :: self
  integer, intent(in) :: i, j
  real(dp), intent(out) :: total
  integer :: k
  do k = 1, self%nalt
    total = total + self%ne(i, j, k)
  end do
end subroutine
"""


def test_the_object_of_a_type_bound_procedure_is_its_first_argument() -> None:
    file = parsed("a.f90", BOUND.encode())
    assert file is not None
    (inner,), (outer,) = file.functions_named("slant"), file.functions_named("content")
    found = within(inner, outer, 8)
    assert found is not None
    assert [loop.variable for loop in found.loops] == ["i", "j", "k"]
    assert any("self.ne[i][j][k]" in str(one.expr) for one in found.statements)
