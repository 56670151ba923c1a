"""Text that nobody would write must do no harm, in no language."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.source import (
    calls,
    copies,
    footprint,
    fresh,
    inlining,
    invariant,
    kernels,
    parallel,
    recursion,
    searches,
    sections,
    sharing,
    shifts,
    strides,
    traffic,
)
from chathpc.diagnosis.source.sign import effective
from chathpc.diagnosis.source.text import LONGEST_LINE, MOST_BYTES, parsed, read_file
from tests.diagnosis.parts import function, main, source
from tests.profile.build import build, line

FILES = ("a.c", "a.cpp", "a.cu", "a.f90", "a.f")
WORDS = (
    "for", "while", "do", "if", "else", "end", "end do", "return", "break", "switch", "case", "subroutine f(a)", "function g()",
    "void f(int n, double *a)", "struct S", "class C", "template <class T>", "#pragma omp parallel for", "!$omp parallel do",
    "!$omp end parallel", "#define N 3", "int", "double", "real(8) :: a(n, m)", "integer", "std::vector<int>", "i", "j", "n", "a", "a[i]",
    "a(i, j)", "a[j * n + i]", "f(n - 1)", "p->next", "++", "+=", "=", "==", "*", "&", "(", ")", "{", "}", "[", "]", "<", ">", "::",
    ";", ",", ".", "1", "0x", "1e", '"', "'", "\n", "\n", "/*", "*/", "//", "!", "\\\n", "\0", "é", "omp_get_thread_num()", "new", "[&]",
    "__global__ void k(float *a)", "__shared__ float t[32][32]", "threadIdx.x", "a[threadIdx.x * n]", "__syncthreads();", "atomicAdd(a, 1)",
    "k<<<1, 32>>>(a);", "<<<", ">>>", "%", "i = i + threadIdx.x;", "parameter (n = 3)", "dimension a(n)", "common /b/ c(3)", "do 10 i = 1, n",
    "10 continue", "goto 10", "\n     1", "\nC", "\n      ",
)  # fmt: skip


#: What is repeated without end.
PIECES = (
    b"(", b"[", b"{", b"for(;;)", b"if(x)", b"a[", b"do i=1,n\n", b"if (x) then\n", b"f(", b"-", b"!", b"a->", b"x=", b"a+",
    b"template<", b"class A{", b"namespace a{", b"/*", b'"', b"\n\n", b"!$omp parallel\n", b"#pragma omp parallel\n{", b"a%b%",
    b"\\\n", b"__attribute__((", b"struct {", b"auto x=[&]{", b"k<<<", b"t[threadIdx.x][", b"do 10 i=1,n\n", b"      do 10 i=1,n\n", b"     1 +\n",
)  # fmt: skip


def everything(name: str, text: bytes) -> int:
    """Ask every recogniser about every function, loop and line; the number of loops."""
    file = parsed(name, text)
    if file is None:
        return 0
    count = 0
    for one in file.everything():
        recursion.redundant(one, file)
        recursion.chained(one, file)
        inlining.expanded(one, file)
        kernels.signs(kernels.KernelSource(0, file, one))
        kernels.small_launch(file, one.name, 8)
        sharing.false_sharing(one, file)
        calls.accessor(one, file)
        for loop in one.loops:
            count += 1
            inner = effective(one, loop, file.unit)
            searches.linear_search(one, file.unit, inner)
            searches.pairs(one, file.unit, inner)
            searches.sorting(one, file.unit, inner)
            fresh.touched(one, file, inner)
            shifts.shift_loop(one, file.unit, inner)
            strides.strided(one, file.unit, inner)
            for sign in (
                traffic.chase(one, file.unit, inner),
                traffic.gather(one, file.unit, inner),
                traffic.random_access(one, file.unit, inner),
            ):
                if sign is not None:
                    footprint.weighed(sign, one, file)
            traffic.bandwidth(one, file.unit, inner, 6)
            calls.invariant_division(one, file.unit, inner)
            calls.functions_in_loop(one, file.unit, inner, loop.first)
            for number in {loop.first, loop.first + 1, loop.last}:
                copies.value_parameter(one, file, number)
                copies.range_copy(one, file, number)
                copies.returned_copy(one, file, number)
                copies.allocation(one, loop, number)
                searches.library_search(one, file.unit, loop, number)
                shifts.shifting(one, file.unit, number, in_loop=True)
                shifts.grown(one, file.unit, number)
                copies.rebuilt(one, number)
                sections.packed(one, [file], number)
                invariant.invariant(one, file, loop, number)
                parallel.atomic(one, file.unit, loop, number)
                calls.synchronous(one, loop, number)
        for number in (one.first, one.last):
            calls.simple_power(one, number)
            parallel.region_in_loop(one, number)
            parallel.in_order(one, file.unit, number)
    return count


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(words=st.lists(st.sampled_from(WORDS), max_size=120))
@example(words=["+=", "for", "<", "10 continue", "omp_get_thread_num()"])  # an element without an index
def test_any_words_in_any_order(name: str, words: list[str]) -> None:
    body = " ".join(words).encode()
    everything(name, body)
    everything(
        name,
        b"subroutine h(n)\ndo i = 1, n\n" + body + b"\nend do\nend"
        if name == "a.f90"
        else b"void h(int n) { for (;;) {\n" + body + b"\n} }",
    )


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60, deadline=None)
@given(text=st.binary(max_size=2000))
def test_any_bytes(name: str, text: bytes) -> None:
    everything(name, text)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("piece", PIECES)
def test_deep_nesting_ends_soon(name: str, piece: bytes) -> None:
    count = 20_000 // len(piece)
    broken = b"".join(piece + (b"\n" if n % 50 == 49 else b"") for n in range(count))
    head = b"subroutine h(n)\n" if name == "a.f90" else b"void h(int n) {\n"
    begun = time.monotonic()
    everything(name, head + broken)
    assert time.monotonic() - begun < 20  # a guard against what never ends, not a measurement


@pytest.mark.parametrize("name", FILES)
def test_what_is_too_large_is_not_read(name: str) -> None:
    assert parsed(name, b"\n" * (MOST_BYTES + 1)) is None
    assert parsed(name, b"x" * (LONGEST_LINE + 1)) is None
    assert parsed(name, b"\n" * 100) is not None


def test_a_line_of_ten_megabytes_is_not_read() -> None:
    assert parsed("a.c", b"int x = 1 +" * 1_000_000) is None


def test_a_file_of_no_known_language_is_not_read() -> None:
    for name in ("a.py", "a.rs", "a", "c", "/", "", "a.c.o"):
        assert parsed(name, b"int main(void) { return 0; }") is None


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=300), hot=st.integers(1, 12))
def test_any_source_ends_in_a_diagnosis(text: str, hot: int) -> None:
    files = {"a.c": f"int f(int n)\n{{\nfor (;;)\n{{\n{text}\n}}\n}}"}
    profile = build(main(function("f", line(f"a.c:{hot}", time=2.0), at="a.c:1")), read_source=source(files))
    assert diagnose(profile).findings


def test_a_profile_without_source_has_no_file() -> None:
    profile = build(main(function("f", line("a.c:3", time=2.0), at="a.c:1")))
    assert read_file(profile, "a.c") is None


def test_surrogates_in_the_text_are_replaced() -> None:
    profile = build(
        main(function("f", line("a.c:1", time=2.0), at="a.c:1")),
        read_source=source({"a.c": "int f(void) { return '\udcff'; }"}),
    )
    file = read_file(profile, "a.c")
    assert file is not None
    assert file.function_names == ["f"]
