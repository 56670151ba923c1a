"""Searches through arrays in programs of several files, the types in which keys are compared, and what the gate of scope says."""

from __future__ import annotations

import pytest

from chathpc.fix.gates import scope
from chathpc.fix.recipes.analysis.program import Spot, program
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.searched_arrays import indexed
from chathpc.fix.records import Candidate
from tests.fix.recipes.applying import changed, project
from tests.fix.recipes.cases import Case
from tests.fix.recipes.search_programs import SEARCHED

_HEADER = "extern long ids[];\nextern int count;\nint find(long id);\nvoid clear(void);\n"
_TABLE = """#include <stdio.h>
#include "table.h"
long ids[900];
int count;
void clear(void) { count = 0; }
int find(long id) { for (int i = 0; i < count; i++) if (ids[i] == id) return i; return -1; }
"""
_MAIN = """#include "table.h"
int main(void) { for (long k = 0; k < 900; k++) { if (find(k % 70) < 0) ids[count++] = k % 70; if (k == 400) CLEAR; } return count; }
"""


def _changes(sources: dict[str, str]) -> list[Change]:
    parsed = program(sources)
    context = Context(parsed, project())
    return [
        change
        for one in parsed.procedures
        for change in indexed(context, Spot(one, one.model.first, 1.0, None, "quadratic-algorithm"))
    ]


def test_items_may_be_appended_in_another_file() -> None:
    found = _changes({"table.h": _HEADER, "table.c": _TABLE, "main.c": _MAIN.replace("CLEAR", "clear()")})
    assert [list(one.edits) for one in found] == [["table.c"]]


@pytest.mark.parametrize("statement", ["count = 0", "ids[0] = 9", "count--", "scanf(&ids[0])"])
def test_another_file_neither_clears_the_array_nor_changes_it(statement: str) -> None:
    sources = {"table.h": _HEADER, "table.c": _TABLE, "main.c": _MAIN.replace("CLEAR", statement)}
    assert _changes(sources) == []


def test_what_is_in_a_header_belongs_to_several_files() -> None:
    inside = "static long ids[900];\nstatic int count;\n" + _TABLE.split("\n")[5] + "\n"
    sources = {"table.h": inside, "main.c": _MAIN.replace("CLEAR", "find(3)")}
    assert _changes(sources) == []


def test_a_header_or_a_file_that_cannot_be_seen_may_do_anything() -> None:
    assert _changes({"table.c": _TABLE, "main.c": _MAIN.replace("CLEAR", "clear()")}) == []


def test_two_files_with_an_array_of_that_name_are_left_alone() -> None:
    sources = {"table.h": "", "table.c": _TABLE, "main.c": "static long ids[3];\n" + _MAIN.replace("CLEAR", "clear()")}
    assert _changes(sources) == []


@pytest.mark.parametrize(
    ("item", "wanted", "found"),
    [
        ("int", "long", "long long"), ("long long", "short", "long long"), ("char", "int", "long long"),
        ("unsigned char", "int", "long long"), ("unsigned", "unsigned long", "unsigned long long"),
        ("size_t", "unsigned char", "unsigned long long"), ("Id", "long", "long long"), ("Other", "Id", "long long"),
        ("enum kind", "enum kind", "long long"), ("Kind", "Kind", "long long"), ("void *", "void *", "const void *"),
        ("const char *", "const char *", "const void *"), ("ssize_t", "int", "long long"),
        # -1 is a large number where the other side has no sign.
        ("int", "unsigned", None), ("unsigned", "long", None), ("size_t", "int", None), ("uint32_t", "signed char", None),
        ("enum kind", "int", None), ("double", "double", None), ("int", "float", None), ("Unknown", "Unknown", None),
        ("char *", "int *", None), ("bool", "unsigned", None),
    ],
)  # fmt: skip
def test_keys_are_compared_in_a_type_that_keeps_them_apart(item: str, wanted: str, found: str | None) -> None:
    text = (
        "typedef long Id;\ntypedef Id Other;\nenum kind { A = -1, B };\ntypedef enum { C, D } Kind;\n"
        f"static {item} ids[900];\nstatic int count;\n"
        f"static int find({wanted} id) {{ for (int i = 0; i < count; i++) if (ids[i] == id) return i; return -1; }}\n"
        f"static void add({wanted} id) {{ if (find(id) < 0) ids[count++] = id; }}\n"
        "int main(void) { for (int k = 0; k < 900; k++) add(0); return count; }\n"
    )
    new = changed("index-searched-array", text, "c")
    assert (new is None) == (found is None)
    assert found is None or new is None or f"find_place({found} key)" in new


@pytest.mark.parametrize("case", SEARCHED, ids=lambda case: case.name)
def test_the_gate_of_scope_lets_it_pass(case: Case) -> None:
    new = changed(case.recipe, case.source, case.language)
    assert new is not None
    candidate = Candidate("recipes", case.recipe, case.recipe, files={"app.c": new})
    assert scope.judge(candidate, project(), {"app.c": case.source}, ["app.c"]).passed
