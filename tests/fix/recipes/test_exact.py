"""The change that a report shows covers all places of its finding, or says that it does not."""

from __future__ import annotations

from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.fix.recipes.exact import exact_changes
from chathpc.report import ChangeRecord
from chathpc.reports import wording
from tests.diagnosis.parts import function, main, source
from tests.fix.recipes.test_proposer import finding
from tests.profile.build import build

POWERS = """#include <math.h>
void state(int n, const double *r, const double *t, double *p, double *q, double y) {
  for (int i = 0; i < n; i++) {
    p[i] = 0.01 * pow(r[i], 3.0) - 0.002 * pow(r[i], 1.5);
    q[i] = pow(t[i], 4.0)MORE;
  }
}
"""
REGIONS = """void scale(int n, double *x) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] *= 2.0;
}
void shift(int n, double *x) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] += 1.0;
}
"""


def proposed(text: str, cause: str, name: str, line: int) -> ChangeRecord:
    profile = build(main(function(name, at=f"/build/app.c:{line}")), read_source=source({"/build/app.c": text}))
    return exact_changes(profile, Diagnosis(Verdict.BOTTLENECK, "", (finding(cause, name, line),)))[0]


def test_all_calls_that_a_recipe_can_replace_are_in_one_change() -> None:
    change = proposed(POWERS.replace("MORE", ""), "expensive-math", "state", 5)
    added = [line for line in wording.diff(change.edits) if line.startswith("+")]
    assert not any("pow(" in line for line in added)
    assert wording.changed_at(change) == "app.c:5, 4"
    assert change.says == "Compute pow(t[i], 4.0) as (x * x) * (x * x); likewise 2 more"
    assert change.whole


def test_a_change_says_which_calls_it_leaves() -> None:
    change = proposed(POWERS.replace("MORE", " + pow(t[i], y)"), "expensive-math", "state", 5)
    assert change.says.endswith("; other calls of pow stay")
    assert not change.whole


def test_small_regions_are_changed_in_all_functions() -> None:
    change = proposed(REGIONS, "omp-fine-grained-regions", "scale", 2)
    assert sum(line.startswith("+") and "if(n >" in line for line in wording.diff(change.edits)) == 2
