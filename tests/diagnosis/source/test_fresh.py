"""Memory whose pages are fresh each time: a suspicion, a finding where its size or the kernel's time says so, and what is neither."""

from __future__ import annotations

import pytest

from tests.diagnosis.parts import causes, diagnosed, finding, function, main, source
from tests.diagnosis.source.programs import diagnosis_of
from tests.profile.build import build, call, line, loop, placeholder

FAULTS = "page-faults"
CLAIMED, SUSPECTED, NOTHING = "claimed", "suspected", "nothing"

C = """
double norm(const float *x, long n) {
  double *square = malloc(n * sizeof *square);
  double sum = 0;
  for (long i = 0; i < n; i++)
    square[i] = x[i] * x[i]; // HOT
  for (long i = 1; i < n; i++)
    sum += square[i] - square[i - 1];
  free(square);
  return sum;
}
"""
CPP = """
double norm(const float *x, long n) {
  auto *square = new double[n];
  double sum = 0;
  for (long i = 0; i < n; i++) square[i] = x[i] * x[i]; // HOT
  for (long i = 1; i < n; i++) sum += square[i] - square[i - 1];
  delete[] square;
  return sum;
}
"""
LOOP = """
void all(const float *x, double *norms, long n, int many) {
  for (int k = 0; k < many; k++) { // ONCE
    double *square = (double *)calloc(n, sizeof(double));
    for (long i = 0; i < n; i++)
      square[i] += x[i] * k; // HOT
    norms[k] = square[n - 1];
    free(square);
  }
}
"""
FORTRAN = """
subroutine norm(x, n, total)
  integer, intent(in) :: n
  real(4), intent(in) :: x(n)
  real(8), intent(out) :: total
  real(8), allocatable :: square(:)
  integer :: i
  allocate (square(n))
  do i = 1, n
    square(i) = x(i)**2 ! HOT
  end do
  total = square(n) - square(1)
  deallocate (square)
end subroutine
"""
MIB = "(1 << 20)"

PLANE = """
double plane(const float *x, int w, int h) {
  float *copy = (float *)malloc(sizeof(float) * w * h);
  for (int j = 0; j < h; j++)
    for (int i = 0; i < w; i++)
      copy[j * w + i] = x[j * w + i]; // HOT
  double sum = blurred(copy, w, h);
  free(copy);
  return sum;
}
"""
KEPT = C.replace("  double *square = malloc", "  static double *square;\n  if (!square) square = malloc").replace(
    "  free(square);\n", ""
)
GIVEN = C.replace("float *x,", "float *x, double *square,").replace(
    "  double *square = malloc(n * sizeof *square);\n", ""
)
MADE = "    double *square = (double *)calloc(n, sizeof(double));\n"
OUTSIDE = LOOP.replace(MADE, "").replace("  for (int k", f"{MADE}  for (int k")
OUTSIDE = OUTSIDE.replace("    free(square);\n  }\n", "  }\n  free(square);\n")
CLEAN = C.replace(" // HOT", "")

CASES = [
    ("malloc, loop, free", SUSPECTED, "a.c", C),
    ("new and delete", SUSPECTED, "a.cpp", CPP),
    ("calloc in a loop of the function", SUSPECTED, "a.c", LOOP),
    ("allocate and deallocate", SUSPECTED, "a.f90", FORTRAN),
    ("two loops that go through it together", SUSPECTED, "a.c", PLANE),
    ("64 MiB", CLAIMED, "a.c", C.replace("malloc(n *", f"malloc(8 * {MIB} *")),
    ("known and small", NOTHING, "a.c", C.replace("malloc(n *", "malloc(1000 *")),
    ("known, and what the allocator keeps", NOTHING, "a.c", C.replace("malloc(n *", f"malloc(2 * {MIB} *")),
    ("called once", NOTHING, "a.c", C + "// ONCE\n"),
    ("two loops, called once", NOTHING, "a.c", PLANE + "// ONCE\n"),
    ("kept", NOTHING, "a.c", KEPT),
    ("static, and freed somewhere", NOTHING, "a.c", C.replace("  double *square", "  static double *square")),
    ("made under a condition", NOTHING, "a.c", C.replace("square = malloc", "square;\n  if (n) square = malloc")),
    ("never freed", NOTHING, "a.c", C.replace("  free(square);\n", "")),
    ("handed out", NOTHING, "a.c", C.replace("  free(square);\n", "  last = square;\n  free(square);\n")),
    ("given by the caller", NOTHING, "a.c", GIVEN),
    ("hot where it is read", NOTHING, "a.c", CLEAN.replace("square[i - 1];", "square[i - 1]; // HOT")),
    ("hot where it is written again", NOTHING, "a.c", CLEAN.replace("sum += square[i]", "square[i] += x[i] // HOT\n")),
    ("one element only", NOTHING, "a.c", C.replace("square[i] =", "square[0] +=")),
    ("outside the loop that repeats", NOTHING, "a.c", OUTSIDE),
]  # fmt: skip


def told(text: str, file: str) -> str:
    """Whether page faults are claimed, suspected, or neither."""
    findings = diagnosis_of(text.lstrip("\n"), file, once="ONCE" in text).findings
    if any(one.cause == FAULTS for one in findings):
        return CLAIMED
    suspected = [FAULTS in one.suspected for one in findings]
    assert suspected == [any("It may be page faults" in each for each in one.against) for one in findings]
    return SUSPECTED if any(suspected) else NOTHING


@pytest.mark.parametrize(("name", "expected", "file", "text"), CASES, ids=[name for name, *_ in CASES])
def test_fresh_memory(name: str, expected: str, file: str, text: str) -> None:
    assert told(text, file) == expected


def profile_of(kernel: float, *, name: str = "<kernel>", below: str = "", **facts: object):
    """`norm`, called in a loop of main, with five seconds at its first loop and the kernel's behind them."""
    inside = (
        placeholder(name, time=kernel) if name == "<kernel>" else call(name, time=kernel, module="[kernel.kallsyms]")
    )
    called = [inside] if not below else [function(below, inside, at="b.c:3")]
    norm = function("norm", loop("a.c:4", line("a.c:5", *called, time=5.0)), at="a.c:1")
    tree = main(loop("d.c:2", line("d.c:3", norm)), function("rest", line("b.c:9", time=4.0), at="b.c:8"), at="d.c:1")
    return build(tree, read_source=source({"a.c": C.lstrip("\n")}), **facts)


def test_the_kernels_time_in_the_function_is_what_the_faults_cost() -> None:
    diagnosis = diagnosed(profile_of(11.0))
    found = finding(diagnosis, FAULTS)
    assert (found.where.function, found.where.file) == ("norm", "a.c")
    assert (found.seconds, found.share) == (pytest.approx(11.0), pytest.approx(0.55))
    said = [item.statement for item in diagnosis.evidence if item.id in found.evidence]
    assert said[0] == "The kernel's work for lines 1 to 10 of a.c takes 11.0 s of 20.0 s (55.0 %)."
    assert "is the first to write to square, which line 2 allocates and line 8 frees each time" in said[1]
    assert any("near these lines" in each for each in found.against)


@pytest.mark.parametrize("kernel", [0.01, 0.9])
def test_where_the_kernel_hardly_works_there_is_not_even_a_suspicion(kernel: float) -> None:
    diagnosis = diagnosed(profile_of(kernel))
    assert not any(one.cause == FAULTS or FAULTS in one.suspected for one in diagnosis.findings)


def test_what_was_measured_of_the_faults_decides() -> None:
    assert FAULTS in causes(profile_of(6.0, name="asm_exc_page_fault"))
    supported = diagnosed(profile_of(6.0, name="asm_exc_page_fault"))
    assert any("is the first to write to square" in item.statement for item in supported.evidence)
    few = diagnosed(profile_of(0.3, name="asm_exc_page_fault"))
    assert not any(one.cause == FAULTS or FAULTS in one.suspected for one in few.findings)
