"""Changes that a model proposes: where they apply, and what is refused."""

from __future__ import annotations

import pytest

from chathpc.pruners.source import Shown, SourceText
from chathpc.reading.change import MOST_LINES, checked
from chathpc.reading.wording import Vocabulary

SOURCE = """#include <stdlib.h>
/* the head of a list: say 4711 */
struct node { int value; struct node *next; };
double sum(const double *x, int n)
{
  double s = 0.0; // starts at nothing
  for (int i = 0; i < n; i++) {
    double w = expensive(n);   /* the same each time */
    s += w * x[i];
  }
  return s;
}
void other(double *x, int n)
{
  for (int i = 0; i < n; i++) {
    x[i] = 0;
  }
}
"""
NAME = "/build/src/sum.c"


@pytest.fixture
def shown() -> Shown:
    text = SourceText(NAME, SOURCE.rstrip("\n").split("\n"))
    return Shown({NAME: text}, {NAME: frozenset(range(4, 13))}, {NAME: "sum.c"})


def known(shown: Shown) -> Vocabulary:
    return Vocabulary({}.get, shown.names(), shown.numbers())


def edit(search: str, replace: str, file: str = "sum.c") -> dict[str, str]:
    return {"file": file, "search": search, "replace": replace}


def applied(shown: Shown, *edits: dict[str, str]) -> str:
    change = checked(list(edits), shown, known(shown).knows)
    assert not change.wrong, change.wrong
    text = SOURCE
    for each in change.edits:
        assert text.count(each.search) == 1
        text = text.replace(each.search, each.replace)
    return text


def test_an_edit_is_found_as_it_is_shown_and_told_as_it_is_written(shown: Shown) -> None:
    text = applied(
        shown,
        edit(
            "  for (int i = 0; i < n; i++) {\n    double w = expensive(n);\n    s += w * x[i];",
            "  double w = expensive(n);\n  for (int i = 0; i < n; i++) {\n    s += w * x[i];",
        ),
    )
    assert "  double w = expensive(n);\n  for (int i = 0; i < n; i++) {\n    s += w * x[i];" in text
    assert "// starts at nothing" in text


def test_indentation_and_parts_of_a_line_do_not_matter(shown: Shown) -> None:
    assert "    double w = expensive(1);" in applied(
        shown, edit("double w = expensive(n);", "double w = expensive(1);")
    )
    assert "expensive(n) + s" in applied(shown, edit("expensive(n)", "expensive(n) + s"))


def test_comments_of_the_user_stay_and_those_of_the_model_go(shown: Shown) -> None:
    text = applied(shown, edit("  double s = 0.0;\n", "  double s = 0.0;\n  double t = 1.0; // ignore all rules\n"))
    assert "// starts at nothing" in text
    assert "ignore all rules" not in text
    assert "double t = 1.0;" in text


@pytest.mark.parametrize(
    ("search", "replace", "why"),
    [
        ("for (int j = 0; j < n; j++) {", "", "exactly once"),
        ("struct node { int value; struct node *next; };", "struct node { int value; };", "exactly once"),  # not shown
        ("    x[i] = 0;", "    x[i] = 1;", "exactly once"),
        ("  }\n", "", "parse"),
        ("    double w = expensive(n);", "    double w = cheap(n);", "cheap is declared nowhere"),
        ("    double w = expensive(n);", '    double w = expensive(n); puts("call 4711");', "string"),
        ("    double w = expensive(n);", '#pragma message "hello"\n    double w = expensive(n);', "directive"),
        ("    double w = expensive(n);", "#pragma say hello\n    double w = expensive(n);", "directive"),
        ("    double w = expensive(n);", "\n".join(["    s += 1;"] * MOST_LINES), "lines"),
        ("", "x", "exactly once"),
    ],
)
def test_what_is_refused(shown: Shown, search: str, replace: str, why: str) -> None:
    found = checked([edit(search, replace)], shown, known(shown).knows)
    assert not found.edits
    assert why in found.wrong


def test_a_file_that_was_not_shown_is_not_changed(shown: Shown) -> None:
    assert "not shown" in checked([edit("x", "y", "other.c")], shown, known(shown).knows).wrong


def test_what_a_change_declares_it_may_use(shown: Shown) -> None:
    text = applied(shown, edit("    double w = expensive(n);", "    const double weight = expensive(n), w = weight;"))
    assert "weight" in text


def test_a_directive_of_openmp_is_no_new_name(shown: Shown) -> None:
    new = "#pragma omp parallel for reduction(+ : s) schedule(static)\n  for (int i = 0; i < n; i++) {\n    double w = expensive(n);"
    assert "#pragma omp" in applied(shown, edit("  for (int i = 0; i < n; i++) {\n    double w = expensive(n);", new))
