"""Edits in a model's answer: all of them apply exactly, or none does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.fix.models.answers import LONGEST_ANSWER, MOST_BLOCKS, edited
from chathpc.fix.models.functions import definitions, enclosing, faults, with_definition
from tests.fix.models.programs import FASTER, FUNCTION, SOURCE, block

LOOP = "  for (int i = 0; i < n; i++) s += v[i];"
TURNED = "  for (int i = n - 1; i >= 0; i--) s += v[i];"
FORTRAN = """module m
contains
  subroutine Scale(a, n)
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    a = 2 * a
  end subroutine Scale
  real function total(a)
    real, intent(in) :: a(:)
    total = sum(a)
  end function total
end module m
"""


def test_a_block_replaces_the_lines_that_it_names() -> None:
    assert edited(block(LOOP, TURNED), {"sum.c": SOURCE}).files == {"sum.c": FASTER}


def test_blanks_at_line_ends_do_not_matter() -> None:
    assert edited(block(LOOP + "  ", TURNED), {"sum.c": SOURCE}).files == {"sum.c": FASTER}


def test_a_file_may_be_named_by_its_base_name_where_there_is_only_one() -> None:
    assert edited(block(LOOP, TURNED), {"src/sum.c": SOURCE}).files == {"src/sum.c": FASTER}
    assert not edited(block(LOOP, TURNED), {"a/sum.c": SOURCE, "b/sum.c": SOURCE}).files


def test_a_function_takes_the_place_of_that_of_the_same_name() -> None:
    answer = f"Here it is:\n```c\n{FUNCTION}```\nIt is faster."
    assert edited(answer, {"sum.c": SOURCE}).files == {"sum.c": FASTER.replace("}\n\nint", "}\n\nint")}


def test_a_bare_function_without_a_fence_is_understood() -> None:
    assert edited(FUNCTION, {"sum.c": SOURCE}, "sum.c").files == {"sum.c": FASTER}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "no function"),
        ("I cannot help with that.", "no function"),
        (block("  nothing like it", TURNED), "exactly once"),
        (block("", TURNED), "exactly once"),
        (block(LOOP, TURNED, "Makefile"), "no file Makefile"),
        (block(LOOP, TURNED, "../../etc/passwd"), "no file"),
        (block(LOOP, LOOP), "changes nothing"),
        (block(LOOP, "  for (;;) { s += v[0];"), "cannot be parsed"),
        (block(LOOP, TURNED) + block("  not there", "  x"), "exactly once"),
        ("x" * (LONGEST_ANSWER + 1), "longer than"),
        (block(LOOP, TURNED) * (MOST_BLOCKS + 1), "more than"),
        ("```c\nint other(void) { return 1; }\n```", "no function"),
        ("```c\nstatic double sum(const double *v, int n) { return\n```", ""),
    ],
)
def test_what_cannot_be_used_changes_nothing_and_says_why(answer: str, why: str) -> None:
    found = edited(answer, {"sum.c": SOURCE})
    assert not found.files
    assert found.problem
    assert why in found.problem


def test_lines_that_occur_twice_are_not_guessed_at() -> None:
    twice = SOURCE + SOURCE.replace("sum", "again").replace("main", "other")
    assert "exactly once, but 2 times" in edited(block(LOOP, TURNED), {"sum.c": twice}).problem


@given(st.text(max_size=2000), st.text(alphabet="<=>SEARCH REPLACE\nFILE:`sum.c", max_size=400))
def test_no_text_makes_it_fail(text: str, noise: str) -> None:
    found = edited(noise + text + noise, {"sum.c": SOURCE})
    assert bool(found.files) != bool(found.problem)


@given(st.data())
def test_any_lines_that_are_unique_can_be_replaced(data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(["a;", "b;", "c;", "d;", ""]), min_size=3, max_size=12))
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    text = "\n".join(lines) + "\n"
    search = "\n".join(lines[first : last + 1]) + "\n"
    starts = [i for i in range(len(lines)) if lines[i : i + last - first + 1] == lines[first : last + 1]]
    found = edited(f"<<<<<<< SEARCH\n{search}=======\nzz;\n>>>>>>> REPLACE", {"notes.txt": text})
    if len(starts) == 1 and search.strip() and text.count(search) == 1:
        assert found.files == {
            "notes.txt": "".join(f"{line}\n" for line in [*lines[:first], "zz;", *lines[last + 1 :]])
        }


def test_lines_that_also_occur_across_the_ends_of_others_are_replaced_where_they_stand() -> None:
    text = "a;\na;\n\na;\n\n"  # a blank line, a; and a blank line stand once; their characters also from the end of the first line on
    found = edited("<<<<<<< SEARCH\n\na;\n\n=======\nzz;\n>>>>>>> REPLACE", {"notes.txt": text})
    assert found.files == {"notes.txt": "a;\na;\nzz;\n"}


def test_functions_of_fortran_are_found_whatever_their_case() -> None:
    assert [name for name, _ in definitions("m.f90", FORTRAN)] == ["scale", "total"]
    new = "subroutine scale(a, n)\n    a = a + a\n  end subroutine scale"
    assert with_definition("m.f90", FORTRAN, "SCALE", new) == FORTRAN.replace(
        FORTRAN[FORTRAN.index("subroutine Scale") : FORTRAN.index("  real function")].rstrip(), new
    )


def test_functions_of_fixed_form_are_found_where_they_stand() -> None:
    first = "      SUBROUTINE HALF(A,\n     &                N)\n      REAL A(N)\n      A = A /\n     &    2\n      END SUBROUTINE HALF"
    second = "      SUBROUTINE TWICE(A, N)\n      REAL A(N)\n      A = A * 2\n      END SUBROUTINE TWICE"
    text = f"{first}\nC     And back\n{second}\n"
    assert list(definitions("m.f", text)) == [("half", first.strip()), ("twice", second.strip())]
    new = second.replace("A * 2", "A + A").strip()
    assert with_definition("m.f", text, "twice", new) == text.replace("A * 2", "A + A")


def test_methods_of_the_same_name_are_told_apart_by_their_class() -> None:
    text = "".join(f"template <class T>\nT &{name}<T>::get(std::size_t i) {{\n  return v[i];\n}}\n" for name in "AB")
    text += "int *Plain::get() { return p; }\nint get(int n) { return n; }\n"
    assert [name for name, _ in definitions("a.cpp", text)] == ["A<T>::get", "B<T>::get", "Plain::get", "get"]
    new = "template <class T>\nT &B<T>::get(std::size_t i) { return w[i]; }"
    changed = with_definition("a.cpp", text, "B<T>::get", new)
    assert changed is not None
    assert changed.count("w[i]") == 1
    assert changed.index("w[i]") > changed.index("v[i]")


def test_a_function_that_the_changed_one_needs_comes_before_it() -> None:
    helper = "static double add(double a, double b) {\n  return a + b;\n}"
    original = SOURCE[SOURCE.index("static") : SOURCE.index("int main")].strip()
    changed = original.replace("s += v[i]", "s = add(s, v[i])")
    for blocks in ([changed, helper], [helper + "\n\n" + changed]):
        answer = "\n".join(f"```c\n{code}\n```" for code in blocks)
        assert edited(answer, {"sum.c": SOURCE}).files == {"sum.c": SOURCE.replace(original, f"{helper}\n\n{changed}")}
    assert (
        edited(f"```c\n{helper}\n```", {"sum.c": SOURCE}).problem == "The answer contains no function of the program."
    )


def test_a_method_within_its_class_is_found_by_its_qualified_name() -> None:
    inside = "struct Desk {\n  int next() { return 1; }\n  int last() { return 2; }\n};\n"
    answer = "```cpp\nint Desk::next() { return 3; }\n```"
    assert edited(answer, {"desk.cpp": inside}).files == {"desk.cpp": inside.replace("return 1", "return 3")}


def test_the_function_around_a_line() -> None:
    around = enclosing("sum.c", SOURCE, 5)
    assert around is not None
    assert around[0] == "sum"
    assert around[1].startswith("static double sum")
    assert enclosing("sum.c", SOURCE, 1) is None


def test_a_file_without_a_grammar_has_no_functions_and_no_faults() -> None:
    assert not list(definitions("notes.txt", "f() {"))
    assert faults("notes.txt", "f() {") == []
    assert faults("a.c", "int f( {") == [1]
