"""What is proposed for a diagnosis: where it is looked for, in which order, and what is not proposed again."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.diagnosis.catalogue import causes
from chathpc.diagnosis.fact import Fact, Kind
from chathpc.diagnosis.records import Diagnosis, Finding, Place, Verdict
from chathpc.fix.project import Check, Flags, Project, Run
from chathpc.fix.recipes.analysis.program import program
from chathpc.fix.recipes.flags import level, other_flags, with_level
from chathpc.fix.recipes.page import to_markdown
from chathpc.fix.recipes.proposer import Recipes
from chathpc.fix.recipes.spots import spots
from chathpc.fix.recipes.table import answering, recipes
from chathpc.fix.records import Attempt, Candidate, Problem
from chathpc.fix.records import Verdict as Fate
from tests.diagnosis.parts import function, main
from tests.profile.build import build, call, line

SOURCE = """#include <math.h>
#include <stdio.h>
static double a[64][64];
static void scale(double p) {
  for (int j = 0; j < 64; j++)
    for (int i = 0; i < 64; i++) a[i][j] = a[i][j] * 2 + pow(p, 0.3) + pow(a[i][j], 3.0);
}
static double total(void) {
  double s = 0;
  for (int i = 0; i < 64; i++) s += a[i][i];
  return s;
}
int main(void) {
  for (int t = 0; t < 9; t++) scale(0.1 * t);
  printf("%g\\n", total());
  return 0;
}
"""


def finding(
    cause: str, function: str | None, line: int | None = None, share: float = 0.8, file: str = "app.c"
) -> Finding:
    place = Place(function, f"/build/{file}", line, None, ("main", *([function] if function else [])))
    return Finding(cause, "", "", place, 1.0, share, 0.9, 3.0, 0.9, "", ())


def problem(
    *findings: Finding,
    verdict: Verdict = Verdict.BOTTLENECK,
    flags: str = "-O2 -g",
    relative: float = 1e-9,
    source: str = SOURCE,
) -> Problem:
    run = Run("run", "./app")
    project = Project(Path("."), "make", run, ("*.c",), flags=Flags("CFLAGS", flags), check=Check(relative=relative))
    return Problem(project, {"app.c": source}, Diagnosis(verdict, "", findings))


def test_the_recipe_for_the_cause_comes_first_and_the_compilers_flags_last() -> None:
    candidates = list(Recipes().propose(problem(finding("strided-access", "scale", 6)), ()))
    assert candidates[0].recipe == "interchange-loops"
    assert "scale" in candidates[0].title
    assert "app.c:5" in candidates[0].title
    assert candidates[0].files["app.c"].count("for (int j = 0; j < 64; j++) a[i][j]") == 1
    assert candidates[-1].flags == "-O3 -g -march=native"
    assert candidates[0].finding is not None
    assert candidates[0].finding.cause == "strided-access"
    assert {each.proposer for each in candidates} == {"recipes"}


def test_another_cause_brings_another_recipe_to_the_front() -> None:
    first = next(iter(Recipes().propose(problem(finding("loop-invariant-work", "scale", 6)), ())))
    assert first.recipe == "hoist-invariant-call"
    assert "const double pow_once = pow(p, 0.3);" in first.files["app.c"]


def test_a_profile_that_only_knows_the_hot_function_is_enough() -> None:
    found = Recipes().propose(problem(finding("hot-compute", "scale", None), verdict=Verdict.HEALTHY), ())
    assert {"interchange-loops", "hoist-invariant-call", "power-to-products"} <= {each.recipe for each in found}
    assert not any(each.flags for each in found)


def test_a_function_of_a_library_leads_to_those_that_call_it() -> None:
    place = Place("__pow_fma", None, None, None, ("main", "scale", "__pow_fma"))
    found = Recipes().propose(problem(replace(finding("expensive-math", None), where=place)), ())
    assert {"power-to-products", "hoist-invariant-call"} <= {each.recipe for each in found}


def test_without_findings_nothing_is_proposed() -> None:
    assert list(Recipes().propose(problem(verdict=Verdict.HEALTHY), ())) == []


def test_what_was_tried_is_not_proposed_again_and_what_was_accepted_is_gone_on_from() -> None:
    asked = problem(finding("strided-access", "scale", 6))
    first, *others = Recipes().propose(asked, ())
    history = [Attempt(first, Fate.ACCEPTED, ())]
    again = list(Recipes().propose(asked, history))
    assert [each.id for each in again] == [each.id for each in others]
    assert {each.parent for each in again} == {first.id}
    following = list(Recipes().propose(replace(asked, sources=dict(first.files)), history))
    assert "interchange-loops" not in {each.recipe for each in following}


def test_several_recipes_are_also_tried_at_once() -> None:
    together = [
        each for each in Recipes().propose(problem(finding("expensive-math", "scale", 6)), ()) if "+" in each.recipe
    ]
    assert len(together) == 1
    assert "pow_once" in together[0].files["app.c"]
    assert "cubed(" in together[0].files["app.c"]


def test_what_was_refused_by_itself_is_no_part_of_what_is_put_together() -> None:
    asked = problem(finding("expensive-math", "scale", 6))
    alone: dict[str, Candidate] = {}
    both = None
    history: list[Attempt] = []
    for each in Recipes().propose(asked, history):
        if "+" in each.recipe:
            both = each
            break
        first = each.recipe not in alone
        alone.setdefault(each.recipe, each)
        history.append(Attempt(each, Fate.ACCEPTED if first and len(alone) != 2 else Fate.INCONCLUSIVE, ()))
    refused = list(alone)[1]
    assert len(alone) > 2
    assert both is not None
    assert refused not in both.recipe.split("+")
    assert alone[next(iter(alone))].title in both.title
    # Where nothing passed by itself all may do so together.
    failed = (replace(each, verdict=Fate.INCONCLUSIVE) for each in history)
    assert set(alone) <= {
        name for each in Recipes().propose(asked, list(failed)) if "+" in each.recipe for name in each.recipe.split("+")
    }


@pytest.mark.parametrize("apart", [False, True])
def test_a_change_in_a_function_that_is_called_names_that_function(apart: bool) -> None:
    kind = "#include <vector>\n"
    called = "double at(std::vector<double> t, int i)\n{\n  return t[i];\n}\n"
    caller = "double range(const std::vector<double> &t)\n{\n  double s = 0;\n  for (int i = 0; i < 9; i++)\n    s += at(t, i);\n  return s;\n}\n"
    files = {"b.cpp": kind + called, "a.cpp": f"{kind}double at(std::vector<double> t, int i);\n{caller}"}
    files = files if apart else {"a.cpp": kind + called + caller}
    asked = replace(problem(finding("unnecessary-copy", "range", 7 if apart else 10, file="a.cpp")), sources=files)
    told = [each.title for each in Recipes().propose(asked, ()) if "const reference" in each.title]
    assert told
    assert told[0].startswith(f"at ({'b' if apart else 'a'}.cpp:2): Pass t of at")


def test_values_computed_once_are_counted_by_function_and_helpers_stand_apart() -> None:
    source = SOURCE.replace("pow(p, 0.3)", "pow(p, 0.3) + exp(p) + exp(2 * p)")
    asked = problem(finding("loop-invariant-work", "scale", 6), source=source)
    text = next(each for each in Recipes().propose(asked, ()) if "+" in each.recipe).files["app.c"]
    assert set(re.findall(r"const double (\w+) =", text)) == {"pow_once", "exp_once", "exp_once2"}
    assert "#include <stdio.h>\n\nstatic inline double cubed" in text


def test_at_most_so_many_are_proposed() -> None:
    assert len(list(Recipes(most=2).propose(problem(finding("expensive-math", "scale", 6)), ()))) == 2


def test_without_a_tolerance_no_rounding_is_changed() -> None:
    found = list(Recipes().propose(problem(finding("expensive-math", "scale", 6), relative=0.0), ()))
    assert found
    assert not any("power" in each.recipe for each in found)
    assert any(each.flags is not None and "-ffp-contract=off" in each.flags for each in found)


def test_a_source_that_cannot_be_parsed_brings_no_candidates_of_its_own() -> None:
    found = Recipes().propose(problem(finding("strided-access", "scale", 6), source="void f( { for ((; ;"), ())
    assert all(each.flags is not None for each in found)


def test_places_are_found_by_line_by_name_by_path_and_by_evidence() -> None:
    parsed = program({"app.c": SOURCE})
    evidence = Fact("E1", Kind.AMOUNT, "", 1.0, "s", "", where=Place("total", "app.c", 10))
    diagnosis = Diagnosis(Verdict.BOTTLENECK, "", (finding("strided-access", "scale.constprop.0", 6),), (evidence,))
    found = spots(parsed, diagnosis)
    assert [(each.procedure.model.name, each.line, each.cause) for each in found[:2]] == [
        ("scale", 6, "strided-access"), ("main", 14, "strided-access"),
    ]  # fmt: skip
    assert {each.procedure.model.name for each in found} == {"scale", "total", "main"}
    assert found == tuple(sorted(found, key=lambda each: -each.weight))


def test_functions_in_which_the_profile_has_no_time_are_no_places() -> None:
    """The finding is about no function here; the profile has a line of `scale`, which its caller holds, and nothing of `total`."""
    parsed = program({"app.c": SOURCE})
    diagnosis = Diagnosis(Verdict.HOT_SPOT, "", (replace(finding("hot-compute", None), where=Place("work")),))
    profile = build(main(function("work", line("/build/app.c:6", time=1.0), at="/build/app.c:4")))
    assert {each.procedure.model.name for each in spots(parsed, diagnosis, profile)} == {"main", "scale"}
    assert {each.procedure.model.name for each in spots(parsed, diagnosis)} == {"main", "scale", "total"}
    no_lines = build(call("main", time=1.0))
    assert {each.procedure.model.name for each in spots(parsed, diagnosis, no_lines)} == {"main", "scale", "total"}


def test_of_a_hot_spot_the_compilers_flags_are_tried() -> None:
    found = Recipes().propose(problem(finding("hot-compute", "scale", None), verdict=Verdict.HOT_SPOT), ())
    assert "-O3 -g -march=native" in [each.flags for each in found]


def test_what_the_diagnosis_read_in_the_source_says_where_the_fault_is() -> None:
    parsed = program({"app.c": SOURCE})
    read = Fact("E1", Kind.SOURCE, "", 6.0, "line", "", where=Place("scale", "/build/app.c", 6), text="calls pow")
    hot = replace(finding("invariant-computation", "scale", 5), evidence=("E1",))
    (spot,) = (
        each
        for each in spots(parsed, Diagnosis(Verdict.BOTTLENECK, "", (hot,), (read,)))
        if each.procedure.model.name == "scale" and each.cause == hot.cause
    )
    assert spot.line == 6


@pytest.mark.parametrize(
    ("flags", "now", "wanted", "new"),
    [
        ("-O0 -g", "-O0", "-O2", "-O2 -g"),
        ("-g", "", "-O2", "-O2 -g"),
        ("-g -O1 -Wall", "-O1", "-O3", "-g -O3 -Wall"),
        ("-O1 -g -O2", "-O2", "-O3", "-O3 -g"),
        ("-DO2=1 -Og", "-Og", "-O2", "-DO2=1 -O2"),
        ("-g -O5", "-O5", "-O3", "-g -O3"),
    ],
)
def test_the_level_of_optimisation_is_read_and_replaced(flags: str, now: str, wanted: str, new: str) -> None:
    assert level(flags) == now
    assert with_level(flags, wanted) == new


def test_flags_go_as_far_as_there_is_something_left() -> None:
    def tried(flags: str, *, native: bool = True) -> list[str]:
        return [each for each, _, _ in other_flags(problem(flags=flags).project, may_round=True, native=native)]

    assert tried("-O0 -g") == ["-O2 -g", "-O3 -g -march=native"]
    assert tried("-O3 -march=native") == []
    assert tried("-O3") == ["-O3 -march=native"]
    assert tried("-O4 -g") == ["-O4 -g -march=native"]
    assert tried("-O2", native=False) == ["-O3"]
    assert list(other_flags(replace(problem().project, flags=None), may_round=True)) == []


def test_recipes_answer_causes_of_the_catalogue_and_have_names_of_their_own() -> None:
    known = {each.id for each in causes()}
    for one in recipes():
        assert set(one.causes) <= known, one.name
        assert 0 < one.promise <= 1
    assert len({one.name for one in recipes()}) == len(recipes())


def test_those_for_a_cause_and_a_language_are_found_without_loading_the_others() -> None:
    for cause in causes():
        for language in ("c", "c++", "cuda", "fortran"):
            expected = [one for one in recipes() if cause.id in one.causes and language in one.languages]
            assert list(answering(cause.id, language)) == expected
    code = "import sys; from chathpc.fix.recipes.table import answering; answering('omp-load-imbalance', 'c'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "chathpc.fix.recipes.threads.table" in loaded
    assert not {f"chathpc.fix.recipes.{each}.table" for each in ("mpi", "fortran")} & set(loaded)


def test_the_page_lists_every_recipe() -> None:
    page = to_markdown()
    for one in recipes():
        assert f"\n### {one.name}\n" in page
