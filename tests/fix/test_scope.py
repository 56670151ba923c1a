"""What a change may touch, and what it may not bring."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.fix.gates.scope import judge
from chathpc.fix.project import Flags, Project, Run
from chathpc.fix.records import Candidate, GateResult, Verdict

C = """#include <math.h>
#include <stdio.h>
#define N 100
static double a[N];
double work(int n) {
  double s = 0.0;
  for (int i = 0; i < n; i++) s += pow(a[i % N], 2.0);
  return s;
}
int main(void) { printf("sum %.12e\\n", work(1000)); return 0; }
"""
F = """program p
  implicit none
  real(8) :: s
  integer :: i
  s = 0d0
  do i = 1, 1000
    s = s + sin(dble(i)) ! a sine
  end do
  print *, s
end program
"""
TREE = ("a.c", "b.f90", "own.h", "Makefile", "sub/x.c", "check.c")


def gate(files: dict[str, str], flags: str | None = None, **project: object) -> GateResult:
    settings: dict[str, object] = {
        "root": Path("/nowhere"), "build": "make", "run": Run("run", "./app"), "edit": ("*.c", "*.f90"),
        "protect": ("check*", "Makefile"), "flags": Flags("CFLAGS", "-O2 -g -fopenmp"),
    }  # fmt: skip
    whole = Project(**{**settings, **project})  # type: ignore[arg-type]
    return judge(Candidate("x", "test", "x", files, flags), whole, {"a.c": C, "b.f90": F}, TREE)


def c(old: str, new: str) -> GateResult:
    assert old in C
    return gate({"a.c": C.replace(old, new)})


def f(old: str, new: str) -> GateResult:
    assert old in F
    return gate({"b.f90": F.replace(old, new)})


@pytest.mark.parametrize(
    "path",
    [
        "Makefile",
        "check.c",
        "../a.c",
        "/etc/a.c",
        "sub/../a.c",
        "./a.c",
        "own.h",
        "sub//x.c",
        "a\0.c",
        "chathpc.yaml",
        "",
    ],
)
def test_files_that_may_not_be_edited(path: str) -> None:
    found = gate({path: "int x;\n"})
    assert found.verdict == Verdict.OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("flags", "passed"),
    [
        ("-O3 -g -fopenmp", True),
        ("-O3 -march=native -g -fopenmp -funroll-loops -flto", True),
        ("-O3 -march=native -ffp-contract=off -g -fopenmp", True),
        ("-O3 -g", False),
        ("-Ofast -g -fopenmp", False),
        ("-O2 -g -fopenmp -ffast-math", False),
        ("-O2 -g -fopenmp -fno-math-errno", False),
        ("-O2 -g -fopenmp -DN=1", False),
        ("-O2 -g -fopenmp -include x.h", False),
        ("-O2 -g -fopenmp -fplugin=x.so", False),
        ("-O2 -g -fopenmp -wrapper sh", False),
        ("-O2 -g -fopenmp $(sh)", False),
        ("-O2 -g -fopenmp;true", False),
        ("-O2 -g -fopenmp @file", False),
        ("-O2 -g -fopenmp -Wl,--wrap=pow", False),
        ("-O2 -g -fopenmp -o /tmp/x", False),
        ("-O2 -g -fopenmp", False),
    ],
)
def test_flags_that_only_make_code_faster_may_change(flags: str, passed: bool) -> None:
    assert gate({}, flags).passed is passed


def test_flags_need_a_place() -> None:
    project = Project(Path("/nowhere"), "make", Run("run", "./app"), ("*.c",))
    assert "declares no `flags`" in judge(Candidate("x", "t", "x", {}, "-O3"), project, {"a.c": C}, TREE).statement


@pytest.mark.parametrize(
    "new",
    [
        "double x = a[i % N]; s += x * x;",
        's += a[i % N] * a[i % N]; /* getenv("X") fork() */',
        "s += a[i % N] * a[i % N]; // clock_gettime asm",
    ],
)
def test_an_honest_change_passes(new: str) -> None:
    assert c("s += pow(a[i % N], 2.0);", f"{{ {new} \n }}").passed


def test_usual_pragmas_and_headers_pass() -> None:
    text = C.replace("#include <stdio.h>", '#include <stdio.h>\n#include <stdlib.h>\n#include "own.h"')
    text = text.replace("  for (int", "#pragma omp parallel for reduction(+ : s)\n  for (int")
    assert gate({"a.c": text}).passed


CHEATS = {
    "clock": "static long t; t = time(0);",
    "clock by pointer": "long (*f)(long *) = (void *)clock_gettime; f(0);",
    "environment": 'if (getenv("OMP_NUM_THREADS")) return 1.0;',
    "environment by table": "extern char **environ; if (environ[0]) return 1;",
    "sleep": "usleep(10);",
    "process": "if (fork() == 0) return 0;",
    "shell": 'system("true");',
    "early end": "if (i > 10) exit(0);",
    "jump": "longjmp(b, 1);",
    "file": 'FILE *q = fopen("/tmp/answer", "r");',
    "network": "socket(1, 2, 3);",
    "loader": 'void *h = dlopen("x.so", 1);',
    "assembler": '__asm__ volatile("rdtsc");',
    "counter": "unsigned long t = __rdtsc();",
    "rounding": "_MM_SET_FLUSH_ZERO_MODE(1);",
    "date": "const char *d = __DATE__;",
    "sanitizer": "\n#ifdef __SANITIZE_ADDRESS__\nreturn 0;\n#endif\n",
    "single type": "float q = 1; s += q;",
    "single call": "s += powf(2, 3);",
    "single literal": "s += 1.5f;",
    "pasted": '\n#define G(a, b) a##b\nG(get, env)("X");',
    "spliced": 'ge\\\ntenv("X");',
    "macro": "\n#define pow(x, y) (x)\n",
    "keyword macro": "\n#define double float\n",
    "fast math": '\n#pragma GCC optimize("fast-math")\n',
    "pragma operator": '_Pragma("GCC optimize(3)")',
    "standard pragma": "\n#pragma STDC FP_CONTRACT ON\n",
    "line": '\n#line 7 "other.c"\n',
    "include by path": '\n#include "/etc/passwd"\n',
    "include outside": '\n#include "../secret.h"\n',
    "include of a macro": "\n#include WHAT\n",
    "embed": '\n#embed "x"\n',
    "digraph": "\n%:include WHAT\n",
    "hidden": "s += 1; /* \u202e */ s += 0; \u2066",
    "table": "double t[] = {" + ",".join(f"{n}.5" for n in range(100)) + "};",
}


@pytest.mark.parametrize("name", CHEATS)
def test_what_an_honest_change_has_no_use_for_is_found(name: str) -> None:
    found = c("s += pow(a[i % N], 2.0);", "{ s += pow(a[i % N], 2.0); " + CHEATS[name] + " }")
    assert not found.passed, name
    assert found.verdict in (Verdict.CHEATED, Verdict.OUT_OF_SCOPE)


def test_attributes_that_run_or_change_code_are_found() -> None:
    for attribute in (
        "constructor",
        "__destructor__",
        'optimize("Ofast")',
        'target("avx2")',
        'section("x")',
        'alias("y")',
    ):
        assert not c("double work", f"__attribute__(({attribute})) double work").passed
    assert c("double work", "__attribute__((always_inline, hot)) static inline double work").passed


FORTRAN_CHEATS = {
    "clock": "call system_clock(i)",
    "environment": "call get_environment_variable('X', v)",
    "shell": "call execute_command_line('true')",
    "stop": "if (i > 10) stop",
    "file": "open(10, file='/tmp/answer')",
    "single": "s = s + real(s, 4)",
    "single call": "s = sngl(s)",
    "single kind": "s = 1.0_4",
    "sleep": "call sleep(1)",
    "continued": "call system&\n&_clock(i)",
    "directive": "!dir$ attributes fastmem :: s",
    "preprocessor": '\n#include "/etc/passwd"\n',
}


@pytest.mark.parametrize("name", FORTRAN_CHEATS)
def test_the_same_in_fortran(name: str) -> None:
    found = f("s = s + sin(dble(i))", f"s = s + sin(dble(i))\n{FORTRAN_CHEATS[name]}\n")
    assert not found.passed, name


def test_an_honest_change_of_fortran_passes() -> None:
    assert f("  do i = 1, 1000", "!$omp parallel do reduction(+ : s)\n  do i = 1, 1000").passed
    assert f("s + sin(dble(i))", "s + sin(real(i, 8))").passed


@pytest.mark.parametrize(
    "line",
    [
        "if (n < 0) exit(1);",
        "if (n < 0) { exit(EXIT_FAILURE); }",
        "if (n < 0) std::exit(2);",
        "if (n < 0) abort();",
        "if (n < 0) MPI_Abort(MPI_COMM_WORLD, 1);",
        "v.erase(std::remove(v.begin(), v.end(), 0.0), v.end());",
        "auto twice = std::bind(f, 2);",
        "int half = n / 2; n = half * 2;",
        "__m128d two = _mm_add_pd(_mm_loadu_pd(v), _mm_set1_pd(2.0));",
    ],
)
def test_error_paths_algorithms_and_vectors_of_doubles_are_honest(line: str) -> None:
    assert c("return s;", f"{line} return s;").passed, line


@pytest.mark.parametrize(
    "line",
    [
        "if (n == 1000) exit(0);",
        "if (n == 1000) exit(code);",
        "if (n == 1000) MPI_Abort(MPI_COMM_WORLD, 0);",
        "if (n == 1000) _exit(1);",
        'remove("a.txt");',
        "bind(fd, &address, sizeof address);",
        "half x = (half)s; s = x;",
        "__m128 four = _mm_set1_ps(2);",
    ],
)
def test_what_only_looks_like_these_is_not(line: str) -> None:
    assert not c("return s;", f"{line} return s;").passed, line


@pytest.mark.parametrize(
    ("line", "passes"), [("error stop 'no file'", True), ("stop 2", True), ("stop", False), ("stop 0", False)]
)
def test_a_stop_that_tells_of_a_failure_is_honest(line: str, passes: bool) -> None:
    assert f("s = s + sin(dble(i))", f"s = s + sin(dble(i))\nif (s > 1d300) {line}\n").passed is passes


def test_more_of_what_is_there_already_is_seen_and_less_is_not() -> None:
    text = C.replace("return s;", "if (n < 0) exit(n); return s;")
    settings = Project(Path("/n"), "make", Run("r", "./a"), ("*.c",))
    more = text.replace("exit(n);", "exit(n); if (n == 1000) exit(0);")
    assert not judge(Candidate("x", "t", "x", {"a.c": more}), settings, {"a.c": text}, TREE).passed
    assert judge(Candidate("x", "t", "x", {"a.c": C}), settings, {"a.c": text}, TREE).passed


def test_single_precision_stays_what_it_is() -> None:
    single = "float f(float x) { return x * 2.0f; }\n"
    settings = Project(Path("/n"), "make", Run("r", "./a"), ("*.c",))
    more = "float f(float x) { float y = x; return y * 2.0f; }\n"
    assert judge(Candidate("x", "t", "x", {"a.c": more}), settings, {"a.c": single}, TREE).passed


@pytest.mark.parametrize(
    ("path", "original", "changed", "passes"),
    [
        ("a.c", "double s; float f(float x) { return x; }\n", "double s; float f(float x) { float y = x; return y + 0.0f; }\n", True),
        ("a.c", "double s; float f(float x) { return x; }\n", "float s; float f(float x) { return x; }\n", False),
        ("a.c", "double s; double f(double x) { return x; }\n", "double s; double f(double x) { return x + 0.1f; }\n", False),
        ("a.f90", "real :: h(9)\nreal(8) :: s\nend\n", "real :: h(9)\nreal :: d(9)\nreal(8) :: s\nend\n", True),
        ("a.f90", "real :: h(9)\nreal(8) :: s\nend\n", "real :: h(9)\nreal :: s\nend\n", False),
    ],
)  # fmt: skip
def test_of_a_program_in_both_precisions_nothing_that_was_double_becomes_single(
    path: str, original: str, changed: str, passes: bool
) -> None:
    settings = Project(Path("/n"), "make", Run("r", "./a"), ("*",))
    found = judge(Candidate("x", "t", "x", {path: changed}), settings, {path: original}, (path,))
    assert found.passed == passes, found.statement


def test_a_table_of_numbers_is_seen_and_ordinary_numbers_of_loops_are_not() -> None:
    settings = Project(Path("/n"), "make", Run("r", "./a"), ("*.c",))
    loops = "".join(f"for (int i{at} = 0; i{at} + 1 < n; i{at} += 2) s += 2 * a[i{at} + 3];\n" for at in range(40))
    digits = ", ".join("0123"[at * 7 % 4] for at in range(80))
    for body, passes in ((loops, True), (f"static int t[] = {{{digits}}};\n", False)):
        text = C.replace("return s;", f"{body}return s;")
        assert judge(Candidate("x", "t", "x", {"a.c": text}), settings, {"a.c": C}, TREE).passed == passes
