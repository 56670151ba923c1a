"""How what the source says enters a diagnosis: with the time of its lines, as a further sign or as a finding of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.draft import belief
from chathpc.diagnosis.records import Verdict
from chathpc.diagnosis.source import languages, text
from chathpc.diagnosis.source.sign import DERIVED
from chathpc.profile.source_text import no_source
from tests.diagnosis.parts import (
    causes,
    diagnosed,
    finding,
    function,
    libc,
    libm,
    main,
    ranks,
    source,
    statements,
)
from tests.diagnosis.test_openmp import region
from tests.profile.build import build, call, line, loop

STRIDED = """void f(double *a, const double *b, int n)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[j * n + i] = 0.5 * b[j * n + i];
}
"""
TRIAD = """void f(double *a, const double *b, int n)
{
  for (int i = 0; i < n; i++)
    a[i] = 0.5 * b[i];
}
"""


def profile_of(text: str, *, at: int = 5, share: float = 1.0, name: str = "a.c"):
    """A function of which line `at` has a share of ten seconds; the rest is another function without source."""
    hot = function("f", loop(f"{name}:3", line(f"{name}:{at}", time=10 * share)), at=f"{name}:1")
    rest = [function("g", line("b.c:7", time=10 * (1 - share)), at="b.c:3")] if share < 1 else []
    return build(main(hot, *rest), read_source=source({name: text}))


def test_a_finding_from_source_has_the_time_of_its_lines_with_its_error_and_says_where_it_comes_from() -> None:
    diagnosis = diagnosed(profile_of(STRIDED, share=0.5))
    found = finding(diagnosis, "strided-access")
    time, read = (item for item in diagnosis.evidence if item.id in found.evidence)
    # Half of the time from 10 s / 5 ms = 2,000 samples: sqrt(0.25 / 2000) = 1.1 % points.
    assert time.statement == "Lines 4 to 5 of a.c take 5.00 s of 10.0 s (50.0 %)."
    assert time.error == pytest.approx(10 * (0.5 * 0.5 / 2000) ** 0.5)
    assert time.value == pytest.approx(5.0)
    assert read.statement.startswith(
        "The source at a.c:5 steps through a[j * n + i] by n in the innermost loop over j, though C stores arrays by rows"
    )
    assert read.source.endswith(DERIVED)
    assert "derived from the source, not measured" in read.source
    assert found.where.function == "f"
    assert (found.where.line, found.share) == (5, pytest.approx(0.5))
    assert "derived from the source" in found.confidence_reason
    assert found.confidence == round(belief(1, derived=True), 2) < belief(1)  # less than that of one measured sign


def test_the_loop_around_it_that_would_step_to_neighbours_is_named() -> None:
    (said,) = (each for each in statements(diagnosed(profile_of(STRIDED)), "strided-access") if "stores" in each)
    assert said.endswith("the loop over i around it would access contiguous elements.")


def test_what_stands_behind_a_macro_is_seen_on_the_lines_where_it_is_used() -> None:
    behind = STRIDED.replace("a[j * n + i]", "AT(a, j, i)").replace("b[j * n + i]", "AT(b, j, i)")
    macro = "#define AT(m, row, column) ((m)[(row) * \\\n    n + (column)])\n"
    found = finding(diagnosed(profile_of(macro + behind, at=7)), "strided-access")
    assert (found.where.function, found.where.line) == ("f", 7)
    # Another macro of that name somewhere makes it unknown which one it is.
    assert causes(profile_of(macro + behind + macro.replace("n +", "1 +"), at=7)) == ["hot-compute"]


def test_without_source_nothing_is_said() -> None:
    assert causes(replace(profile_of(STRIDED), read_source=no_source)) == ["hot-compute"]


def test_below_its_share_of_the_time_nothing_is_said() -> None:
    assert "strided-access" in causes(profile_of(STRIDED, share=0.13))
    assert "strided-access" not in causes(profile_of(STRIDED, share=0.09))


def test_hot_code_gives_way_to_what_the_source_explains() -> None:
    assert causes(profile_of(STRIDED)) == ["strided-access"]


def test_work_at_the_limit_of_the_machine_is_suspected_where_only_the_source_tells_it() -> None:
    diagnosis = diagnosed(profile_of(TRIAD, at=4))
    assert [one.cause for one in diagnosis.findings] == ["memory-bandwidth"]
    assert diagnosis.verdict == Verdict.SUSPECTED
    assert diagnosis.headline.startswith("f streams through a, b with little arithmetic")


@pytest.mark.parametrize("missing", ["tree_sitter", "tree_sitter_c"])
def test_without_a_parser_nothing_is_said(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setattr(text, "parser", languages.parser.__wrapped__)
    assert causes(profile_of(STRIDED)) == ["hot-compute"]


def test_a_grammar_of_another_age_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    import tree_sitter_c

    def language() -> object:
        raise ValueError("Incompatible Language version")

    monkeypatch.setattr(tree_sitter_c, "language", language)
    assert languages.parser.__wrapped__("tree_sitter_c") is None


def test_source_is_a_further_sign_of_what_was_measured() -> None:
    text = """void f(double *v, int n)
{
  for (int i = 0; i < n; i++) {
    double *w = malloc(8 * n);
    v[i] = w[0];
    free(w);
  }
}
"""
    tree = main(function("f", loop("a.c:3", line("a.c:4", libc("malloc", time=2.0))), at="a.c:1"))
    with_source, without = (diagnosed(build(tree, read_source=read)) for read in (source({"a.c": text}), no_source))
    assert (
        [one.cause for one in with_source.findings] == [one.cause for one in without.findings] == ["allocation-churn"]
    )
    assert with_source.findings[0].share == without.findings[0].share
    assert with_source.findings[0].confidence > without.findings[0].confidence
    assert "The source at a.c:4 allocates memory (malloc) in the loop over i." in statements(
        with_source, "allocation-churn"
    )


def test_a_power_that_is_a_product_is_named_where_libm_was_measured() -> None:
    text = "void f(double *v, int n)\n{\n  for (int i = 0; i < n; i++)\n    v[i] = pow(v[i], 3.0);\n}\n"
    tree = main(function("f", loop("a.c:3", line("a.c:4", libm("pow", time=2.0))), at="a.c:1"))
    diagnosis = diagnosed(build(tree, read_source=source({"a.c": text})))
    assert [one.cause for one in diagnosis.findings] == ["expensive-math"]
    assert "The source at a.c:4 calls pow(v[i], 3.0) where x*x*x would do." in statements(diagnosis, "expensive-math")


def test_forced_output_in_a_loop_supports_a_finding_and_makes_none() -> None:
    text = "void f(int fd, int n)\n{\n  for (int i = 0; i < n; i++) {\n    write(fd, &i, 4);\n    fsync(fd);\n  }\n}\n"

    def profile(*children):
        tree = main(function("f", loop("a.c:3", line("a.c:5", *children, time=0.2)), at="a.c:1"))
        return build(tree, read_source=source({"a.c": text}))

    said = "The source at a.c:5 calls fsync in each iteration of the loop over i."
    assert said in statements(diagnosed(profile(libc("fsync", time=2.0))), "io-bound")
    assert "io-bound" not in causes(profile(function("g", time=2.0)))


def test_a_small_parallel_region_in_a_loop_is_a_further_sign() -> None:
    text = """void f(double *v, int n, int steps)
{
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      v[i] += 1.0;
  }
}
"""
    from chathpc.diagnosis.source import parallel
    from chathpc.diagnosis.source.text import parsed

    file = parsed("a.c", text.encode())
    assert file is not None
    sign = parallel.region_in_loop(file.functions_named("f")[0], 6)
    assert sign is not None
    assert sign.says == "opens a parallel region in each iteration of the loop at line 3"
    assert not sign.alone
    outside = parsed("a.c", text.replace("for (int t = 0; t < steps; t++) {", "{").encode())
    assert outside is not None
    assert parallel.region_in_loop(outside.functions_named("f")[0], 6) is None


@pytest.mark.parametrize(
    ("name", "statement", "needs"),
    [
        ("a.f90", "x(i) = a*x(i-1) + b(i)", "x(i - 1)"),
        ("a.f90", "x(i) = x(i+1) + b(i)", ""),  # what a later iteration will change: a copy of x does
        ("a.f90", "x(i) = a*x(i) + b(i-1)", ""),
        ("a.f90", "s = s + x(i)", ""),  # a sum is a reduction
        ("a.f90", "s = max(s, x(i))", ""),
        ("a.f90", "s = a*s + x(i)", "s"),
        ("a.c", "x[i] = 0.5 * x[i - 2] + b[i];", "x[i - 2]"),
        ("a.c", "x[2 * i] = x[2 * i - 1];", ""),  # odd ones are not written
        ("a.c", "x[i] += x[j - 1];", ""),  # which iteration that is, is not known
        ("a.c", "s = s - b[i] + a;", ""),
        ("a.c", "s = b[i] - s;", "s"),
        ("a.c", "s = 7 * s + 1;", "s"),
        ("a.c", "s = 0; s = 7 * s + b[i];", ""),  # begun anew in each iteration
        ("a.c", "{ double t = b[i]; t = 7 * t + 1; x[i] = t; }", ""),
    ],
)
def test_a_serial_loop_that_goes_in_order_is_not_advised_to_be_divided(name: str, statement: str, needs: str) -> None:
    head = {
        "a.c": "void f(double *x, double *b, double a, double s, int n, int j)\n{\nfor (int i = 2; i < n; i++) {\n\n",
        "a.f90": "subroutine f(x, b, a, s, n)\nreal(8) :: x(n), b(n), a, s\ndo i = 2, n\n\n",
    }[name]
    text = f"{head}{statement}\n{'}}' if name == 'a.c' else f'end do{chr(10)}end subroutine'}\n"
    hot = function("f", loop(f"{name}:3", line(f"{name}:5", time=(3.0, None))), at=f"{name}:1")
    diagnosis = diagnosed(build(main(hot, region("g", (1.0, 1.0), (0.0, 3.0))), read_source=source({name: text})))
    found = finding(diagnosis, "omp-serial-fraction")
    advised = " ".join(found.advice)
    assert ("parallel for on the serial loop" in advised or "parallel do on the serial loop" in advised) == (not needs)
    said = [each for each in statements(diagnosis, "omp-serial-fraction") if "of an earlier iteration" in each]
    assert said == ([f"The source at {name}:5 needs {needs} of an earlier iteration in its loop."] if needs else [])


def test_recursion_counts_once() -> None:
    text = "long f(int n)\n{\n  if (n < 2) return n;\n  return f(n - 1) + f(n - 2);\n}\n"
    inner = function("f", line("a.c:4", time=1.0), at="a.c:1")
    tree = main(
        function("f", line("a.c:4", function("f", line("a.c:4", inner, time=1.0), at="a.c:1"), time=1.0), at="a.c:1")
    )
    found = finding(diagnosed(build(tree, read_source=source({"a.c": text}))), "redundant-recursion")
    assert found.seconds == pytest.approx(3.0)
    assert found.share == pytest.approx(1.0)


def test_at_most_a_few_files_are_read() -> None:
    from chathpc.diagnosis.facts import Facts
    from chathpc.diagnosis.source.hot import Hot

    names = [f"a{number}.c" for number in range(20)]
    parts = [
        function(f"f{name[1:-2]}", loop(f"{name}:3", line(f"{name}:4", time=1.0)), at=f"{name}:1") for name in names
    ]
    profile = build(main(*parts), read_source=source(dict.fromkeys(names, TRIAD)))
    hot = Hot(Facts(profile))
    read = [hot.source(each.file) for each in hot.lines]
    assert sum(each is not None for each in read) == 8
    diagnosed(profile)


def test_a_line_without_a_function_says_nothing() -> None:
    tree = main(function("f", line("a.c:1", time=2.0), at="a.c:1"))
    assert causes(build(tree, read_source=source({"a.c": "int x;\n"}))) == ["hot-compute"]


def test_small_functions_that_are_called_join_what_the_standard_librarys_show() -> None:
    text = "struct G {\n  double at(int i) const { return v[i]; }\n  std::vector<double> v;\n};\n"
    access = call(
        "std::vector<double, std::allocator<double> >::operator[](unsigned long)",
        line("/usr/include/c++/12/bits/stl_vector.h:1126", time=2.0),
        at="/usr/include/c++/12/bits/stl_vector.h:1123",
        module="/opt/app",
    )
    own = function("G::at(int) const", line("a.cpp:2", access, time=2.0), at="a.cpp:2")
    tree = main(function("run", loop("b.cpp:3", line("b.cpp:4", own, time=3.0)), at="b.cpp:1"))
    plain, read = (
        finding(diagnosed(build(tree, read_source=each)), "unoptimised-build")
        for each in (no_source, source({"a.cpp": text}))
    )
    assert read.share == plain.share
    assert read.confidence > plain.confidence


def test_an_invariant_call_that_was_read_already_is_not_told_twice() -> None:
    text = "void f(double *v, int n, double a)\n{\n  for (int i = 0; i < n; i++)\n    v[i] += pow(a, 1.5);\n}\n"
    tree = main(function("f", loop("a.c:3", line("a.c:4", libm("pow", time=2.0))), at="a.c:1"))
    diagnosis = diagnosed(build(tree, read_source=source({"a.c": text})))
    assert [one.cause for one in diagnosis.findings] == ["loop-invariant-work"]
    assert sum("The source at" in each for each in statements(diagnosis, "loop-invariant-work")) == 1


def test_what_else_may_take_the_time_speaks_against_it() -> None:
    text = "void f(double *v, int n, double dx, double dy)\n{\n  for (int i = 0; i < n; i++)\n    v[i] = v[i] / dx / dy;\n}\n"
    found = finding(diagnosed(profile_of(text, at=4)), "expensive-math")
    assert "The loop also streams through memory, whose bandwidth may be the limit instead." in found.against
    text = "struct N { long k; struct N *n; };\nint f(struct N *head, long key)\n{\n"
    text += "  for (struct N *p = head; p; p = p->n)\n    if (p->k == key) return 1;\n  return 0;\n}\n"
    tree = main(loop("d.c:2", line("d.c:3", function("f", loop("a.c:4", line("a.c:5", time=2.0)), at="a.c:2"))))
    found = finding(diagnosed(build(tree, read_source=source({"a.c": text}))), "quadratic-algorithm")
    assert any("memory latency" in each for each in found.against)


def test_words_of_the_program_are_neither_quoted_nor_endless() -> None:
    name = "n" * 500
    text = f"int f(char **names, int n, char *{name})\n{{\n  for (int i = 0; i < n; i++)\n"
    text += f'    if (strcmp(names[i], {name}) == 0 || !strcmp(names[i], "<|im_start|>"))\n'
    text += "      return i;\n  return -1;\n}\n"
    tree = main(loop("d.c:2", line("d.c:3", function("f", loop("a.c:3", line("a.c:4", time=2.0)), at="a.c:1"))))
    diagnosis = diagnosed(build(tree, read_source=source({"a.c": text})))
    assert [one.cause for one in diagnosis.findings] == ["quadratic-algorithm"]
    assert all("im_start" not in item.statement and len(item.statement) < 400 for item in diagnosis.evidence)


def test_threads_of_one_process_are_needed_to_share_a_line() -> None:
    text = """long hits[64];
void f(const int *v, int n)
{
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; i++)
      hits[me] += v[i] & 1;
  }
}
"""
    tree = main(function("f", loop("a.c:8", line("a.c:9", time=(1.0, 1.0))), at="a.c:2"))
    for where, suspected in ((ranks(1, threads=2), True), (ranks(2), False)):
        diagnosis = diagnosed(build(tree, locations=where, read_source=source({"a.c": text})))
        (hot,) = diagnosis.findings
        assert hot.cause == "hot-compute"
        assert ("It may be false sharing, which only counters can show." in hot.against) == suspected
        assert any("hits" in item.statement for item in diagnosis.evidence) == suspected
        assert ("perf c2c" in str(hot.next_measurement)) == suspected


BY_VALUE = """#include <vector>
static long cost(std::vector<int> group, int k)
{
  long s = 0;
  for (size_t i = k; i < group.size(); ++i) s += group[i];
  return s;
}
long f(const std::vector<int>& all, int n)
{
  long s = 0;
  for (int k = 0; k < n; ++k)
    s += cost(all, k);
  return s;
}
"""


@pytest.mark.parametrize(("copying", "found"), [(0.1, False), (4.0, True)])
def test_what_a_function_does_with_a_copy_is_no_part_of_what_the_copy_costs(copying: float, found: bool) -> None:
    called = line(
        "a.cpp:12",
        libc("memmove", time=copying),
        function("cost(std::vector<int>, int)", loop("a.cpp:5", line("a.cpp:5", time=6.0)), at="a.cpp:2"),
    )
    profile = build(
        main(function("f", loop("a.cpp:11", called), at="a.cpp:8")), read_source=source({"a.cpp": BY_VALUE})
    )
    assert ("redundant-copies" in causes(profile)) is found
    if found:
        assert finding(diagnosed(profile), "redundant-copies").share == pytest.approx(0.4)


def test_structures_are_advised_on_where_there_are_some() -> None:
    plain = finding(diagnosed(profile_of(STRIDED)), "strided-access").advice
    assert "nterchange" in plain[0]
    assert not any("structures" in each for each in plain)


def test_math_called_from_a_loop_of_the_source_is_in_a_loop() -> None:
    text = "double f(double x)\n{\n  return sin(x);\n}\nvoid g(double *a, int n)\n{\n  for (int i = 0; i < n; i++)\n    a[i] = f(a[i]);\n}\n"
    inner = function("f", line("a.c:3", libm("sin", time=4.0), time=1.0), at="a.c:1")
    tree = main(function("g", line("a.c:8", inner), at="a.c:5"))
    assert finding(diagnosed(build(tree)), "expensive-math").against == ("The calls were not seen inside a loop.",)
    found = finding(diagnosed(build(tree, read_source=source({"a.c": text}))), "expensive-math")
    assert (found.against, "2 independent signs" in found.confidence_reason) == ((), True)


@pytest.mark.parametrize(
    ("body", "serial"),
    [
        ("x = sin(x) + 0.5;", True),
        ("x = sin(a[i]) + x;", False),
        ("x = a[i]; x = sin(x);", False),
        ("a[i] = sin(a[i]);", False),
    ],
)
def test_calls_that_wait_for_the_last_are_not_advised_to_be_vectors(body: str, serial: bool) -> None:
    text = f"double f(double *a, double x, int n)\n{{\n  for (int i = 0; i < n; i++) {{\n    {body}\n  }}\n  return x;\n}}\n"
    tree = main(function("f", line("a.c:4", libm("sin", time=4.0), time=1.0), at="a.c:1"))
    diagnosis = diagnosed(build(tree, read_source=source({"a.c": text})))
    advice = finding(diagnosis, "expensive-math").advice
    assert any("vector" in each for each in advice) is not serial
    assert any("table" in each or "Tabulate" in each for each in advice)
    said = [each for each in statements(diagnosis, "expensive-math") if "the iteration before" in each]
    assert bool(said) is serial


@pytest.mark.parametrize(
    ("body", "says"),
    [("s[i] ^= 0;", ""), ("s[i] = 'x';", "its result does not change"), ("n++;", "nothing in it changes")],
)
def test_of_a_text_that_is_written_only_the_length_stays(body: str, says: str) -> None:
    text = f"void f(char *s, int n)\n{{\n  for (int i = 0; i < strlen(s); i++)\n    {body}\n}}\n"
    tree = main(function("f", line("a.c:3", libc("strlen", time=4.0), time=1.0), at="a.c:1"))
    profile = build(tree, read_source=source({"a.c": text}))
    said = statements(diagnosed(profile), "loop-invariant-work") if says else []
    assert any(f"calls strlen(s), and {says} in the loop over i" in each for each in said) is bool(says)
    assert says or "loop-invariant-work" not in causes(profile)


def test_copies_called_from_a_loop_of_the_source_do_not_happen_once() -> None:
    text = "void f(char *a, char *b, int n)\n{\n  for (int i = 0; i < n; i++)\n    memcpy(a, b, n);\n  memcpy(b, a, n);\n}\n"
    against = []
    for at in (4, 5):
        tree = main(function("f", line(f"a.c:{at}", libc("memcpy", time=4.0), time=1.0), at="a.c:1"))
        found = finding(diagnosed(build(tree, read_source=source({"a.c": text}))), "redundant-copies")
        against.append(found.against)
    assert against == [(), ("It was not seen inside a loop: it may happen once.",)]


@pytest.mark.parametrize(("inner", "step"), [("j", "a column"), ("k", "a plane")])
def test_steps_by_planes_are_not_called_columns(inner: str, step: str) -> None:
    text = f"""subroutine f(u, n)
  integer :: n, i, j, k
  real(8) :: u(n, n, n)
  do i = 1, n
    do {inner} = 1, n
      u(i, j, k) = 0.5 * u(i, j, k)
    end do
  end do
end subroutine
"""
    hot = function("f_", line("a.f90:6", time=9.0), at="a.f90:1")
    found = finding(diagnosed(build(main(hot), read_source=source({"a.f90": text}))), "strided-access")
    assert f"by {step} in" in found.summary
