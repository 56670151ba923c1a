from __future__ import annotations

import pytest

from chathpc.profile.tree import NodeKind, Relation
from tests.diagnosis.parts import (
    APP,
    causes,
    diagnosed,
    finding,
    function,
    gomp,
    hot_loop,
    libc,
    libm,
    main,
    source,
    statements,
    sure,
    wall,
)
from tests.profile.build import build, call, entry, inlined, line, loop, node

HEADER = "/usr/include/c++/12/bits/stl_vector.h"


# -- hot-compute ---------------------------------------------------------------------------------------------


def test_the_hottest_functions_are_named_with_their_hottest_line() -> None:
    solve = function("solve", hot_loop(6.0, "app.c:10"), line("app.c:20", time=1.0), at="app.c:8")
    diagnosis = diagnosed(build(main(solve, function("setup", line("app.c:40", time=3.0), at="app.c:39"))))
    assert diagnosis.verdict == "hot-spot"
    (first,) = diagnosis.findings
    assert (first.cause, first.where.function, first.where.short) == ("hot-compute", "solve", "app.c:11")
    assert (first.seconds, first.share, first.speedup_bound) == (7.0, 0.7, None)
    assert first.title == "Hot spot: 70.0 % of the time in one place"
    assert (
        first.summary
        == "solve has 70.0 % of the time, most of it at app.c:11. setup has 30.0 % of the time, most of it at app.c:40."
    )
    evidence = [item.statement for item in diagnosis.evidence]
    assert evidence[0] == "solve takes 7.00 s of 10.0 s (70.0 %)."
    assert (
        evidence[1] == "The hottest line of solve, app.c:11, in the loop at app.c:10, takes 6.00 s of 10.0 s (60.0 %)."
    )


def test_no_more_than_three_functions_above_a_tenth_are_listed() -> None:
    parts = [function(f"f{number}", line(f"app.c:{number}0", time=1.0)) for number in range(1, 9)]
    (hot,) = diagnosed(build(main(*parts[:4]))).findings
    assert hot.summary == " ".join(
        f"f{number} has 25.0 % of the time, most of it at app.c:{number}0." for number in (1, 2, 3)
    )
    small = function("small", line("app.c:90", time=0.09))
    assert len(diagnosed(build(main(parts[0], small))).findings) == 1  # 0.09 of 1.09 is 8.3 %


def test_the_regions_of_one_function_are_one_place() -> None:
    regions = [function(f"solve._omp_fn.{number}", line(f"app.c:{number + 20}", time=2.0)) for number in range(3)]
    (hot,) = diagnosed(build(main(*regions))).findings
    assert (hot.where.function, hot.share) == ("solve", 1.0)


@pytest.mark.parametrize("name", ["qsort", "__strlen_avx2", "strlen"])
def test_a_librarys_function_is_told_as_the_line_that_calls_it(name: str) -> None:
    solve = function("solve", line("app.c:5", libc(name, time=4.0)), line("app.c:6", time=3.0), at="app.c:4")
    diagnosis = diagnosed(build(main(solve)))
    (hot,) = diagnosis.findings
    short = name.removeprefix("__").removesuffix("_avx2")
    assert (hot.cause, hot.where.function, hot.where.short) == ("library-call", "solve", "app.c:5")
    assert hot.summary == f"{short}, called at app.c:5, has 57.1 % of the time."
    assert diagnosis.headline.startswith(f"{short}, called at app.c:5, has 57.1 % of the time, and no cause was found")


def test_a_call_in_a_loops_condition_is_told_as_that() -> None:
    text = "int f(char *s)\n{\n  int n = 0;\n  for (int i = 0; i < strcspn(s, q); i++)\n    n += s[i] == 32;\n  return n;\n}\n"
    called = function("f", loop("a.c:4", line("a.c:4", libc("strcspn", time=4.0))), at="a.c:1")
    (hot,) = diagnosed(build(main(called), read_source=source({"a.c": text}))).findings
    assert hot.summary == "strcspn, called at a.c:4 in the condition of the loop at line 4, has 100 % of the time."


def test_what_the_kernel_and_the_loader_do_is_no_work_of_the_program() -> None:
    loaded = call("do_lookup_x", module="/lib64/ld-linux-x86-64.so.2", time=3.0)
    served = call("copy_user_generic", module="[kernel.kallsyms]", time=3.0)
    (hot,) = diagnosed(build(main(function("solve", line("app.c:5", loaded, served, time=4.0), at="app.c:4")))).findings
    assert (hot.cause, hot.share) == ("hot-compute", 0.4)


def test_without_lines_there_is_only_the_function() -> None:
    diagnosis = diagnosed(build(entry("<program root>", call("solve", time=4.0, module=APP))))
    (hot,) = diagnosis.findings
    assert hot.summary == "solve has 100 % of the time."
    assert len(diagnosis.evidence) == 1


def test_a_function_that_a_real_finding_names_is_not_listed_again() -> None:
    solve = function("solve", hot_loop(4.0, "app.c:10", libm("exp", time=6.0)))
    assert causes(build(main(solve))) == ["expensive-math"]


# -- expensive-math, loop-invariant-work ---------------------------------------------------------------------

BEAM = """void transport(double *v, int n, double a)
{
  for (int i = 0; i < n; i++)
    v[i] += pow(ARGUMENT, 1.5);
}
"""


def beam(argument: str | None, *, math: float = 6.0, other: float = 4.0, more: float = 0.0):
    """A loop at app.c:3 whose line 4 calls pow; `more` seconds of math at line 5."""
    body = line("app.c:4", libm("__ieee754_pow_fma", time=math), time=other)
    extra = [line("app.c:5", libm("exp", time=more))] if more else []
    texts = {} if argument is None else {"app.c": BEAM.replace("ARGUMENT", argument)}
    return build(main(function("transport", loop("app.c:3", body, *extra), at="app.c:1")), read_source=source(texts))


def test_math_in_a_loop_without_source_is_expensive() -> None:
    diagnosis = diagnosed(beam(None))
    found = finding(diagnosis, "expensive-math")
    assert (found.where.function, found.where.short, found.share) == ("transport", "app.c:4", 0.6)
    assert found.summary == "Calls of pow in transport take 60.0 % of the time, in the loop at app.c:3."
    assert found.speedup_bound is None  # a repair can remove what stands around the calls
    assert found.confidence == sure(2)
    assert statements(diagnosis, "expensive-math") == [
        "Math library functions take 6.00 s of 10.0 s (60.0 %), mostly pow.",
        "Calls from transport take 6.00 s of the 6.00 s of math library functions (100 %): app.c:4 6.00 s.",
    ]


def test_math_with_the_same_arguments_in_every_iteration_is_invariant() -> None:
    diagnosis = diagnosed(beam("a"))
    (found,) = diagnosis.findings
    assert (found.cause, found.where.short, found.share) == ("loop-invariant-work", "app.c:4", 0.6)
    assert statements(diagnosis, found.cause)[-1] == (
        "The source at app.c:4 calls pow(a, 1.5), and nothing in it changes in the loop over i."
    )


def test_math_whose_arguments_change_is_only_expensive() -> None:
    assert causes(beam("v[i]")) == ["expensive-math"]


def test_other_math_beside_the_invariant_call_is_reported_as_well() -> None:
    assert causes(beam("a", math=5.0, other=2.0, more=3.0)) == ["loop-invariant-work", "expensive-math"]
    assert causes(beam("a", math=5.0, other=4.5, more=0.5)) == ["loop-invariant-work"]  # 5 % are too few


def test_little_math_is_no_finding() -> None:
    assert causes(beam("a", math=0.9, other=9.1)) == ["hot-compute"]


def test_math_outside_of_loops_has_something_against_it() -> None:
    solve = function("solve", line("app.c:4", libm("sin", time=4.0), time=1.0))
    found = finding(diagnosed(build(main(solve))), "expensive-math")
    assert found.against == ("The calls were not seen inside a loop.",)
    assert found.confidence == sure(1, against=1)
    assert found.summary == "Calls of sin in solve take 80.0 % of the time."


def test_a_loop_in_a_caller_is_a_loop() -> None:
    solve = function("solve", line("app.c:4", libm("sin", time=4.0), time=1.0))
    found = finding(diagnosed(build(main(loop("app.c:20", solve)))), "expensive-math")
    assert found.against == ()


def test_math_of_several_functions_is_not_put_down_to_one() -> None:
    one = function("one", line("app.c:4", libm("sin", time=4.0)))
    two = function("two", line("app.c:24", libm("sin", time=3.0), time=3.0))
    found = finding(diagnosed(build(main(one, two))), "expensive-math")
    assert found.summary == "Calls of sin in one take 40.0 % of the time (70.0 % program-wide)."


@pytest.mark.parametrize(
    ("name", "first"), [("pow", "Replace pow"), ("powf", "Replace pow"), ("log", "Let the compiler")]
)
def test_advice_on_pow_comes_first_only_where_pow_is_called(name: str, first: str) -> None:
    for file in ("app.c", "app.cpp"):
        solve = function("solve", loop(f"{file}:3", line(f"{file}:4", libm(name, time=4.0), time=1.0)))
        found = finding(diagnosed(build(main(solve))), "expensive-math")
        assert found.advice[0].startswith(first)
        assert any(one.startswith("Replace pow") for one in found.advice)


def test_math_whose_caller_no_stack_tells_is_told_without_a_place() -> None:
    """4 s of pow end below the function that starts `main`, and 1 of 100 samples below the loader: neither calls pow."""
    broken = call("__libc_start_call_main", libm("__ieee754_pow_fma", time=3.96), module="/lib/libc.so.6")
    loader = call("_dl_start_user", libm("__ieee754_pow_fma", time=0.04), module="/lib/ld-linux-x86-64.so.2")
    rest = function("main", line("app.c:2", time=6.0))
    profile = build(
        node(
            NodeKind.REGION,
            Relation.LEXICAL,
            "heat",
            call("__libc_start_call_main", rest, module="/lib/libc.so.6"),
            broken,
            loader,
        )
    )
    found = finding(diagnosed(profile), "expensive-math")
    assert (found.where.function, found.share) == (None, pytest.approx(0.4))
    assert found.summary == "Calls of pow take 40.0 % of the time; the stacks do not tell which function makes them."
    assert statements(diagnosed(profile), "expensive-math") == [
        "Math library functions take 4.00 s of 10.0 s (40.0 %), mostly pow."
    ]


def test_the_command_that_collapsed_stacks_begin_with_does_not_call_what_starts_main() -> None:
    start = call("__libc_start_call_main", call("main", time=6.0), call("__ieee754_pow_fma", time=4.0))
    found = finding(diagnosed(build(call("heat", start))), "expensive-math")
    assert found.summary == "Calls of pow take 40.0 % of the time; the stacks do not tell which function makes them."


def test_what_stands_above_a_math_function_in_a_library_is_not_what_is_called() -> None:
    wrapped = libc("run_exit_handlers", libm("__ieee754_exp_fma", time=4.0))
    found = finding(diagnosed(build(main(function("solve", line("app.c:4", wrapped, time=6.0))))), "expensive-math")
    assert found.summary == "Calls of exp in solve take 40.0 % of the time."


HOIST = """void rows(double *v, int n)
{
  for (int j = 0; j < n; j++)
    v[j] *= grid::coefficient(ARGUMENTS);
}
"""


def hoist(arguments: str, *, time: float = 6.0, at: str = "app.cpp:3"):
    callee = function("grid::coefficient(double, double)", line("app.cpp:30", time=time), at="app.cpp:29")
    rows = function("rows", loop(at, line("app.cpp:4", callee, time=4.0)), at="app.cpp:1")
    return build(main(rows), read_source=source({"app.cpp": HOIST.replace("ARGUMENTS", arguments)}))


def test_a_function_called_with_the_same_numbers_in_an_inner_loop_is_invariant() -> None:
    diagnosis = diagnosed(hoist("1.5, 2.5"))
    found = diagnosis.findings[0]
    assert (found.cause, found.where.function, found.where.short) == ("loop-invariant-work", "rows", "app.cpp:4")
    assert found.share == 0.6
    assert statements(diagnosis, found.cause)[0] == ("Line 4 of app.cpp takes 6.00 s of 10.0 s (60.0 %).")


@pytest.mark.parametrize("arguments", ["v[j], 2", "a, b", ""])
def test_a_function_whose_arguments_are_not_numbers_may_differ_each_time(arguments: str) -> None:
    assert set(causes(hoist(arguments))) == {"hot-compute"}


def test_a_short_function_is_not_worth_moving() -> None:
    assert "loop-invariant-work" not in causes(hoist("1.5, 2.5", time=0.3))


def test_a_call_outside_of_loops_is_made_once() -> None:
    text = HOIST.replace("for (int j = 0; j < n; j++)", "const int j = 0;").replace("ARGUMENTS", "1.5, 2.5")
    callee = function("grid::coefficient(double, double)", line("app.cpp:30", time=6.0), at="app.cpp:29")
    rows = function("rows", line("app.cpp:4", callee), at="app.cpp:1")
    assert set(causes(build(main(rows), read_source=source({"app.cpp": text})))) == {"hot-compute"}


# -- unoptimised-build ---------------------------------------------------------------------------------------


def built(called: float, inlined_time: float):
    """Accessors of std::vector that are called, beside code in which they are inlined."""
    access = call(
        "std::vector<int, std::allocator<int> >::operator[](unsigned long)",
        line(f"{HEADER}:1046", time=called),
        at=f"{HEADER}:1043",
        module=APP,
    )
    within = inlined(
        "std::vector<int>::size() const", line(f"{HEADER}:916", time=inlined_time), at=f"{HEADER}:915", module=APP
    )
    return build(
        main(function("solve", loop("app.cpp:10", line("app.cpp:11", access, within, time=7.0)), at="app.cpp:9"))
    )


def test_accessors_of_the_standard_library_that_are_called_show_a_build_without_optimisation() -> None:
    diagnosis = diagnosed(built(called=3.0, inlined_time=0.0))
    (found,) = diagnosis.findings
    assert (found.cause, found.where.function, found.share) == ("unoptimised-build", "solve", 1.0)
    assert statements(diagnosis, found.cause)[0] == (
        "Small functions of the C++ standard library take 3.00 s of 10.0 s (30.0 %), mostly std::vector<…>::operator[](…)."
    )


def test_where_others_are_inlined_the_build_is_optimised() -> None:
    assert causes(built(called=2.5, inlined_time=0.5)) == ["unoptimised-build"]  # exactly a fifth is still accepted
    assert causes(built(called=2.4, inlined_time=0.6)) == ["hot-compute"]


def test_few_calls_of_accessors_show_nothing() -> None:
    assert causes(built(called=0.2, inlined_time=0.0)) == ["hot-compute"]  # 0.2 of 7.2 is 2.8 %


@pytest.mark.parametrize(
    "name",
    [
        "void std::vector<P, std::allocator<P> >::_M_realloc_insert<P>(__gnu_cxx::__normal_iterator<P*, std::vector<P> >, P&&)",
        "std::__cxx11::basic_string<char>::_M_construct<char const*>(char const*, char const*)",
        "void std::__introsort_loop<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, long>(int*, int*, long)",
        "std::mersenne_twister_engine<unsigned long>::_M_gen_rand()",
        "std::map<int, int>::operator[](int const&)",
    ],
)
def test_functions_that_gcc_leaves_functions_at_o3_show_nothing(name: str) -> None:
    # nm -C of programs of g++ 12 -O2 and -O3 lists each of them.
    large = call(name, line(f"{HEADER}:1046", time=3.0), at=f"{HEADER}:1043", module=APP)
    tree = main(function("solve", loop("app.cpp:10", line("app.cpp:11", large, time=7.0)), at="app.cpp:9"))
    assert "unoptimised-build" not in causes(build(tree))


@pytest.mark.parametrize(
    "name",
    [
        "__gnu_cxx::__normal_iterator<double*, std::vector<double> >::operator*() const",
        "std::less<int>::operator()(int const&, int const&) const",
        "std::abs(double)",
        "std::vector<double>::size() const",
    ],
)
def test_functions_of_one_expression_that_are_called_show_it(name: str) -> None:
    # nm -C of a program of g++ 12 -O0 lists each of them, of -O1 none.
    tree = main(
        function("solve", loop("app.cpp:10", line("app.cpp:11", call(name, time=3.0), time=7.0)), at="app.cpp:9")
    )
    assert "unoptimised-build" in causes(build(tree))


def test_lines_of_a_header_in_a_function_of_the_program_were_inlined() -> None:
    access = call("std::vector<int>::operator[](unsigned long)", line(f"{HEADER}:1046", time=2.0), module=APP)
    own = function("solve", line("app.cpp:11", access, time=7.0), line(f"{HEADER}:916", time=1.0), at="app.cpp:9")
    assert "unoptimised-build" not in causes(build(main(own)))


def test_templates_alone_without_a_caller_have_no_place() -> None:
    access = call("std::less<int>::operator()(int, int)", time=3.0, at=f"{HEADER}:3", module=APP)
    assert causes(build(entry("<program root>", access))) == []


# -- deep-recursion ------------------------------------------------------------------------------------------


def nest(names: list[str], time: float):
    """Functions that call each other, the innermost with all the time."""
    node = function(names[-1], line("app.c:12", time=time), at="app.c:10")
    for name in reversed(names[:-1]):
        node = function(name, line("app.c:11", node), at="app.c:10")
    return node


def test_a_function_that_calls_itself_many_levels_deep_is_found() -> None:
    profile = build(main(nest(["walk"] * 70, 5.0), function("rest", line("app.c:40", time=5.0))))
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "deep-recursion")
    assert (found.where.function, found.share, found.seconds) == ("walk", 0.5, 5.0)
    assert found.summary == "walk calls itself 70 levels deep and holds 50.0 % of the time."
    assert statements(diagnosis, "deep-recursion") == [
        "walk takes 5.00 s of 10.0 s (50.0 %).",
        "walk has 70 frames of the deepest call path.",
    ]


def test_two_functions_that_call_each_other_recurse_too() -> None:
    found = finding(diagnosed(build(main(nest(["even", "odd"] * 65, 5.0)))), "deep-recursion")
    assert found.where.function == "even"
    assert found.summary == "even calls itself through odd 65 levels deep and holds 100 % of the time."


def test_what_a_recursion_calls_is_not_its_cost() -> None:
    """A loop would call it as often: only what the functions that call each other do themselves is theirs."""
    work = function("leaf", line("app.c:20", time=5.0))
    tree = function("odd", line("app.c:11", work, time=2.0))
    for name in ("even", "odd") * 69 + ("even",):
        tree = function(name, line("app.c:11", tree), at="app.c:10")
    rest = function("rest", line("app.c:40", time=3.0))
    found = finding(diagnosed(build(main(tree, rest))), "deep-recursion")
    assert (found.seconds, found.share) == (2.0, 0.2)
    assert "deep-recursion" not in causes(build(main(tree, function("rest", line("app.c:40", time=15.0)))))


def test_levels_of_separate_calls_do_not_add_up() -> None:
    assert "deep-recursion" not in causes(build(main(*[nest(["walk"] * 40, 1.0) for _ in range(3)])))


def test_a_deep_path_of_different_functions_is_no_recursion() -> None:
    assert "deep-recursion" not in causes(build(main(nest([f"f{number}" for number in range(90)], 5.0))))


def test_a_recursion_with_little_time_is_no_finding() -> None:
    profile = build(main(nest(["walk"] * 70, 0.9), function("rest", line("app.c:40", time=9.1))))
    assert "deep-recursion" not in causes(profile)


def test_a_recursion_of_a_library_is_not_the_programs() -> None:
    node = libc("walk", time=5.0)
    for _ in range(80):
        node = libc("walk", node)
    assert "deep-recursion" not in causes(build(main(line("app.c:3", node))))
    assert causes(build(entry("<thread root>", node))) == []


@pytest.mark.parametrize(
    "statement", ["coefficient(1.5, 2.5);", "field.coefficient(1.5, 2.5);", "x = p->coefficient(1.5, 2.5);"]
)
def test_a_call_for_its_effects_or_through_an_object_is_not_invariant(statement: str) -> None:
    text = HOIST.replace("v[j] *= grid::coefficient(ARGUMENTS);", statement)
    callee = function("grid::coefficient(double, double)", line("app.cpp:30", time=6.0), at="app.cpp:29")
    rows = function("rows", loop("app.cpp:3", line("app.cpp:4", callee, time=4.0)), at="app.cpp:1")
    profile = build(main(rows), read_source=source({"app.cpp": text}))
    assert "loop-invariant-work" not in causes(profile)


# -- what helps a hot spot -------------------------------------------------------------------------------------


def advised(name: str, *children, at: str = "app.cpp:1", text: str = "") -> tuple[str, ...]:
    hot = function(name, *children, at=at)
    (found,) = diagnosed(build(main(hot), read_source=source({at.split(":")[0]: text}))).findings
    assert found.cause == "hot-compute"
    return found.advice


@pytest.mark.parametrize(
    ("inner", "container"),
    [
        ("std::map<int, int, std::less<int> >::operator[](int const&)", True),
        ("std::_Rb_tree<int, int>::_M_lower_bound(int)", True),
        ("std::__1::unordered_map<int, int>::find(int const&)", True),
        ("std::vector<std::map<int, int> >::operator[](unsigned long)", False),
    ],
)
def test_look_ups_in_containers_of_nodes_are_advised_on_the_container(inner: str, container: bool) -> None:
    called = inlined(
        inner, line("/usr/include/c++/12/bits/stl_map.h:5", time=8.0), at="/usr/include/c++/12/bits/stl_map.h:5"
    )
    advice = advised("fill", line("app.cpp:3", called, time=2.0))
    assert ("container" in advice[0]) == container
    assert any("vectorised" in each for each in advice) != container


@pytest.mark.parametrize(
    ("name", "file", "table"),
    [
        ("kh_get_cnt", "count.c", True), ("get_cnt", "htab.c", True), ("HashTable::find", "a.cpp", True), ("Table::findSlot", "hash_map.cpp", True),
        ("hash_64", "bits.c", False), ("target_density", "hash.c", False), ("get_energy", "beam.c", False),
    ],
)  # fmt: skip
def test_a_programs_own_tables_are_known_by_their_names(name: str, file: str, table: bool) -> None:
    assert ("look-ups in a table" in advised(name, line(f"{file}:3", time=9.0), at=f"{file}:1")[0]) == table


DOT = "double f(const double *a, const double *b, int n)\n{\n  double s = 0;\n  for (int i = 0; i < n; i++)\n    s += a[i] * b[i] * c;\n  return s;\n}\n"
PARSED = "int f(const char *s)\n{\n  int n = 0;\n  while (*s) {\n    if (*s++ == 44) { put(n, s); break; }\n  }\n  return n;\n}\n"
SCALED = "void f(double *a, int n)\n{\n  double k = 3;\n  for (int i = 0; i < n; i++)\n    a[i] = fabs(a[i]) * 3 + {more}k;\n}\n".replace(
    "{more}", "a[i] * 2 + " * 9
)


LANES = "void f(const float *p, const float *end)\n{\n  while (p < end) {\n    v = _mm512_loadu_ps(p);\n    p += 16;\n    use(v);\n  }\n}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LANES, "No change is known"),
        (DOT, "reduction(+:"),
        (PARSED, "No change is known"),
        (SCALED, "-O3 -march=native"),
    ],
)
def test_vectorising_is_advised_where_there_is_arithmetic_to_vectorise(text: str, said: str) -> None:
    advice = advised("f", line("app.c:5", time=9.0), at="app.c:1", text=text)
    assert said in advice[0]
    assert ("-O3 -march" in advice[0]) == (text is SCALED)


def test_a_sum_in_rust_is_told_as_one() -> None:
    text = "fn f(a: &[f64]) -> f64 {\n  a.iter().fold(0f64, |s, x| s + x)\n}\n"
    assert "chunks_exact" in advised("app::f", line("app.rs:2", time=9.0), at="app.rs:1", text=text)[0]


def test_other_hot_places_have_their_own_advice() -> None:
    tables = [
        function(name, line(f"{name}.c:3", time=time), at=f"{name}.c:1")
        for name, time in (("kh_get_a", 6.0), ("kh_put_b", 4.0))
    ]
    rows = call(
        "f",
        line("rows.py:2", call("f.<locals>.g", at="/lib/site-packages/networkx/centrality.py:9", time=5.0)),
        at="rows.py:1",
    )
    text = "def f(g):\n    return nx.betweenness(g)\n"
    (found,) = diagnosed(build(main(*tables, rows), read_source=source({"rows.py": text}))).findings
    assert sum("look-ups in a table" in each for each in found.advice) == 1
    assert any(each.startswith("rows.py:2: nx.betweenness spends the time") for each in found.advice)


def test_a_region_of_one_thread_is_advised_more_threads_instead_of_a_region() -> None:
    body = function("forces._omp_fn.0", hot_loop(9.0, "app.c:12"), at="app.c:10")
    profile = wall(build(main(function("forces", line("app.c:9", gomp("GOMP_parallel", body)), at="app.c:9"))))
    advice = " ".join(diagnosed(profile).findings[0].advice)
    assert "OMP_NUM_THREADS" in advice
    assert "omp parallel for" not in advice
