"""The loop from end to end on a program that takes milliseconds."""

from __future__ import annotations

import json
import math
import re
import statistics
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.records import Diagnosis
from chathpc.diagnosis.records import Verdict as Health
from chathpc.errors import ChathpcError, MeasurementError, UsageError
from chathpc.fix import rounds
from chathpc.fix.ledger import read
from chathpc.fix.loop import Budget, Outcome, fix
from chathpc.fix.outcome import Baseline
from chathpc.fix.project import Check, Flags, Project, Run
from chathpc.fix.records import Attempt, Candidate, Problem, Speedup, Verdict
from chathpc.fix.result import exit_code, report
from chathpc.fix.rounds import time_for_another
from chathpc.fix.runner import Built, Runner
from chathpc.fix.workspace import tree_hash
from chathpc.profile.profile import Profile
from chathpc.reports import fix_renderers
from chathpc.reports.style import Style
from tests.fix.parts import Scripted, Unguarded, candidate
from tests.fix.shell_project import FAST, SLOW, WRONG, profiler, project, session


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("loop")


@pytest.fixture(scope="module")
def outcome(folder: Path):  # type: ignore[no-untyped-def]
    before = tree_hash(project(folder).root)
    found = session(folder)
    assert tree_hash(found.project.root) == before
    return found


def test_the_right_change_is_accepted_and_no_other(outcome) -> None:  # type: ignore[no-untyped-def]
    assert [(each.candidate.title, each.verdict) for each in outcome.attempts] == [
        ("wrong", Verdict.WRONG_ANSWER),
        ("judge", Verdict.OUT_OF_SCOPE),
        ("right", Verdict.ACCEPTED),
    ]
    assert [gate.gate for gate in outcome.accepted[0].gates] == [
        "scope", "build", "correctness", "effects", "speed", "plausibility", "cause",
    ]  # fmt: skip
    assert 1.2 < outcome.speedup.low <= outcome.speedup.estimate <= 2.1
    assert exit_code(outcome) == 0


@pytest.mark.parametrize(("high", "alone"), [(1.2, False), (99.0, True), (math.inf, None)])
def test_flags_would_have_done_as_much_only_where_their_gain_is_known(outcome, high: float, alone: bool | None) -> None:  # type: ignore[no-untyped-def]
    flags = Baseline("-O3", "inconclusive", Speedup(1.1, 0.0, high, 3), "")
    assert report(replace(outcome, baselines=(flags,))).compiler_alone is alone


def test_a_change_that_was_refused_before_it_passed_is_told_as_both(outcome) -> None:  # type: ignore[no-untyped-def]
    whole = report(outcome)
    (taken,) = whole.taken
    refused = taken.gates[-1].model_copy(update={"passed": False, "statement": "It was noise."})
    gates = [*taken.gates[:-1], refused]
    first = taken.model_copy(update={"verdict": "cause-unmoved", "reason": refused.statement, "gates": gates})
    again = whole.model_copy(update={"attempts": [first, *whole.attempts]})
    assert again.taken == [taken]
    assert again.not_taken == [first, *whole.not_taken]
    shown = fix_renderers()["text"](again, Style(width=80))
    assert shown.index("Moved") < shown.index("Tried and not taken") < shown.index("It was noise.")


def test_each_profile_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chathpc.adapters.load import load

    read_paths: list[Path] = []

    def counted(path: Path) -> Profile:
        read_paths.append(path)
        return load(path)

    monkeypatch.setattr("chathpc.adapters.load.load", counted)
    found = session(tmp_path)
    assert report(found).tree_after is not None
    assert len(found.accepted) == 1
    assert len(read_paths) == len(set(read_paths)) == 2


class Halving:
    """Sleeps half as long in each round."""

    name = "halving"

    learns = False

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterator[Candidate]:
        text = problem.sources["work.txt"]
        seconds = float(re.findall(r"sleep ([\d.]+)", text)[0])
        shorter = {"work.txt": text.replace(f"sleep {seconds:g}", f"sleep {seconds / 2:g}")}
        yield Candidate(
            f"{seconds / 2:g}", self.name, f"half of {seconds:g}", shorter, None, problem.diagnosis.findings[0]
        )


def test_a_session_that_is_ended_early_tells_what_it_has_and_goes_on(tmp_path: Path) -> None:
    class Interrupted(Halving):
        def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterator[Candidate]:
            if history:
                raise KeyboardInterrupt
            yield from super().propose(problem, history)

    def run(proposer: Halving) -> Outcome:
        return fix(
            project(tmp_path), [proposer], sandbox=Unguarded(), profiler=profiler, budget=Budget(rounds=2, timing=5), work=tmp_path / "work"
        )  # fmt: skip

    ended = run(Interrupted())
    assert [each.candidate.title for each in ended.accepted] == ["half of 0.06"]
    assert ended.interrupted
    assert not ended.complete
    assert exit_code(ended) == 0
    assert any("Stopped early" in remark for remark in ended.remarks)
    on = run(Halving())
    assert [each.candidate.title for each in on.accepted][:1] == ["half of 0.06"]
    assert on.complete


def test_changes_that_build_on_each_other_are_timed_together_and_beside_the_compilers_flags(tmp_path: Path) -> None:
    flagged = replace(project(tmp_path), flags=Flags("CFLAGS", "-g -O1"))
    (flagged.root / "work.txt").write_text(SLOW.replace("0.06", "0.12"))

    def session() -> Outcome:
        return fix(
            flagged, [Halving()], sandbox=Unguarded(), profiler=profiler, budget=Budget(rounds=2, timing=6), work=tmp_path / "work"
        )  # fmt: skip

    found = session()
    assert [each.candidate.title for each in found.accepted] == ["half of 0.12", "half of 0.06"]
    alone = [each.speedup.estimate for each in found.accepted if each.speedup is not None]
    assert found.speedup is not None
    assert found.speedup.estimate == pytest.approx(alone[0] * alone[1], rel=0.35)
    assert found.last.key != found.first.key
    (baseline,) = found.baselines
    assert baseline.flags == "-g -O3 -march=native"
    assert baseline.speedup is not None
    # A script does not heed the flags: they gain nothing, and the change gains the same with them.
    assert baseline.speedup.estimate == pytest.approx(1.0, abs=0.35)
    assert baseline.changed is not None
    assert baseline.changed.estimate == pytest.approx(found.speedup.estimate, rel=0.35)
    # What was timed once is in the ledger.
    again = session()
    assert (again.speedup, again.baselines) == (found.speedup, found.baselines)


def test_the_times_that_are_told_were_measured(outcome) -> None:  # type: ignore[no-untyped-def]
    (gate,) = (each for each in outcome.accepted[0].gates if each.gate == "speed")
    found = report(outcome)
    assert found.seconds_before == statistics.median(gate.figures["seconds_original"])
    assert found.seconds_after == statistics.median(gate.figures["seconds_changed"])


def test_trees_that_hold_less_than_a_run_takes_say_so() -> None:
    from chathpc.fix.result import _unseen
    from chathpc.report import TreeRecord

    tree = TreeRecord(metric="cpu.time", unit="s", total=2.28, rows=[])
    (said,) = _unseen(tree, 8.96)
    assert said.startswith("The call trees hold 2.28 s of the 8.96 s that a run takes")
    assert not _unseen(tree, 2.4)
    assert not _unseen(tree.model_copy(update={"unit": "1"}), 8.96)


def test_the_patch_makes_the_change(outcome, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "work.txt").write_text(SLOW)
    (tmp_path / "patch").write_text(report(outcome).patch)
    subprocess.run(["patch", "-p1", "-i", "patch"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "work.txt").read_text() == FAST


def test_a_second_session_finds_all_done_and_runs_nothing(outcome, folder: Path) -> None:  # type: ignore[no-untyped-def]
    sandbox = Unguarded()
    again = session(folder, sandbox=sandbox)
    assert sandbox.requests == []
    assert [each.verdict for each in again.attempts] == [each.verdict for each in outcome.attempts]
    assert again.speedup == outcome.speedup
    assert again.last.files == outcome.last.files


def test_the_ledger_has_each_gate_once_and_what_was_predicted_and_realised(outcome) -> None:  # type: ignore[no-untyped-def]
    events, dropped, _ = read(outcome.work / "ledger.jsonl")
    assert dropped == 0
    done = Counter((event.data["key"], event.data["gate"]) for event in events if event.event == "gate")
    assert set(done.values()) == {1}
    verdicts = [event.data for event in events if event.event == "verdict"]
    accepted = next(each for each in verdicts if each["verdict"] == "accepted")
    assert accepted["predicted"] is None, "no bound is known for a hot spot"
    assert accepted["realised"][0] == pytest.approx(outcome.speedup.estimate)


def test_every_renderer_tells_the_result_and_what_became_of_the_others(outcome) -> None:  # type: ignore[no-untyped-def]
    found = report(outcome)
    for name, render in fix_renderers().items():
        text = render(found, Style(width=90))
        assert "wrong" in text
        assert "1.6" in text, name
    assert json.loads(fix_renderers()["json"](found, Style()))["verdict"] == "improved"
    assert "IMPROVED" in fix_renderers()["text"](found, Style())


def test_a_changed_tree_or_project_is_not_gone_on_with(tmp_path: Path) -> None:
    session(tmp_path, budget=Budget(rounds=1, timing=1, candidates=1))
    (project(tmp_path).root / "new.txt").write_text("x")
    with pytest.raises(ChathpcError, match="have changed since"):
        session(tmp_path)
    shorter = replace(project(tmp_path), run=Run("run", "./app 10"))
    with pytest.raises(UsageError, match="started with a different chathpc"):
        fix(shorter, [], sandbox=Unguarded(), profiler=profiler, work=tmp_path / "prog.chathpc-fix")
    assert session(tmp_path, fresh=True, budget=Budget(rounds=1, timing=1, candidates=1)).attempts


def test_a_project_that_was_corrected_before_anything_was_measured_begins_anew(tmp_path: Path) -> None:
    with pytest.raises(ChathpcError, match="does not build"):
        fix(broken(tmp_path, build="exit 3"), [], sandbox=Unguarded(), profiler=profiler)
    assert session(tmp_path, budget=Budget(rounds=1, timing=1, candidates=1)).attempts


def test_products_of_the_users_own_build_do_not_end_the_work(tmp_path: Path) -> None:
    session(tmp_path, budget=Budget(rounds=1, timing=1, candidates=1))
    (project(tmp_path).root / "app").write_text("made by the user's own build")
    session(tmp_path, budget=Budget(rounds=1, timing=1, candidates=1))
    (project(tmp_path).root / "work.txt").write_text(FAST)
    with pytest.raises(ChathpcError, match=r"since the work started: work\.txt\."):
        session(tmp_path)


@pytest.mark.parametrize(("build", "verdict"), [
    # Only a build that says which file it writes makes it where it is missing.
    ("cp work.txt app && chmod +x app && (cmp -s work.txt old.mod || cp work.txt old.mod)", Verdict.ACCEPTED),
    ("cp work.txt app && chmod +x app && test -e old.mod && cp work.txt old.mod", Verdict.CHEATED),
])  # fmt: skip
def test_a_product_of_an_earlier_build_may_change(tmp_path: Path, build: str, verdict: Verdict) -> None:
    made = replace(project(tmp_path), build=build)
    (made.root / "old.mod").write_text(SLOW)
    found = fix(
        made, [Scripted([candidate("right", {"work.txt": FAST})])], sandbox=Unguarded(), profiler=profiler,
        budget=Budget(rounds=1, timing=5), baselines=False,
    )  # fmt: skip
    assert [
        (each.verdict, each.gates[-1].statement if verdict == Verdict.CHEATED else "") for each in found.attempts
    ] == [(verdict, "Building it changes old.mod." if verdict == Verdict.CHEATED else "")]


def test_limits_end_the_work_and_keep_what_is_done(tmp_path: Path) -> None:
    found = session(tmp_path, budget=Budget(rounds=1, timing=1, candidates=1))
    assert not found.complete
    assert exit_code(found) == 5
    assert report(found).verdict == "unfinished"
    assert exit_code(session(tmp_path, budget=Budget(rounds=1, timing=5))) == 0


def test_of_a_session_that_was_stopped_what_passed_is_told_and_the_same_command_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [candidate("right", {"work.txt": FAST})]

    def stopped(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rounds, "_best", stopped)
        found = report(session(tmp_path, changes, budget=Budget(rounds=1, timing=5)))
    assert (found.verdict, found.accepted, found.attempts[0].verdict) == ("unfinished", [], "accepted")
    assert "none passed" not in found.headline
    assert "the same command takes it: right" in found.headline
    text = " ".join(fix_renderers()["text"](found, Style()).split())
    assert "no more than the change that was taken" not in text
    assert text.count("the same command takes it") == 2
    again = report(session(tmp_path, changes, budget=Budget(rounds=1, timing=5)))
    assert (again.verdict, again.accepted) == ("improved", [found.attempts[0].id])


def test_a_change_that_is_being_tried_ends_at_the_time_limit_and_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [candidate("right", {"work.txt": FAST})]
    monkeypatch.setattr(rounds, "time_for_another", lambda *given, **more: True)
    found = session(tmp_path, changes, budget=Budget(rounds=1, timing=60, seconds=1.0))
    assert (found.complete, found.attempts, exit_code(found)) == (False, (), 5)
    assert any("limit of 1 s was reached while this was tried: right" in remark for remark in found.remarks)
    resumed = session(tmp_path, changes, budget=Budget(rounds=1, timing=5))
    assert [each.verdict for each in resumed.attempts] == [Verdict.ACCEPTED]


@pytest.mark.parametrize(
    ("other", "taken"),
    [
        ((4.93, 4.37, 5.52), "-O2"),
        ((4.93, 4.37, 4.95), "-O3 -march=native"),  # what the best gives lies above its interval
        ((4.60, 4.37, 5.52), "-O3 -march=native"),
    ],
)
def test_of_flags_that_gain_alike_the_fewest_are_taken(other: tuple[float, float, float], taken: str) -> None:
    def passed(flags: str, *speedup: float) -> tuple[Attempt, str]:
        return Attempt(candidate(flags, {}, flags), Verdict.ACCEPTED, (), Speedup(*speedup, 7)), flags

    best = rounds._best([passed("-O3 -march=native", 5.00, 4.67, 5.77), passed("-O2", *other)])
    assert best is not None
    assert best[1] == taken


@pytest.mark.parametrize(
    ("taken", "longest", "accepted", "fits"),
    [
        (299.0, 0.0, False, True),  # nothing is known yet of how long one takes
        (301.0, 0.0, False, False),
        (240.0, 60.0, False, True),
        (240.0, 60.1, False, False),
        (240.0, 60.0, True, False),  # the end of the session would come after the limit
        (180.0, 60.0, True, True),
    ],
)
def test_no_change_is_begun_that_would_end_after_the_time_limit(
    taken: float, longest: float, accepted: bool, fits: bool
) -> None:
    assert time_for_another(300.0, taken, longest, accepted=accepted) is fits


def test_the_longest_candidate_counts_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [candidate(text, {"work.txt": SLOW.replace("0.06", text)}) for text in ("0.03", "0.031")]
    asked: list[tuple[float, bool]] = []

    def never_twice(limit: float, taken: float, longest: float, *, accepted: bool) -> bool:
        asked.append((longest, accepted))
        return len(asked) == 1

    monkeypatch.setattr(rounds, "time_for_another", never_twice)
    found = fix(
        project(tmp_path), [Scripted(changes)], sandbox=Unguarded(), profiler=profiler, budget=Budget(rounds=2, timing=5)
    )  # fmt: skip
    assert [each.candidate.title for each in found.attempts] == ["0.03"]
    assert asked[0] == (0.0, False)
    assert asked[1][0] > 0.3  # ten pairs of runs of 0.03 and 0.06 s at least
    assert asked[1][1] == (found.attempts[0].verdict.value == "accepted")
    assert any("leaves no time for another change" in remark for remark in found.remarks)


def test_a_change_of_which_no_profile_comes_is_dropped_and_the_session_goes_on(tmp_path: Path) -> None:
    def short(runner: Runner, built: Built, folder: Path) -> Path:
        if "0.001" in (built.folder / "work.txt").read_text():
            raise MeasurementError("The program could not be measured: no sample was taken.")
        return profiler(runner, built, folder)

    changes = [
        candidate("too short", {"work.txt": SLOW.replace("0.06", "0.001")}),
        candidate("right", {"work.txt": FAST}),
    ]
    found = session(tmp_path, profiler=short, changes=changes)
    assert [(each.candidate.title, each.verdict) for each in found.attempts] == [
        ("too short", Verdict.CAUSE_UNMOVED),
        ("right", Verdict.ACCEPTED),
    ]
    assert found.attempts[0].gates[-1].statement.endswith("no sample was taken.")


def test_a_program_that_has_become_too_short_to_be_profiled_has_lost_all_that_was_diagnosed(tmp_path: Path) -> None:
    """Timed runs of some milliseconds say it, where seconds were diagnosed. Nothing is tried from there."""

    def short(runner: Runner, built: Built, folder: Path) -> Path:
        if "0.001" in (built.folder / "work.txt").read_text():
            raise MeasurementError("The program could not be measured: no sample was taken.")
        folder.mkdir(parents=True, exist_ok=True)
        frames = [{"name": each} for each in ("main", "slow", "pow", "other")]
        told = {"type": "sampled", "unit": "seconds", "name": "app", "startValue": 0, "endValue": 60}
        runs = {"samples": [[0, 1, 2]] * 500 + [[0, 3]] * 100, "weights": [0.1] * 600}
        schema = "https://www.speedscope.app/file-format-schema.json"
        profile = {"$schema": schema, "shared": {"frames": frames}, "profiles": [{**told, **runs}]}
        (folder / "profile.speedscope.json").write_text(json.dumps(profile))
        return folder / "profile.speedscope.json"

    sources = {"work.txt": SLOW.replace("0.06", "0.001")}
    found = session(tmp_path, profiler=short, changes=[candidate("too short", sources)])
    (attempt,) = found.attempts
    assert attempt.verdict == Verdict.ACCEPTED, attempt.gates[-1].statement
    assert [each.gate for each in attempt.gates][-2:] == ["plausibility", "cause"]
    assert "too briefly to be profiled" in attempt.gates[-1].statement
    assert found.last.profile is None
    told = report(found)
    assert told.tree_before is not None
    assert told.tree_after is None
    for render in fix_renderers().values():
        assert "too briefly to be profiled" in " ".join(render(told, Style(width=90)).split())


def test_an_accepted_change_whose_second_profile_fails_stays_accepted(tmp_path: Path) -> None:
    def once(runner: Runner, built: Built, folder: Path) -> Path:
        """Of the changed program three samples the first time, and none the second."""
        if "0.03" not in (built.folder / "work.txt").read_text():
            return profiler(runner, built, folder)
        if folder.name.endswith("-again"):
            raise MeasurementError("The program could not be measured: no sample was taken.")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "profile.txt").write_text("main;slow 2\nmain;other 1\n")
        return folder / "profile.txt"

    found = session(tmp_path, profiler=once, changes=[candidate("right", {"work.txt": FAST})])
    assert [each.verdict for each in found.attempts] == [Verdict.ACCEPTED]
    assert found.last.diagnosis.verdict == Health.INSUFFICIENT
    assert exit_code(found) == 0


@pytest.mark.parametrize(("again", "verdict"), [(3000, "accepted"), (6500, "cause-unmoved")])
def test_a_profile_that_contradicts_the_timed_runs_is_taken_once_more(tmp_path: Path, again: int, verdict: str) -> None:
    profiled: list[str] = []

    def disturbed(runner: Runner, built: Built, folder: Path) -> Path:
        """The first profile of the changed program was taken while something else ran."""
        changed = "0.03" in (built.folder / "work.txt").read_text()
        profiled.append(f"{'changed' if changed else 'original'} {folder.name.endswith('-again')}")
        samples = (again if folder.name.endswith("-again") else 6500) if changed else 6000
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "profile.txt").write_text(f"main;slow;pow {samples - 2000}\nmain;slow 500\nmain;other 1500\n")
        return folder / "profile.txt"

    changes = [candidate("right", {"work.txt": FAST})]

    def run() -> Outcome:
        return fix(
            project(tmp_path), [Scripted(changes)], sandbox=Unguarded(), profiler=disturbed, budget=Budget(rounds=1, timing=5),
            work=tmp_path / "work",
        )  # fmt: skip

    found = run()
    (attempt,) = found.attempts
    assert attempt.verdict.value == verdict
    assert profiled == ["original False", "changed False", "original True", "changed True"]
    assert "not shorter" in str(attempt.gates[-1].figures["first_profiles"])
    if found.diff is not None:  # what the report shows are the profiles that decided
        assert found.diff.total is not None
        assert (found.diff.total.before, found.diff.total.after) == (6000, 3000)
    profiled.clear()
    assert [each.verdict for each in run().attempts] == [attempt.verdict]
    assert not profiled


def test_what_had_passed_when_a_limit_was_reached_is_the_result(tmp_path: Path) -> None:
    changes = [candidate("right", {"work.txt": FAST}), candidate("wrong", {"work.txt": WRONG})]
    budget = Budget(rounds=2, timing=5, candidates=1)
    found = fix(project(tmp_path), [Scripted(changes)], sandbox=Unguarded(), profiler=profiler, budget=budget)
    assert [each.candidate.title for each in found.accepted] == ["right"]
    assert not found.complete
    assert any("1 candidates were tried" in remark for remark in found.remarks)
    assert (exit_code(found), report(found).verdict) == (0, "improved")


def test_changes_are_tried_for_what_only_the_source_suspects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chathpc.diagnosis import diagnose as module

    def innocent(suspected: tuple[str, ...]) -> None:
        def healthy(profile: Profile) -> Diagnosis:
            found = module_diagnose(profile)
            findings = tuple(replace(each, suspected=suspected) for each in found.findings)
            return replace(found, verdict=Health.SUSPECTED if suspected else Health.HEALTHY, findings=findings)

        monkeypatch.setattr(module, "diagnose", healthy)

    module_diagnose = module.diagnose
    innocent(())
    assert not session(tmp_path / "innocent").attempts
    innocent(("omp-false-sharing",))
    found = session(tmp_path / "suspected")
    assert [each.candidate.title for each in found.accepted] == ["right"]
    wrong = fix(
        project(tmp_path / "wrong"), [Scripted([candidate("wrong", {"work.txt": WRONG})])],
        sandbox=Unguarded(), profiler=profiler, budget=Budget(rounds=1, timing=1),
    )  # fmt: skip
    assert exit_code(wrong) == 6
    assert "of 1 change none passed" in report(wrong).headline


def test_nothing_passed_ends_with_6(tmp_path: Path) -> None:
    found = fix(
        project(tmp_path), [Scripted([candidate("same", {"work.txt": SLOW}), candidate("comment", {"work.txt": SLOW + "true\n"})])],
        sandbox=Unguarded(), profiler=profiler, budget=Budget(timing=2),
    )  # fmt: skip
    assert exit_code(found) == 6
    assert [each.verdict for each in found.attempts] == [Verdict.OUT_OF_SCOPE, Verdict.INCONCLUSIVE]
    assert "none passed all gates" in report(found).headline


def test_advice_for_which_no_change_was_tried_is_told(outcome) -> None:  # type: ignore[no-untyped-def]
    state = outcome.first
    finding = replace(
        state.diagnosis.findings[0], cause="strided-access", title="Large strides", share=0.9, headroom=0.8,
        advice=("Interchange the loops.",),
    )  # fmt: skip
    diagnosis = replace(
        state.diagnosis, findings=(finding, replace(finding, advice=()), replace(finding, headroom=0.0))
    )
    without = replace(outcome, last=replace(state, diagnosis=diagnosis), attempts=())
    told = report(without)
    assert [(each.finding, each.why, each.advice) for each in told.untried] == [
        ("Large strides", "no recipe makes such a change", "Interchange the loops.")
    ]
    for name in ("text", "markdown"):
        assert "By hand: Interchange the loops." in fix_renderers()[name](told, Style(width=200))
    of_any = replace(finding, advice=(cause("strided-access").advice[0].do,))
    general = replace(without, last=replace(state, diagnosis=replace(state.diagnosis, findings=(of_any,))))
    assert "In general: " in fix_renderers()["text"](report(general), Style(width=200))
    (by_model,) = report(replace(without, strategies=("agent",))).untried
    assert by_model.why == "the model proposed no such change"
    other = replace(outcome.attempts[0].candidate, finding=finding, recipe="keep-buffer", files={})
    tried = replace(outcome.attempts[0], candidate=other)
    assert report(replace(without, attempts=(tried,))).untried
    meant = replace(tried, candidate=replace(other, recipe="interchange-loops"))
    assert not report(replace(without, attempts=(meant,))).untried


class Guessing:
    """Tries something wrong first, and what is right once it knows what became of that."""

    name = "guessing"

    def __init__(self, *, learns: bool) -> None:
        self.learns = learns
        self.told: list[list[str]] = []

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterator[Candidate]:
        """One candidate a round."""
        self.told.append([attempt.verdict.value for attempt in history])
        if not history:
            yield candidate("wrong", {"work.txt": WRONG})
        elif not any(attempt.verdict == Verdict.ACCEPTED for attempt in history):
            yield candidate("right", {"work.txt": FAST})


@pytest.mark.parametrize("learns", [True, False])
def test_who_learns_from_what_was_refused_is_asked_again(tmp_path: Path, learns: bool) -> None:
    proposer = Guessing(learns=learns)
    found = fix(
        project(tmp_path), [proposer], sandbox=Unguarded(), profiler=profiler, budget=Budget(rounds=3, timing=5)
    )
    assert found.improved == learns
    assert proposer.told == ([[], ["wrong-answer"], ["wrong-answer", "accepted"]] if learns else [[]])


@pytest.mark.parametrize("enough", [True, False])
def test_a_profile_with_too_few_samples_is_taken_once_more(tmp_path: Path, enough: bool) -> None:
    profiled: list[str] = []

    def busy(runner: Runner, built: Built, folder: Path) -> Path:
        """A machine on which the first profile of the original lost most of its samples."""
        is_original = SLOW in (built.folder / "work.txt").read_text()
        profiled.append(f"{'original' if is_original else 'changed'} {folder.name.endswith('-again')}")
        if is_original and not (enough and folder.name.endswith("-again")):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "profile.txt").write_text("main;slow;pow 40\nmain;other 5\n")
            return folder / "profile.txt"
        return profiler(runner, built, folder)

    found = fix(
        project(tmp_path), [Scripted([candidate("right", {"work.txt": FAST})])], sandbox=Unguarded(), profiler=busy,
        budget=Budget(rounds=1, timing=5),
    )  # fmt: skip
    assert profiled[:2] == ["original False", "original True"]
    assert (found.first.diagnosis.verdict.value, found.improved) == (
        ("bottleneck", True) if enough else ("insufficient-data", False)
    )


def test_a_healthy_program_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chathpc.diagnosis import diagnose as module

    known = module.diagnose
    monkeypatch.setattr(module, "diagnose", lambda profile: replace(known(profile), verdict=Health.HEALTHY))
    proposer = Scripted([candidate("right", {"work.txt": FAST})])
    found = fix(project(tmp_path), [proposer], sandbox=Unguarded(), profiler=profiler)
    assert proposer.asked == 0
    assert found.healthy
    assert not found.improved
    assert exit_code(found) == 0
    assert report(found).patch == ""


def test_a_profile_that_shows_no_gain_refuses_a_faster_program(tmp_path: Path) -> None:
    def same(runner: object, built: object, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "profile.txt").write_text("main;slow;pow 4000\nmain;slow 500\nmain;other 1500\n")
        return folder / "profile.txt"

    found = session(tmp_path, profiler=same)
    assert found.attempts[-1].verdict == Verdict.CAUSE_UNMOVED


def broken(folder: Path, **changes: object) -> Project:
    from dataclasses import replace

    return replace(project(folder), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"build": "exit 3"}, "does not build"),
        ({"run": Run("run", "./missing")}, "fails with './missing'"),
        ({"run": Run("run", "date +%N; ./app 1")}, "differ: "),
        ({"run": Run("run", "true")}, "produces no output"),
        ({"check": Check(command="false")}, "rejects the unmodified program"),
        ({"run": Run("run", "./app 1", stdin="none.txt")}, "does not exist"),
    ],
)
def test_a_project_that_cannot_be_judged_is_told(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises((ChathpcError, UsageError), match=message):
        fix(broken(tmp_path, **changes), [], sandbox=Unguarded(), profiler=profiler)


def test_a_relative_work_folder_lies_where_the_user_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds are made elsewhere, where a relative path means another place."""
    made: list[Path] = []

    def workspace(root: Path) -> None:
        made.append(root)
        raise InterruptedError

    monkeypatch.setattr("chathpc.fix.loop.Workspace", workspace)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InterruptedError):
        fix(project(tmp_path), [], sandbox=Unguarded(), work=Path("work"))
    assert made == [tmp_path / "work"]
