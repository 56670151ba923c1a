"""Results that are kept: what the gates say of them, over several files, and how often a function is really computed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from chathpc.diagnosis.records import Diagnosis, Finding, Place, Verdict
from chathpc.fix.gates.races import new_races
from chathpc.fix.gates.scope import judge
from chathpc.fix.project import Flags, Project, Run
from chathpc.fix.recipes import Recipes
from chathpc.fix.recipes.analysis.functions_of_arguments import is_function_of_arguments
from chathpc.fix.recipes.analysis.program import program
from chathpc.fix.recipes.table import RECIPES
from chathpc.fix.records import Candidate, Problem
from tests.fix.recipes.applying import changed
from tests.fix.recipes.cases import Case
from tests.fix.recipes.last_result_programs import CHANGED, LAST_RESULTS
from tests.fix.recipes.misses import Miss

ONLY = tuple(one for one in RECIPES if one.name == "remember-last-result")
_ROWS, _COLUMNS, _DAYS = 6, 50, 3
#: A function in a file of its own, asked by another one for each column of rows; powers are counted by whoever links it.
FILES = {
    "light.h": "double light(double lat, int day);\n",
    "light.c": """#include "light.h"
#include <math.h>
#ifdef ELSEWHERE
#include <strings.h>
#endif
double light(double lat, int day) { return pow(lat, 1.0 + 0.01 * day); }
""",
    "app.c": f"""#include <stdio.h>
#include "light.h"
static double rows[{_ROWS}], sums[{_ROWS}];
static void cell(int row, int column, const int *day) {{
  if (sums[row] < 1e30) sums[row] += column * light(rows[row], *day);
}}
int main(void) {{
  for (int r = 0; r < {_ROWS}; r++) rows[r] = 1 + 0.5 * r;
  for (int day = 0; day < {_DAYS}; day++)
    for (int r = 0; r < {_ROWS}; r++)
      for (int c = 0; c < {_COLUMNS}; c++) cell(r, c, &day);
  for (int r = 0; r < {_ROWS}; r++) printf("%.17g\\n", sums[r]);
  return 0;
}}
""",
}
_COUNTER = """#include <stdio.h>
static int calls;
double __real_pow(double x, double y);
double __wrap_pow(double x, double y) { calls++; return __real_pow(x, y); }
__attribute__((destructor)) static void tell(void) { fprintf(stderr, "%d", calls); }
"""


def proposed(
    files: dict[str, str], function: str, *, flags: str = "-O2", file: str = "app.c", build: str = "make"
) -> list[Candidate]:
    place = Place(function, f"/build/{file}", None, None, ("main", function))
    finding = Finding("hot-compute", "", "", place, 1.0, 0.8, 0.9, 3.0, 0.9, "", ())
    project = Project(Path("."), build, Run("run", "./app"), ("*",), flags=Flags("CFLAGS", flags))
    problem = Problem(project, files, Diagnosis(Verdict.BOTTLENECK, "", (finding,)))
    return [one for one in Recipes(ONLY).propose(problem, ()) if one.recipe == ONLY[0].name]


def ran(files: dict[str, str], folder: Path, *flags: str) -> tuple[str, str]:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    sources = [name for name in files if name.endswith(".c")]
    subprocess.run(["gcc", "-O1", "-fno-builtin", *flags, "-o", "app", *sources, "-lm"], cwd=folder, check=True)
    done = subprocess.run(["./app"], cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout, done.stderr


@pytest.mark.parametrize("function", ["light", "cell", "main"])
def test_a_function_of_another_file_is_computed_once_for_a_row(function: str, tmp_path: Path) -> None:
    """As many powers as rows and days; found from the function itself and from those that lead to it."""
    one = proposed(FILES, function)[0]
    assert list(one.files) == ["light.c"]
    before, calls = ran({**FILES, "count.c": _COUNTER}, tmp_path / "old", "-Wl,--wrap=pow")
    assert int(calls) == _ROWS * _COLUMNS * _DAYS
    after, calls = ran({**FILES, **one.files, "count.c": _COUNTER}, tmp_path / "new", "-Wl,--wrap=pow")
    assert int(calls) == _ROWS * _DAYS
    assert after == before


def test_what_is_kept_is_each_threads_own_unless_all_is_seen_that_might_start_some() -> None:
    assert "  static double last_lat, last_result;\n" in proposed(FILES, "light")[0].files["light.c"]
    own = "  static _Thread_local double last_lat, last_result;\n"
    assert own in proposed(FILES, "light", flags="-O2 -fopenmp")[0].files["light.c"]
    assert own in proposed(FILES, "light", build="make LDLIBS=-lpthread")[0].files["light.c"]
    threads = {**FILES, "app.c": "#include <pthread.h>\n" + FILES["app.c"]}
    assert own in proposed(threads, "light")[0].files["light.c"]
    started_elsewhere = {**FILES, "app.c": FILES["app.c"].replace("int main(void)", "int run(void)")}
    assert own in proposed(started_elsewhere, "light")[0].files["light.c"]


def test_the_header_is_included_where_no_condition_can_leave_it_out() -> None:
    text = proposed(FILES, "light")[0].files["light.c"]
    assert text.startswith('#include "light.h"\n#include <math.h>\n#include <string.h>\n#ifdef ELSEWHERE\n')
    bare = {
        "app.c": FILES["app.c"],
        "light.c": "double exp(double);\ndouble light(double lat, int day) { return exp(lat * day); }\n",
    }
    text = proposed(bare, "light")[0].files["light.c"]
    assert text.startswith("double exp(double);\n#include <string.h>\ndouble light(")
    other = "#ifdef A\n#include <string.h>\n#else\n#ifndef B\ndouble pow(double, double);\n"
    branches = other + FILES["light.c"][FILES["light.c"].index("double light") :] + "#endif\n#endif\n"
    text = proposed({**FILES, "light.c": branches}, "light")[0].files["light.c"]
    assert text.startswith("#include <string.h>\n#ifdef A\n")


def test_a_header_is_of_the_language_that_includes_it(tmp_path: Path) -> None:
    body = "static inline double light(double lat, int day)\n{\n    return pow(lat, 1.0 + 0.01 * day);\n}\n"
    body = f"#ifndef LIGHT_H\n#define LIGHT_H\n#include <math.h>\n{body}#endif\n"
    in_c = {"light.h": body, "app.c": FILES["app.c"]}
    text = proposed(in_c, "light", flags="-fopenmp", file="light.h")[0].files["light.h"]
    assert "#include <string.h>" in text
    assert "    static _Thread_local int last_day, has_last;\n" in text
    assert ran({**in_c, "light.h": text}, tmp_path / "new") == ran(in_c, tmp_path / "old")
    in_cpp = {"light.h": body, "app.cpp": FILES["app.c"]}
    text = proposed(in_cpp, "light", flags="-fopenmp", file="light.h")[0].files["light.h"]
    assert "#include <cstring>" in text
    assert "    static thread_local bool has_last;\n" in text
    assert not proposed({**in_c, "more.cpp": '#include "light.h"\n'}, "light", file="light.h")
    assert not proposed({"light.h": body}, "light", file="light.h")


def test_what_is_further_out_is_kept_where_both_could_be() -> None:
    inner = "static double air(double lat) { return exp(-lat); }\ndouble light"
    text = FILES["light.c"].replace("double light", inner).replace("pow(lat,", "air(lat) * pow(lat,")
    files = {**FILES, "light.c": text}
    found = proposed(files, "air", file="light.c")
    assert all("light (" in one.title or "of light" in one.title for one in found)
    assert all("return last_result = exp" not in one.files["light.c"] for one in found)


@pytest.mark.parametrize(
    "source",
    [
        "double exp(double); double f(double x, int n) { return n < 1 ? exp(x) : f(x, n - 1); }",
        "double f(double, int); double g(double x, int n) { return n < 1 ? x : f(x, n - 1); } double f(double x, int n) { return g(x, n); }",
        "int even(int); int odd(int n) { return n ? even(n - 1) : 0; } int even(int n) { return n ? odd(n - 1) : 1; } double f(int n) { return odd(n); }",
    ],
    ids=["itself", "through another one", "others that call each other"],
)
def test_a_function_that_is_called_while_it_is_computed_is_none_of_its_arguments(source: str) -> None:
    """What is kept would be another call's arguments with this one's result."""
    parsed = program({"app.c": source})
    assert not is_function_of_arguments(parsed.named("f")[0], parsed)


def test_many_functions_of_each_other_are_looked_at_without_an_end() -> None:
    listed = ["#include <math.h>\ndouble f0(double x) { return pow(x, 0.3); }"]
    listed += [f"double f{k}(double x) {{ return f{k - 1}(x) + {k}; }}" for k in range(1, 400)]
    listed += [
        "double v[9]; void g(int c) { v[c] += f399(v[3]); } int main(void) { for (int c = 0; c < 9; c++) g(c % 3); return 0; }"
    ]
    assert len(proposed({"app.c": "\n".join(listed)}, "f0")) <= 12


def test_it_is_not_changed_again() -> None:
    one = proposed(FILES, "light")[0]
    assert not proposed({**FILES, **one.files}, "light")


@pytest.mark.parametrize("case", LAST_RESULTS, ids=lambda case: case.name)
def test_the_gates_for_scope_and_races_let_it_pass(case: Case) -> None:
    name = "app.c" if case.language == "c" else "app.cpp"
    new = changed(case.recipe, case.source, case.language)
    assert new is not None
    project = Project(Path("/nowhere"), "make", Run("run", "./app"), ("*",), flags=Flags("CFLAGS", "-O2 -fopenmp"))
    result = judge(Candidate("x", "test", "x", {name: new}, None), project, {name: case.source}, (name,))
    assert result.passed, result.statement
    assert not new_races({name: case.source}, {name: new})


@pytest.mark.parametrize("case", CHANGED, ids=lambda case: case.why)
def test_near_misses_are_changed_without_what_is_wrong_in_them(case: Miss) -> None:
    assert changed(case.recipe, case.source, case.language) is not None
