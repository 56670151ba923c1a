"""The explanation without a model: which sentences, in which order, resting on which evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.measured_gains import TypicalGain
from chathpc.diagnosis.phrasing import gain_sentence
from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.reading.retelling import narrate
from tests.diagnosis.parts import function, hot_loop, libc, libm, main
from tests.profile.build import build, gpu_op, kernel, line, loop

DEVICE = {"gpu.time": 1.0, "gpu.kernel.time": 1.0, "gpu.kernel.count": 1.0}


def churning(*more: object) -> Diagnosis:
    grow = function("grow", loop("app.c:10", line("app.c:11", libc("malloc", time=6.0))), at="app.c:9")
    return diagnose(build(main(grow, *more, function("rest", hot_loop(4.0, "app.c:40"), at="app.c:39"))))


def test_a_bottleneck_is_told_with_its_gain_its_advice_and_what_it_rests_on() -> None:
    diagnosis = churning()
    known = replace(diagnosis.findings[0], typical_gain=TypicalGain(1.2, 1.7, 11))
    diagnosis = replace(diagnosis, findings=(known, *diagnosis.findings[1:]))
    entry = cause("allocation-churn")
    first, what, bound, advice = narrate(diagnosis)
    assert first.text == "grow allocates and releases memory in a loop: 60.0 % of the time."
    assert first.cites == diagnosis.findings[0].evidence == ("E1", "E2")
    assert what.text == "A large part of the time goes into malloc and free for short-lived objects."
    assert "malloc and free (new and delete, " in " ".join(entry.what.split())  # examples, for newcomers
    assert "(new and delete, " in narrate(diagnosis, "newcomer")[1].text
    assert bound.text == gain_sentence(diagnosis.findings[0])
    assert advice.text.startswith("What to do first: ")
    assert advice.text.endswith(".")


def test_repairs_that_gave_more_than_this_run_allows_are_not_told() -> None:
    diagnosis = churning()  # 60 % of the time: 2.5x at most, where all repairs that were measured gave more
    assert gain_sentence(diagnosis.findings[0]) is None
    assert not any("as fast" in told.text for told in narrate(diagnosis))


def test_what_speaks_against_it_is_told() -> None:
    told = narrate(diagnose(build(main(line("app.c:2", libc("malloc", time=6.0), time=4.0)))))
    assert told[-1].text == "What speaks against it: it was not seen inside a loop: it may happen once."


def test_at_most_two_more_findings_are_told_and_only_worthwhile_ones() -> None:
    def more(name: str, at: int, called: object):
        return function(name, loop(f"app.c:{at}", line(f"app.c:{at + 1}", called)), at=f"app.c:{at - 1}")

    others = [
        more("shift", 60, libc("memcpy", time=3.0)),
        more("model", 70, libm("exp", time=3.0)),
        more("sink", 80, libc("write", time=3.0)),
    ]
    told = [
        sentence.text
        for sentence in narrate(churning(*others))
        if sentence.text.startswith(("Besides that: ", "And: "))
    ]
    # Each has 3 of 19 s; the headroom decides, and equal ones stand in the order of their ids.
    assert told == [
        "Besides that: shift copies memory in a loop: 15.8 % of the time.",
        "And: calls of exp in model take 15.8 % of the time, in the loop at app.c:70.",
    ]
    assert not [sentence for sentence in narrate(churning()) if sentence.text.startswith("Besides that")]


def test_a_leak_has_no_bound_on_the_speed_up() -> None:
    lost = line("app.c:31", libc("malloc", values={"memory.allocated.bytes": 8e6}))
    diagnosis = diagnose(build(main(function("window", lost), function("rest", hot_loop(4.0)))))
    assert diagnosis.findings[0].cause == "memory-leak"
    assert gain_sentence(diagnosis.findings[0]) is None
    assert not [sentence for sentence in narrate(diagnosis) if "as fast" in sentence.text]


def test_a_healthy_program_is_told_with_its_hot_place_and_what_could_be_collected() -> None:
    diagnosis = diagnose(build(main(function("solve", hot_loop(4.0))), format="HPCToolkit v4"))
    first, what, missing = narrate(diagnosis)
    assert (first.text, first.cites) == (diagnosis.headline, ("E1", "E2"))
    assert " ".join(cause("hot-compute").what.split()).startswith(what.text)
    assert missing.text == "To see more, collect waiting (blocked and sleeping threads): hpcrun -e REALTIME -t ./test"


def test_a_healthy_device_program_rests_on_its_hottest_kernel() -> None:
    told = narrate(diagnose(build(main(gpu_op("<gpu kernel>", kernel("saxpy", values=DEVICE))))))
    assert told[0].cites == ("E1",)
    assert told[1].text.startswith("To see more, collect the kernel's counters")


def test_a_healthy_device_is_told_with_the_number_of_how_busy_it_is() -> None:
    diagnosis = diagnose(build(main(gpu_op("<gpu kernel>", kernel("saxpy", values=DEVICE)))))
    one = replace(diagnosis.findings[0], share=0.85, summary="Kernels fill 85.0 % of the window.")
    told = [sentence.text for sentence in narrate(replace(diagnosis, verdict=Verdict.HEALTHY, findings=(one,)))]
    assert one.summary in told
    assert not any("nearly all of the time" in text for text in told)


def test_a_healthy_program_without_a_hot_place_and_with_everything_collected_has_one_sentence() -> None:
    rows = [function(f"f{number}", line(f"app.c:{number}", values={"cpu.cycles": 1e6})) for number in range(20)]
    diagnosis = replace(diagnose(build(main(*rows), sample_count=500)), not_collected={})
    assert [sentence.text for sentence in narrate(diagnosis)] == [
        "No cause was found for what takes the time; the hottest function, f0, has 5.00 %."
    ]


def test_too_few_samples_are_all_that_is_told() -> None:
    diagnosis = diagnose(build(main(line("app.c:2", time=0.1))))
    assert [sentence.text for sentence in narrate(diagnosis)] == [diagnosis.headline]


@pytest.mark.parametrize("title", ["MPI ranks wait", "Rank 0 waits", "x", "", "Done!"])
def test_a_sentence_within_a_sentence_begins_small_unless_it_begins_with_a_name(title: str) -> None:
    diagnosis = churning()
    changed = replace(diagnosis.findings[0], advice=(title,))
    told = narrate(replace(diagnosis, findings=(changed,)))
    expected = {
        "MPI ranks wait": "MPI ranks wait.",
        "Rank 0 waits": "rank 0 waits.",
        "x": "x.",
        "": ".",
        "Done!": "Done!",
    }
    assert told[-1].text == f"What to do first: {expected[title]}"


def test_the_gain_is_told_as_a_factor_of_the_run() -> None:
    found = replace(churning().findings[0], typical_gain=TypicalGain(1.2, 1.7, 11))
    assert gain_sentence(found) == "Such changes made runs 1.20x to 1.70x as fast (11 measured cases)."
    assert (
        gain_sentence(replace(found, speedup_bound=2.5))
        == "Without this problem, the run could be at most 2.50x as fast."
    )
    # The gain beside it says the same of a bound that is no number to expect.
    assert (
        gain_sentence(replace(found, speedup_bound=991.0)) == "Without this problem, nearly all of the time could go."
    )
    assert gain_sentence(replace(found, typical_gain=None)) is None
