"""Answers about the run, its ranks and the report itself; numbers by hand, or by another way through the database."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import chathpc
from chathpc.chat.conversation import Conversation
from chathpc.chat.intents import match
from chathpc.chat.session import Session
from chathpc.chat.tools import call
from chathpc.chat.tools.catalogue import glossary, topics
from chathpc.diagnosis.catalogue import causes
from chathpc.diagnosis.records import Examined, Skipped
from chathpc.fix.recipes.exact import exact_changes
from chathpc.profile import numbers
from chathpc.profile.metric import NO_CORE
from chathpc.profile.profile import COMMAND
from tests.chat.profiles import calls, ranks
from tests.chat.questions import EXAMPLES
from tests.diagnosis.parts import libc, libm, main
from tests.profile.build import build, line
from tests.profile.build import call as function


@cache
def example(name: str) -> Session:
    return Session(chathpc.load(EXAMPLES / name / "database"))


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(calls())


def ask(session: Session, *questions: str) -> str:
    conversation = Conversation(session)
    for question in questions:
        answer = conversation.ask(question)
    return answer.text


def test_a_rank_is_compared_with_the_others_function_by_function(session: Session) -> None:
    # By profiles.calls: main 0.5 and 0.5, solve 1 + 2 and 1 + 4, dot 4 and 6, io_write 0.5 and 0.5: 8 and 12 seconds.
    result = call(session, "locations", {"who": "rank 1"})
    rows = {row[0]: row[1:] for row in result.rows}
    assert rows == {
        "solve": (pytest.approx(5.0), pytest.approx(3.0), pytest.approx(2.0)),
        "dot": (pytest.approx(6.0), pytest.approx(4.0), pytest.approx(2.0)),
    }
    assert "Rank 1 computes for 12.0 s, the other one for 8.00 s: 4.00 s more (1.50x)." in result.text
    faster = call(session, "locations", {"who": "rank 0"}).text
    assert "4.00 s less" in faster
    assert "has less work" in faster


def test_two_threads_are_compared_with_each_other() -> None:
    told = ask(example("omp-triangle"), "compare thread 2 and thread 0")
    times = {row[0]: float(row[1]) for row in call(example("omp-triangle"), "locations").rows}  # type: ignore[arg-type]
    slow, fast = times["thread 2"], times["thread 0"]
    assert told.startswith(
        f"Thread 2 computes for 1.58 s, thread 0 for 533 ms: {slow - fast:.2f} s more ({slow / fast:.2f}x)."
    )


def test_a_rank_that_there_is_not_is_told_with_those_that_there_are(session: Session) -> None:
    result = call(session, "locations", {"who": "rank 7"})
    assert result.error == "There is no 'rank 7' in the profile."
    assert result.hint == "There are: rank 0, rank 1."
    one = call(Session(ranks(np.array([3.0]))), "locations", {"who": "rank 0"})
    assert "no other rank" in one.error


def test_why_thread_2_is_slower_is_told_by_its_computing_time() -> None:
    told = ask(example("omp-triangle"), "why is rank 0 (thread 2) slower than the others")
    # work_item is called by triangular_work alone, and its time by thread does not go through the classification of nodes.
    profile = example("omp-triangle").measured
    heads = example("omp-triangle").find("work_item").nodes
    own = profile.values.per_location("cpu.time", heads).sum(axis=1)
    at = [profile.where.label(row) for row in range(len(own))].index("thread 2")
    others = [value for row, value in enumerate(own) if row != at and value > 0]
    assert f"{1000 * (own[at] - np.mean(others)):.0f} ms more" in told
    assert "work_item" in told


def test_the_slowest_and_the_fastest_thread_are_named_with_their_times() -> None:
    told = ask(example("omp-triangle"), "which thread is the slowest")
    assert told.startswith("The slowest is thread 2 with 1.58 s of computing time, the fastest thread 0 with 533 ms;")
    # 1,802 samples of 9.01 s: 5 ms each, so that 1.58 s are known to sqrt(1.58 · 0.005) s, and 0.533 s likewise.
    assert f"{1000 * np.sqrt((1.58 + 0.533) * 9.01 / 1802):.0f} ms" in told


def test_ranks_threads_and_times_of_a_run_are_told_alone() -> None:
    omp, mpi = example("omp-triangle"), example("mpi-imbalance")
    assert ask(omp, "how many ranks and threads").startswith("The run had 4 OpenMP threads.")
    assert ask(mpi, "how many ranks and threads").startswith("The run had 4 ranks.")
    assert ask(omp, "wall-clock time").startswith("The run took 2.26 s of wall-clock time.")
    assert ask(mpi, "how long did it run").endswith(
        f"Summed over all ranks, wall-clock time is {mpi.measured.total('cpu.time'):.1f} s."
    )
    assert "1,802 samples, one per 5.00 ms" in ask(omp, "which tool measured this")


def test_how_to_fix_a_finding_says_where_what_and_how_to_try_it() -> None:
    result = call(example("omp-triangle"), "findings", {"number": 1, "part": "fix"})
    assert "triangular_work at stencil_omp.c:61" in result.text
    assert "1.31x" in result.text  # without 1.95 s of 9.01 s, 21.6 %, and two standard errors of 1 % more
    begins = [line.split(":")[0] for line in result.lines]
    assert begins[:2] == ["Code", "Change"]
    assert begins[-2:] == ["To check", "Or let chathpc try"]
    assert "total += work_item(i);" in result.lines[0]


def test_how_to_fix_a_finding_shows_the_change_that_explain_shows() -> None:
    about = example("omp-triangle")
    proposed = exact_changes(about.measured, about.diagnosis)[0]
    lines = call(about, "findings", {"number": 1, "part": "fix"}).lines
    assert lines[1].startswith(f"Change: {proposed.file.rsplit('/', 1)[-1]}:{proposed.line}: {proposed.says}")
    old, new = (text.strip().splitlines()[-1].strip() for text in (proposed.edits[0].search, proposed.edits[0].replace))
    assert [lines[2].split(), lines[3].split()] == [["-", *old.split()], ["+", *new.split()]]


def test_how_sure_a_finding_is_comes_with_reasons_and_what_speaks_against_it() -> None:
    mpi = example("mpi-imbalance")
    second = mpi.diagnosis.findings[1]
    told = call(mpi, "findings", {"number": 2, "part": "confidence"}).text
    assert f"{100 * second.confidence:.1f} % confidence" in told
    assert second.against[0] in told
    assert "Nothing was found that contradicts it." in ask(example("omp-triangle"), "how confident are you")


def test_a_line_is_shown_with_what_it_calls_and_with_the_times_around_it() -> None:
    result = call(example("omp-triangle"), "source", {"place": "stencil_omp.c:61"})
    assert "0 s (0 %) of the run's cpu.time itself and 3.91 s (43.4 %)" in result.text
    around = call(example("omp-triangle"), "source", {"place": "stencil_omp.c:53", "context": 1}).lines
    assert around[0].split() == ["itself", "in", "all", "line"]
    # The loop that begins at line 52 is all of work_item.
    assert [line.split()[:5:2] for line in around[1:3]] == [["22.3", "43.4", "52"], ["21.1", "21.1", "53"]]
    assert ask(example("omp-triangle"), "show line 61") == result.text.replace("cpu.time", "wall-clock time")


def test_the_loop_that_a_function_is_called_in_is_told_with_its_source() -> None:
    result = call(example("mpi-imbalance"), "loops", {"name": "kernel"})
    assert result.text.startswith("kernel is called in a loop, at mpi_imb.c:53.")
    assert [row[0] for row in result.rows] == ["mpi_imb.c:53"]
    assert str(result.rows[0][4]).startswith("for (int s = 0; s < steps; s++)")
    # All of its time: whoever calls it (main, or serial_part that main calls) does so in the loop over steps.
    callers = call(example("mpi-imbalance"), "callers", {"name": "kernel"})
    assert result.rows[0][2] == pytest.approx(sum(float(row[1]) for row in callers.rows))  # type: ignore[arg-type]
    assert "No loop around calls of" in call(Session(calls()), "loops", {"name": "dot"}).text


def test_one_run_does_not_tell_how_it_scales_but_what_would() -> None:
    result = call(example("mpi-imbalance"), "scaling")
    assert result.text.startswith("One run cannot show how the program scales")
    assert "parallel efficiency of 4 ranks (POP) is 69.5 %" in result.text
    assert "chathpc scale" in result.lines[-1]
    assert "on 4 and on 8 ranks" in result.lines[0]


def test_what_was_examined_and_what_was_not_is_that_of_the_diagnosis() -> None:
    mpi = example("mpi-imbalance")
    result = call(mpi, "examined")
    assert f"{len(mpi.diagnosis.examined.run)} checks ran" in result.text
    said = "\n".join(result.lines)
    assert all(each.remedy in said for each in mpi.diagnosis.examined.skipped)
    assert "8 helper threads" in said


def test_terms_are_told_by_any_of_their_names(session: Session) -> None:
    assert len({entry["term"] for entry in glossary().values()}) >= 60
    for name, (term, meaning) in {name: (entry["term"], entry["is"]) for name, entry in glossary().items()}.items():
        told = call(session, "catalogue", {"words": name})
        assert not told.error
        problem = [one for one in causes() if name in (one.title.casefold(), one.id.replace("-", " "))]
        assert problem or f"{term[:1].upper()}{term[1:]}: {meaning}" in told.text
    assert "roofline" in topics(session)


@pytest.mark.parametrize(
    "term", ["POP efficiency", "exclusive time", "a roofline", "occupancy", "pinning", "inclusve time"]
)
def test_what_a_term_means_is_answered_with_its_definition(term: str, session: Session) -> None:
    told = ask(session, f"what is {term}")
    assert told.split(":")[0] in {one["term"][:1].upper() + one["term"][1:] for one in glossary().values()}


def test_advice_on_a_problem_is_that_for_the_programs_own_way_to_be_parallel() -> None:
    for name, id in (("omp-triangle", "omp-load-imbalance"), ("mpi-imbalance", "mpi-load-imbalance")):
        assert f"({id})" in ask(example(name), "how do I turn on load balancing")


def test_answers_go_on_from_each_other() -> None:
    omp = example("omp-triangle")
    assert ask(omp, "how much time in work_item", "and who calls it?").startswith("work_item is called by")
    assert ask(omp, "who calls work_item", "same for residual_norm").startswith("residual_norm")
    assert ask(omp, "which thread is the slowest", "why").startswith("Thread 2 computes for 1.58 s")
    assert ask(omp, "why is thread 2 slow", "what about thread 0").startswith("Thread 0 computes for 533 ms")
    assert ask(omp, "what are the findings", "the second one").startswith("2. Waiting at OpenMP barriers")
    assert ask(omp, "top lines", "show the third one").startswith("stencil_omp.c:53")


def test_a_line_is_shown_with_the_time_of_what_each_line_around_it_calls() -> None:
    session = example("mpi-imbalance")
    told = call(session, "source", {"place": "mpi_imb.c:32"})
    line = next(text for text in told.lines if "MPI_Sendrecv" in text)
    # 65.7 % of the MPI time of 3.64 s is in MPI_Sendrecv, which is called here alone (E1 of the report): 2.39 of 12.1 s.
    assert float(line.split()[0]) == pytest.approx(65.7 * 3.64 / 12.1, abs=0.15)
    loop = next(text for text in call(session, "source", {"place": "mpi_imb.c:53"}).lines if "for (int s" in text)
    assert float(loop.split()[0]) > 95


def test_time_on_paths_of_workers_is_not_said_to_be_outside_of_loops() -> None:
    told = ask(example("omp-triangle"), "is triangular_work called in a loop")
    assert "On call paths without a loop" in told
    assert "Worker threads' paths do not show" in told


def test_a_place_without_any_time_is_not_said_to_be_a_billion_times_as_fast() -> None:
    told = ask(example("omp-triangle"), "what if work_item was free")
    assert told.startswith("If work_item were eliminated, the run would be 1.77x as fast:")  # 1 / (1 - 0.434)
    assert "000x" not in told


def test_who_calls_it_after_a_line_means_the_function_that_the_line_is_in() -> None:
    told = ask(example("omp-triangle"), "show line 53", "who calls it")
    assert told.startswith("work_item is called by 1 function.")  # line 53 is the body of work_item


def test_imbalance_is_explained_as_that_of_load_and_unknown_flags_are_not_guessed() -> None:
    assert ask(example("omp-triangle"), "what is imbalance").startswith("Load balance: Mean divided by largest")
    assert not match("what compiler flags were used", example("omp-triangle")).tool


def test_a_line_of_the_programs_own_source_is_told_where_libraries_take_its_time() -> None:
    # Line 7 takes 3 s in libm and 4 s in libc, line 5 takes 6 s itself; libc has a line 7 of its own.
    copy = libc("memcpy", line("/build/string.c:7", time=4.0))
    profile = build(main(line("app.c:5", time=6.0), line("app.c:7", libm("exp", time=3.0), copy)))
    asked = Session(profile)
    text = call(asked, "top", {"by": "line"}).text
    assert (
        "Of the program's own source app.c:7 in main has most, with what libraries do for it: 7.00 s (53.8 %)." in text
    )
    assert match("what is slow in line 7?", asked).arguments["place"] == "app.c:7"


def test_the_runs_that_would_tell_how_it_scales_are_started_as_this_one_was() -> None:
    started = {COMMAND: "mpirun --oversubscribe -n 4 ./mpi_imb 200"}
    known = Session(replace(example("mpi-imbalance").measured, run=started))
    lines = call(known, "scaling").lines
    assert lines[1].endswith("mpirun --oversubscribe -n 4 hpcrun -e REALTIME -t ./mpi_imb 200")
    assert lines[2].endswith("mpirun --oversubscribe -n 8 hpcrun -e REALTIME -t ./mpi_imb 200")


def test_how_long_threads_had_no_core_is_told_with_the_time() -> None:
    profile = build(main(line("app.c:5", time=6.0, values={NO_CORE: 2.5})))
    assert "had no core for 2.50 s" in ask(Session(profile), "how busy was the machine?")


def test_why_it_is_slow_is_answered_where_there_are_no_source_lines() -> None:
    loaded = Session(build(function("main", function("solve", time=6.0), time=2.0)))  # without files
    conversation = Conversation(loaded)
    conversation.ask("who calls solve?")
    answer = conversation.ask("why is it slow?")
    assert not answer.steps[0].error
    assert (
        "solve has 6.00 s (75.0 %) of the run's CPU time itself. The profile has no source lines for it." in answer.text
    )


def test_why_a_function_is_slow_is_told_of_that_function() -> None:
    asked = example("omp-triangle")
    text = ask(asked, "whats wrong with work_item?")
    own, below = asked.value_at(asked.find("work_item"), asked.metric())
    assert f"work_item has {numbers.seconds(own)}" in text
    assert own == pytest.approx(below)
    here = [one for one in asked.diagnosis.findings if one.where.function == "work_item"]
    assert here
    assert all(one.summary in text for one in here)
    assert "Called by triangular_work" in text
    # Of a function that only calls, what it calls is told, and not the run's first finding.
    calm = Session(build(function("main", function("solve", function("dot", time=6.0)), time=2.0)))
    answer = Conversation(calm).ask("why is solve slow?")
    assert [row[:2] for row in answer.steps[0].rows] == [["dot", 6.0]]
    assert "Called by main." in answer.text


def test_what_the_source_would_show_of_a_problem_is_not_said_to_be_absent() -> None:
    asked = example("omp-triangle")
    hidden = Skipped(("omp-false-sharing",), "source not found", "--source DIR")
    examined = Examined(asked.diagnosis.examined.run, (hidden,))
    without = Session(asked.measured)
    without.__dict__["diagnosis"] = replace(asked.diagnosis, examined=examined)
    told = call(without, "findings", {"words": "false sharing"}).text
    assert "Its signs in the source were not examined (source not found)." in told
    assert "Not examined in the source (omp false sharing): source not found." in call(without, "examined", {}).lines
