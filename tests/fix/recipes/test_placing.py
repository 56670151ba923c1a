"""Where the functions that a recipe adds to a file are put."""

from __future__ import annotations

import pytest

from chathpc.fix.recipes.analysis.program import program
from chathpc.fix.recipes.serial.placing import place_of_functions

_FIRST = "static int first(void)\n{\n    return 3;\n}\n"


@pytest.mark.parametrize(
    ("before", "told", "after"),
    [
        ("#include <stdio.h>\n\n", "", ""),
        ("#include <stdio.h>\n\n", "/* gives three */\n// always\n", ""),
        ("int other; /* of nobody */\n", "", ""),
        ("#include <cstdio>\n\n", "namespace in {\n", "}\n"),
        ("#include <cstdio>\n\n", "/* all of it */\nnamespace in {\n", "}\n"),
    ],
    ids=["behind what is included", "in front of comments", "not of another's comment", "of a namespace", "and its comment"],
)  # fmt: skip
def test_functions_stand_in_front_of_the_first_one_and_its_comment(before: str, told: str, after: str) -> None:
    source = program({"app.cpp": before + told + _FIRST + after}).sources["app.cpp"]
    assert place_of_functions(source) == len(before)


def test_what_the_preprocessor_decides_about_is_no_place() -> None:
    source = program({"app.c": f"#ifdef X\n{_FIRST}#endif\n"}).sources["app.c"]
    assert place_of_functions(source) is None
