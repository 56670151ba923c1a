"""The gates that judge what was measured: plausibility and cause; and what they look for in texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import chathpc
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Finding, Place
from chathpc.fix.agent.briefing import claimed
from chathpc.fix.gates import cause, plausibility
from chathpc.fix.gates.altered import mutants
from chathpc.fix.gates.inputs import known_answers
from chathpc.fix.gates.plausibility import Lost
from chathpc.fix.gates.races import new_races
from chathpc.fix.records import Speedup, Verdict
from chathpc.profile.profile import Profile
from tests.diagnosis.parts import main
from tests.profile.build import build


def finding(share: float = 0.5, error: float = 0.0, function: str = "slow") -> Finding:
    return Finding(
        "expensive-math", "Expensive", "", Place(function), 1.0, share, 1.0, None, 0.9, "", (), share_error=error
    )  # fmt: skip


def speedup(low: float) -> Speedup:
    return Speedup(low * 1.1, low, low * 1.2, 10)


def test_amdahls_bound_grows_with_the_error_of_the_share() -> None:
    assert plausibility.bound(finding(0.5)) == pytest.approx(2.0)
    assert plausibility.bound(finding(0.5, 0.05)) == pytest.approx(2.5)
    assert plausibility.bound(finding(1.0)) == 1000


def test_a_gain_above_the_bound_needs_an_explanation() -> None:
    whole = finding(0.5)
    assert plausibility.judge(speedup(1.9), whole, None, (), ()).passed
    assert plausibility.judge(speedup(4.0), whole, None, (), ()).verdict == Verdict.IMPLAUSIBLE
    lost = [Lost("slow", 5.0, 0.5), Lost("other", 2.0, 0.2)]
    refused = plausibility.judge(speedup(4.0), whole, lost, {"slow"}, {"slow", "other"})
    assert refused.verdict == Verdict.IMPLAUSIBLE
    assert "other (20% of the time)" in refused.statement
    assert plausibility.judge(speedup(4.0), whole, lost, {"slow", "other"}, {"slow", "other"}).passed
    assert plausibility.judge(speedup(4.0), whole, lost, {"slow"}, {"slow"}).passed
    # Comparisons say `other` of what a profile calls __field_MOD_other.
    assert plausibility.judge(speedup(4.0), whole, lost, {"slow", "__field_MOD_other"}, {"slow", "other"}).passed
    # Without a profile of the change all is lost; what no finding names, however little, was still to be done.
    everything = [Lost("slow", 5.0, 0.95), Lost("other", 0.3, 0.05)]
    without = plausibility.judge(speedup(500.0), whole, everything, {"slow"}, {"slow", "other"}, room=0.02)
    assert without.verdict == Verdict.IMPLAUSIBLE
    assert (
        "takes 20.0 ms at most over all threads, and work that no finding names took 300 ms: other" in without.statement
    )
    assert plausibility.judge(speedup(500.0), whole, everything, {"slow"}, {"slow", "other"}, room=0.4).passed
    assert plausibility.judge(speedup(500.0), whole, everything, {"slow"}, {"slow"}, room=0.02).passed
    assert plausibility.judge(speedup(4.0), None, None, (), ()).passed
    assert plausibility.judge(speedup(5000.0), None, None, (), (), flags_alone=True).passed


def test_functions_that_a_finding_names_are_its_own_and_what_only_it_calls(tmp_path: Path) -> None:
    stacks = ["main;slow;inner 40", "main;slow;shared 20", "main;other;shared 10", "main;other 5", "main;slow 25"]
    (tmp_path / "p.txt").write_text("\n".join(stacks) + "\n")
    profile = chathpc.load(tmp_path / "p.txt")
    found = replace(diagnose(profile), findings=(finding(function="slow"),))
    assert plausibility.named_functions(profile, found) == {"slow", "inner"}
    assert plausibility.named_functions(profile, replace(found, findings=()), ("ns::slow(int)", "main")) == {
        "slow",
        "inner",
    }
    # Everything is called from the main program.
    of_main = finding(function="main")
    assert plausibility.named_functions(profile, replace(found, findings=(of_main,))) == {"main"}
    # What was inlined on the way to a place in it tells more.
    inlined = replace(of_main, where=replace(of_main.where, path=("app", "main", "slow", "main")))
    assert plausibility.named_functions(profile, replace(found, findings=(inlined,))) == {"main", "slow", "inner"}


def test_functions_of_the_program_are_those_that_its_sources_define() -> None:
    sources = {
        "a.cpp": "namespace n { void Grid::step(int k) {} }\nint lone(void);\n",
        "b.f90": "subroutine Sweep()\nend\n",
    }
    names = ["n::Grid::step(int)", "step.constprop.0", "lone", "sweep", "memcpy"]
    assert plausibility.own_functions(names, sources) == {"n::Grid::step(int)", "step.constprop.0", "sweep"}


def compared(folder: Path, before: dict[str, int], after: dict[str, int]):  # type: ignore[no-untyped-def]
    paths = []
    for name, stacks in (("before", before), ("after", after)):
        path = folder / f"{name}.txt"
        path.write_text("".join(f"{stack} {count}\n" for stack, count in stacks.items()))
        paths.append(path)
    return chathpc.diff(*paths), diagnose(chathpc.load(paths[0])).findings[0]


BEFORE = {"main;slow;pow": 4000, "main;slow": 500, "main;other": 500}


def test_what_was_diagnosed_has_to_go_down(tmp_path: Path) -> None:
    diff, found = compared(tmp_path, BEFORE, {"main;slow": 600, "main;other": 500})
    passed = cause.judge(diff, found)
    assert passed.passed, passed.statement
    assert [(each.function, round(each.share, 1)) for each in cause.lost(diff)] == [("pow", 0.8)]


def test_a_hot_spot_has_no_cause_that_could_be_gone(tmp_path: Path) -> None:
    """A tenth less in the place, beyond noise, is enough for it; of a cause more than that has to go."""
    diff, found = compared(tmp_path, {"main;slow": 9000, "main;other": 1000}, {"main;slow": 8000, "main;other": 1000})
    assert cause.judge(diff, replace(found, cause="hot-compute", share=0.9, where=Place(function="slow"))).passed
    named = replace(found, cause="expensive-math", share=0.9, where=Place(function="slow"))
    assert "the diagnosed problem remains" in cause.judge(diff, named).statement


def test_a_gain_that_one_profile_cannot_tell_from_noise_passes_if_what_was_diagnosed_went_down(tmp_path: Path) -> None:
    """The whole went down by 3 %, within what two profiles of 5,000 samples differ by; the place by more than half."""
    before = {"main;slow": 300, "main;other": 4700}
    diff, found = compared(tmp_path, before, {"main;slow": 100, "main;other": 4750})
    assert diff.total is not None
    assert not diff.total.beyond_noise
    finding = replace(found, cause="hot-compute", share=0.06, where=Place(function="slow"))
    passed = cause.judge(diff, finding)
    assert passed.passed, passed.statement
    diff, _ = compared(tmp_path, before, {"main;slow": 295, "main;other": 4650})
    assert "the diagnosed problem remains" in cause.judge(diff, finding).statement


def test_what_a_caller_took_over_from_its_callees_has_not_grown(tmp_path: Path) -> None:
    """Inlined, or computed once before the loop: main does more by itself, and less with all that it calls."""
    before = {**BEFORE, "main": 100}
    diff, found = compared(tmp_path, before, {"main;slow": 100, "main": 900, "main;other": 500})
    passed = cause.judge(diff, found)
    assert passed.passed, passed.statement
    diff, found = compared(tmp_path, before, {"main;slow": 100, "main": 100, "main;other": 500, "main;other;new": 900})
    refused = cause.judge(diff, found)
    assert refused.verdict == Verdict.CAUSE_UNMOVED
    assert "more than before" in refused.statement


def test_what_another_thread_calls_now_has_not_grown(tmp_path: Path) -> None:
    """The same work under another entry point: threads that shared it unevenly share it evenly now."""
    before = {"app;main;region;work": 50, "app;main;region;wait": 4000, "app;clone;region;work": 4000}
    after = {"app;main;region;work": 2030, "app;main;region;wait": 20, "app;clone;region;work": 2030}
    diff, _ = compared(tmp_path, before, after)
    passed = cause.judge(diff, None)
    assert passed.passed, passed.statement


def test_how_long_mpi_takes_to_start_is_not_laid_at_a_changes_door(tmp_path: Path) -> None:
    start = "main;MPI_Init [libmpi.so.40];PMPI_Init [libmpi.so.40]"
    before = {**BEFORE, start: 500}
    diff, found = compared(tmp_path, before, {"main;slow": 600, "main;other": 500, start: 2000})
    assert any(row.name == "starting and ending MPI" and row.change == 1500 for row in diff.functions)
    passed = cause.judge(diff, found)
    assert passed.passed, passed.statement
    other = "main;MPI_Send [libmpi.so.40];PMPI_Send [libmpi.so.40]"
    diff, found = compared(tmp_path, {**BEFORE, other: 500}, {"main;slow": 600, "main;other": 500, other: 2000})
    assert "more than before" in cause.judge(diff, found).statement


def test_one_call_of_a_library_in_the_place_of_another_has_not_grown(tmp_path: Path) -> None:
    """MPI took 3,000 in single messages and takes 1,500 in all now, in a call that was not there before."""
    one, other = (f"main;{name} [libmpi.so.40];P{name} [libmpi.so.40]" for name in ("MPI_Recv", "MPI_Waitall"))
    before = {**BEFORE, one: 3000}
    diff, found = compared(tmp_path, before, {"main;slow": 600, "main;other": 500, other: 1500})
    assert any(row.name == "MPI_Waitall" and row.change == 1500 for row in diff.functions)
    passed = cause.judge(diff, found, {"MPI_Recv", "MPI_Waitall"})
    assert passed.passed, passed.statement
    diff, found = compared(tmp_path, before, {"main;slow": 600, "main;other": 500, other: 4500})
    assert (
        "with the growth of MPI_Waitall it is up to" in cause.judge(diff, found, {"MPI_Recv", "MPI_Waitall"}).statement
    )


def test_a_function_of_a_library_is_claimed_by_any_of_its_names(tmp_path: Path) -> None:
    below = "main;other;__memset_avx2_unaligned_erms [libc.so.6]"
    diff, _ = compared(tmp_path, {**BEFORE, below: 3000}, BEFORE)
    profile = chathpc.load(tmp_path / "before.txt")
    found = claimed(profile, diagnose(profile), "__memset_avx2_unaligned_erms [libc.so.6]")
    passed = cause.judge(diff, found)
    assert found.title.startswith("Time in __memset"), found
    assert passed.passed, passed.statement


def test_what_is_named_inside_of_mpi_is_judged_by_all_of_mpi(tmp_path: Path) -> None:
    before = {
        "main;accept;pmpi_recv_;mca_pml_ob1_recv;opal_progress": 900,
        "main;fire;pmpi_recv_": 800,
        "main;step": 800,
    }
    faster = {"main;accept;pmpi_recv_;opal_progress": 50, "main;fire;pmpi_recv_": 50, "main;step": 800}
    compute = {**before, "main;step": 100}
    for name in ("mca_pml_ob1_recv", "opal_progress"):
        passed = cause.judge(compared(tmp_path, before, faster)[0], finding(0.5, function=name))
        assert passed.passed, passed.statement
        assert f"The time in {name} went from" in passed.statement
        assert not cause.judge(compared(tmp_path, before, compute)[0], finding(0.5, function=name)).passed


def test_what_is_called_from_the_place_alone_is_part_of_its_time(tmp_path: Path) -> None:
    """A copy in `slow` had brought the data of `reader` into the cache."""
    before = {**BEFORE, "main;slow;reader": 500}
    diff, found = compared(tmp_path, before, {"main;slow": 600, "main;slow;reader": 1100, "main;other": 500})
    assert "reader takes 600" in cause.judge(diff, found).statement
    passed = cause.judge(diff, found, (), {"reader"})
    assert passed.passed, passed.statement
    profile = chathpc.load(tmp_path / "before.txt")
    assert plausibility.only_below(profile, ("slow",)) == {"slow", "reader", "pow"}


def test_that_the_system_ran_other_things_is_not_laid_at_a_changes_door(tmp_path: Path) -> None:
    off = "main;other;<blocked>"
    diff, found = compared(tmp_path, {**BEFORE, off: 500}, {"main;slow": 600, "main;other": 500, off: 2000})
    assert any(row.name == "<blocked>" and row.change == 1500 for row in diff.functions)
    passed = cause.judge(diff, found)
    assert passed.passed, passed.statement


def test_functions_that_a_change_introduced_count_with_the_place_that_they_replace(tmp_path: Path) -> None:
    replaced = {"main;slow": 500, "main;slow;slow_known": 2300, "main;other": 500}
    diff, found = compared(tmp_path, BEFORE, replaced)
    assert "more than before" in cause.judge(diff, found).statement
    passed = cause.judge(diff, found, {"slow_known"})
    assert passed.passed, passed.statement
    # Called from elsewhere, the work has only got another name, whoever introduced it.
    diff, found = compared(tmp_path, BEFORE, {"main;slow": 100, "main;slow_known": 4050, "main;other": 500})
    refused = cause.judge(diff, found, {"slow_known"})
    assert refused.verdict == Verdict.CAUSE_UNMOVED
    assert "slow_known" in refused.statement
    assert "the diagnosed problem remains" in refused.statement
    # What the program defined before is no successor; what a library did before may do more, if the place has less with that.
    diff, found = compared(tmp_path, BEFORE, {"main;slow": 500, "main;other": 2800})
    assert "more than before" in cause.judge(diff, found).statement
    assert cause.judge(diff, found, {"other"}).passed
    diff, found = compared(tmp_path, BEFORE, {"main;slow": 100, "main;other": 4600})
    assert "the diagnosed problem remains" in cause.judge(diff, found, {"other"}).statement


@pytest.mark.parametrize(
    ("after", "says"),
    [
        ({"main;slow;pow": 4000, "main;slow": 500}, "the diagnosed problem remains"),
        ({"main;slow;pow": 4010, "main;slow": 500, "main;other": 495}, "is not shorter"),
        ({"main;slow;pow": 4500, "main;slow": 500, "main;other": 500}, "is not shorter"),
        ({"main;slow": 500, "main;other": 500, "main;moved": 2500}, "more than before"),
    ],
)
def test_anything_else_leaves_the_cause_unmoved(tmp_path: Path, after: dict[str, int], says: str) -> None:
    diff, found = compared(tmp_path, BEFORE, after)
    refused = cause.judge(diff, found)
    assert refused.verdict == Verdict.CAUSE_UNMOVED
    assert says in refused.statement


def test_what_takes_more_in_one_of_two_comparisons_only_is_noise(tmp_path: Path) -> None:
    """Each time something else that the change has nothing to do with: how libraries start, where the machine was busy."""
    first, found = compared(tmp_path, BEFORE, {"main;slow": 600, "main;other": 500, "main;start;scan": 1500})
    again, _ = compared(tmp_path, BEFORE, {"main;slow": 600, "main;other": 500, "main;start;print": 1500})
    assert "more than before" in cause.judge(again, found).statement
    passed = cause.judge(again, found, (), earlier=first)
    assert passed.passed, passed.statement
    # What was moved elsewhere takes more each time.
    refused = cause.judge(first, found, (), earlier=first)
    assert refused.verdict == Verdict.CAUSE_UNMOVED
    assert "scan takes" in refused.statement
    # What was diagnosed has to go down in one of them.
    still, _ = compared(tmp_path, BEFORE, {"main;slow;pow": 3990, "main;slow": 500, "main;print": 300})
    other, _ = compared(tmp_path, BEFORE, {"main;slow;pow": 3990, "main;slow": 500, "main;scan": 300})
    assert "the diagnosed problem remains" in cause.judge(still, found, (), earlier=other).statement


def test_what_takes_more_than_before_takes_more_than_either_measured_before(tmp_path: Path) -> None:
    """The machine was slower for the second profile before the change than for the first after it."""
    first, found = compared(
        tmp_path, {**BEFORE, "main;wide": 1000}, {"main;slow": 600, "main;other": 500, "main;wide": 1600}
    )
    again, _ = compared(
        tmp_path, {**BEFORE, "main;wide": 1500}, {"main;slow": 600, "main;other": 500, "main;wide": 2200}
    )
    assert "wide takes" in cause.judge(first, found).statement
    assert "wide takes" in cause.judge(again, found).statement
    passed = cause.judge(again, found, (), earlier=first)
    assert passed.passed, passed.statement
    apart, _ = compared(
        tmp_path, {**BEFORE, "main;wide": 1050}, {"main;slow": 600, "main;other": 500, "main;wide": 2200}
    )
    assert "wide takes" in cause.judge(apart, found, (), earlier=first).statement


def test_all_time_is_gone_from_a_program_that_is_too_short_to_be_profiled() -> None:
    gone = cause.vanished(before=2.0, cost=1.8, after=0.01)
    assert gone is not None
    assert gone.passed
    assert "too briefly to be profiled: 10.0 ms" in gone.statement
    # Neither a program that still takes a while, nor a finding that is hardly larger than what is left.
    assert cause.vanished(before=2.0, cost=1.8, after=0.3) is None
    assert cause.vanished(before=2.0, cost=0.012, after=0.01) is None


def test_a_change_without_finding_has_to_shorten_the_run(tmp_path: Path) -> None:
    diff, _ = compared(tmp_path, BEFORE, {"main;slow;pow": 400, "main;slow": 50, "main;other": 50})
    assert cause.judge(diff, None).passed


def took(metric: str, busy: float, seconds: float) -> Profile:
    return replace(build(main(values={metric: busy})), timed=True, run={"seconds": str(seconds)})


@pytest.mark.parametrize(
    ("metric", "before", "after", "passes"),
    [
        ("cpu.time.wall", (4.0, 4.0), (3.0, 3.0), True),
        ("cpu.time.wall", (4.0, 4.0), (3.0, 6.0), True),  # other programs held it up: its threads had no core for 3 s
        ("cpu.time.wall", (3.0, 4.0), (4.0, 5.0), False),
        ("gpu.time", (2.0, 4.0), (1.0, 5.0), True),  # the rest of a trace is no work of the devices
        ("gpu.time", (1.0, 5.0), (2.0, 4.0), False),
    ],
)
def test_a_run_is_shorter_whatever_held_it_up(
    metric: str, before: tuple[float, float], after: tuple[float, float], passes: bool
) -> None:
    diff = chathpc.diff(took(metric, *before), took(metric, *after))
    assert diff.elapsed is not None
    assert cause.judge(diff, None).passed == passes


def test_numbers_and_words_that_are_answers_are_found() -> None:
    outputs = [b"checksum 5.83208033e+09\nhash 22fe580efd3a6cec\nn 100\n", b"2047\n2048\n2049\n"]
    original = {"a.c": "int f(void) { return 100; }"}
    for text, found in (
        ("double g = 5.83208033e9;", ["5.83208033e9"]),
        ("double g = 583208033e1;", ["583208033e1"]),
        ("double g = 0x1.5b9d1c0a8p+32;", []),
        ("unsigned long g = 0x22fe580efd3a6cecUL;", ["0x22fe580efd3a6cecUL"]),
        ('const char *g = "5.83208033e+09";', ['"5.83208033e+09"']),
        ("int g = 100;", []),
        ("double g = 5.9e9;", []),
        ("enum { LINES = 2048 }; int k = 2049;", ["2049"]),
    ):
        assert known_answers(original, {"a.c": f"{original['a.c']} {text}"}, outputs) == found, text
    assert known_answers({"a.c": "double g = 5.83208033e9;"}, {"a.c": "double g = 5.83208033e9; int x;"}, outputs) == []


def test_mutants_alter_one_constant_of_shared_lines_on_both_sides() -> None:
    original = {"a.c": 'double a = 0.125;\ndouble b = 3.5; // 9.25\nint n = 1000;\nchar *s = "7.5";\ndouble t[500];\n'}
    changed = {"a.c": f"/* new */\n{original['a.c'].replace('3.5', '3.5 + 0')}"}
    found = list(mutants(original, changed, np.random.default_rng(1)))
    assert len(found) == 2
    for mutant in found:
        mine, theirs = (texts["a.c"].split("\n") for texts in (mutant.original, mutant.changed))
        away = [(x, y) for x, y in zip(original["a.c"].split("\n"), mine, strict=True) if x != y]
        assert len(away) == 1
        assert away[0][1] in theirs
        assert away[0][1].startswith(("double a = 0.1", "int n ="))
        assert mutant.everywhere is None


def test_a_constant_that_a_change_repeats_in_lines_of_its_own_is_altered_there_too() -> None:
    original = {"a.c": "double a = 0.125 * x;\n"}
    changed = {"a.c": original["a.c"] + "double b = 0.125 * y + 10.125;\n"}
    (mutant,) = mutants(original, changed, np.random.default_rng(1))
    number = mutant.statement.rpartition(" ")[2]
    assert mutant.changed["a.c"] == changed["a.c"].replace("0.125", number, 1)
    assert mutant.everywhere == {"a.c": f"double a = {number} * x;\ndouble b = {number} * y + 10.125;\n"}


#: Four places at a time, kept in an array of each iteration's own.
_GATHERED = """#pragma omp parallel for
for (int i = 0; i < n; i += 4) {
int r[4];
for (int l = 0; l < 4; l++) r[l] = ?;
for (int l = 0; l < 4; l++) a[r[l]] += b[i];
}"""


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) s += a[i];", True),
        ("#pragma omp parallel for reduction(+ : s)\nfor (int i = 0; i < n; i++) s += a[i];", False),
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = 2 * a[i];", False),
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[0] += b[i];", True),
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[k[i]] += b[i];", True),
        (_GATHERED.replace("?", "i + l"), False),
        (_GATHERED.replace("?", "k[i + l]"), True),
        (_GATHERED.replace("?", "l"), True),
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) {\n#pragma omp atomic\na[k[i]] += b[i];\n}", False),
        ("#pragma omp parallel for reduction(+ : a[:64])\nfor (int i = 0; i < n; i++) a[k[i]] += b[i];", False),
        (
            "#pragma omp parallel for reduction(+ : a[0:n], t)\nfor (int i = 0; i < n; i++) { a[k[i]] += b[i]; t += b[i]; }",
            False,
        ),
        ("#pragma omp parallel for reduction(+ : b[:64])\nfor (int i = 0; i < n; i++) a[k[i]] += b[i];", True),
        ("#pragma omp parallel for private(t)\nfor (int i = 0; i < n; i++) { t = b[i]; a[i] = t; }", False),
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) { t = b[i]; a[i] = t; }", True),
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) { double u = b[i]; a[i] = u; }", False),
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) for (j = 0; j < 9; j++) a[i] += b[j];", True),
        ("#pragma omp parallel\n{\nfor (int i = 0; i < n; i++)\na[i] += b[i];\n}", True),
        ("#pragma omp parallel\n{\n#pragma omp for\nfor (int i = 0; i < n; i++)\na[i] += b[i];\n}", False),
        ("#pragma omp parallel\n{\n#pragma omp critical\nfor (int i = 0; i < n; i++)\na[i] += b[i];\n}", False),
        (
            "#pragma omp parallel\n{\nint t = omp_get_thread_num();\nint l = t * 9;\nfor (int i = l; i < l + 9; i++)\na[i] += b[i];\n}",
            False,
        ),
        ("#pragma omp parallel\n{\nif (omp_get_thread_num() == 0) {\na[0] = 1;\n}\n}", False),
    ],
)
def test_writes_that_threads_share_are_read(loop: str, told: bool) -> None:
    text = f"double f(int n, double *a, const double *b, const int *k) {{\ndouble s = 0, t; int j;\n{loop}\nreturn s;\n}}\n"
    assert bool(new_races({"a.c": "int x;"}, {"a.c": text})) is told
    assert new_races({"a.c": text}, {"a.c": text}) == []


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("static _Thread_local struct S own;", False),
        ("thread_local S own{};", False),
        ("static __thread long own[64];", False),
        ("static S own;\n#pragma omp threadprivate(other, own)", False),
        ("static S own;\n#pragma omp threadprivate(other)", True),
        ("static _Thread_local int other; static S own;", True),
        ("static S own; // thread_local S own;", True),
        ("static S own; /*\n#pragma omp threadprivate(own)\n*/", True),
    ],
)
@pytest.mark.parametrize("target", ["own.count[b]", "own[b]"])
def test_globals_that_each_thread_has_for_itself_are_not_shared(declared: str, told: bool, target: str) -> None:
    text = f"""{declared}
void f(int n, const int *k) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{ int b = k[i]; {target}++; }}
}}
"""
    assert bool(new_races({"a.c": "int x;"}, {"a.c": text})) is told


@pytest.mark.parametrize("own", [True, False])
def test_variables_of_a_fortran_block_are_the_threads_own(own: bool) -> None:
    block = ("block\ninteger :: s\n", "end block\n") if own else ("", "")
    text = (
        "subroutine f(n, c)\nuse omp_lib\ninteger, intent(in) :: n\ninteger, intent(inout) :: c(0:63)\n"
        + ("" if own else "integer :: s\n")
        + f"integer :: i\n!$omp parallel\n{block[0]}s = 0\n!$omp do\ndo i = 1, n\ns = s + i\nend do\n!$omp end do\n"
        + f"c(omp_get_thread_num()) = s\n{block[1]}!$omp end parallel\nend subroutine\n"
    )
    assert bool(new_races({"a.f90": "end"}, {"a.f90": text})) is not own


@pytest.mark.parametrize(
    "private", ["row, &\n!$OMP   twice", "row, &\n!$omp& twice", "row, twice", "row, &\n!$omp & ! both\n!$omp & twice"]
)
def test_a_directive_of_fortran_goes_on_in_further_lines(private: str) -> None:
    source = f"""subroutine s(n, a, b)
  integer :: n, i, j
  real(8) :: a(n,n), b(n,n), row, twice
!$OMP PARALLEL DO PRIVATE(i, {private})
  do j = 1, n
    do i = 1, n
      row = a(i,j)
      twice = row * 2
      b(i,j) = twice
    end do
  end do
end subroutine
"""
    assert new_races({}, {"s.f90": source}) == []
    told = new_races({}, {"s.f90": source.replace("twice)", "other)")})
    assert len(told) == 1
    assert "all threads of the loop write to twice" in told[0]
