"""Where a header's inclusion goes."""

from __future__ import annotations

import pytest

from chathpc.fix.recipes.analysis.edits import applied
from chathpc.fix.recipes.analysis.heads import included
from chathpc.fix.recipes.analysis.program import program

_BODY = "double light(double lat)\n{\n    return pow(lat, 1.5);\n}\n"


@pytest.mark.parametrize(
    ("before", "after", "start"),
    [
        ('#include "light.h"\n#include <math.h>\n', "", '#include "light.h"\n#include <math.h>\n#include <string.h>\n'),
        ("double pow(double, double);\n", "", "double pow(double, double);\n#include <string.h>\ndouble light("),
        (
            "#ifdef A\n#include <string.h>\n#else\n#ifndef B\ndouble pow(double, double);\n",
            "#endif\n#endif\n",
            "#include <string.h>\n#ifdef A\n",
        ),
    ],
    ids=["behind others", "before the function where there are none", "outside conditions"],
)
def test_a_header_is_included_where_no_condition_can_leave_it_out(before: str, after: str, start: str) -> None:
    text = before + _BODY + after
    edits = included("string.h", program({"app.c": text}).named("light")[0])
    new = applied(text.encode(), edits)
    assert new is not None
    assert new.decode().startswith(start)


def test_a_header_that_is_included_is_not_included_again() -> None:
    assert not included("math.h", program({"app.c": "#include <math.h>\n" + _BODY}).named("light")[0])
