"""What the machine code of hot loops adds to a diagnosis, and where it says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.records import Verdict
from chathpc.profile.machine_code import SampledCode
from chathpc.profile.profile import Profile
from tests.diagnosis.assembly.test_loop import CHASE, GATHER, TRIAD, code
from tests.diagnosis.assembly.test_scalar import ROTATED
from tests.diagnosis.parts import causes, diagnosed, finding, function, libm, main, source, statements
from tests.profile.build import build, call, inlined, line

LARGE = {"peak_memory": "1e9", "last_level_cache": "33554432"}


def app(text: str, name: str = "f") -> SampledCode:
    return replace(code(text), function=name)


def profile_of(text: str, *, share: float = 0.8, **facts: object) -> Profile:
    """A program of ten seconds, `share` of them in a function without source lines."""
    facts = {"run": LARGE, "sampled_code": (app(text),), **facts}
    hot, rest = call("f", module="/opt/app", time=10 * share), call("g", module="/opt/app", time=10 * (1 - share))
    return build(main(hot, rest), **facts)


def counted(text: str, executed: float, *, run: dict[str, str]) -> Profile:
    """The same with cycles and instructions, so many of these in the function."""
    hot = call("f", module="/opt/app", time=8, values={"cpu.cycles": 8e9, "cpu.instructions": executed})
    rest = call("g", module="/opt/app", time=2, values={"cpu.cycles": 2e9, "cpu.instructions": 1e9})
    return build(main(hot, rest), run=run, sampled_code=(app(text),))


def test_samples_along_a_chain_make_one_suspect_latency() -> None:
    diagnosis = diagnosed(profile_of(CHASE))
    found = finding(diagnosis, "memory-latency")
    assert diagnosis.verdict == Verdict.SUSPECTED
    assert (found.where.function, found.status, found.against) == ("f", "derived", ())
    assert found.share == pytest.approx(0.8 * 0.98)
    assert "derived from the machine code" in found.confidence_reason
    assert statements(diagnosis, "memory-latency") == [
        "The loop in f takes 8.00 s of 10.0 s (80.0 %).",
        "Loads along a chain of addresses, with what waits for them, have 98.0 % of the samples of the loop in f.",
    ]


def test_a_gather_beside_streams_may_be_at_the_limit() -> None:
    diagnosis = diagnosed(profile_of(GATHER))
    found = finding(diagnosis, "memory-latency")
    assert found.weight < common()["verdict_weight"].value
    assert found.share == pytest.approx(0.8 * 0.97)
    assert any("order" in doubt for doubt in found.against)
    assert statements(diagnosis, "memory-latency")[1] == (
        "Loads whose address the loop has loaded just before, with what waits for them, have 97.0 % of the samples of the loop in f."
    )


def test_a_stream_is_suspected_of_bandwidth_and_blamed_for_nothing() -> None:
    diagnosis = diagnosed(profile_of(TRIAD))
    found = finding(diagnosis, "memory-bandwidth")
    assert (found.status, found.share) == ("derived", pytest.approx(0.8))
    assert found.weight < common()["verdict_weight"].value
    assert statements(diagnosis, "memory-bandwidth")[1] == (
        "The machine code of the loop in f moves 24 bytes for 2 operations in each iteration, with unit stride."
    )


@pytest.mark.parametrize("text", [CHASE, GATHER, TRIAD])
def test_nothing_waits_for_memory_that_the_cache_holds(text: str) -> None:
    assert not [each for each in causes(profile_of(text, run={**LARGE, "peak_memory": "3e7"})) if "memory" in each]


@pytest.mark.parametrize("text", [CHASE, GATHER, TRIAD])
def test_where_the_memory_is_not_known_that_is_a_doubt(text: str) -> None:
    (found,) = (each for each in diagnosed(profile_of(text, run={})).findings if each.cause.startswith("memory-"))
    assert any("cache" in doubt for doubt in found.against)


SMALL = {**LARGE, "peak_memory": "3e7"}


def test_a_loop_without_vectors_is_told_at_its_lines() -> None:
    at = {0x10: 7, 0x18: 8, 0x20: 6}
    bare = app(ROTATED, "main")
    lines = tuple(replace(each, file="a.c", line=at.get(each.offset, 0)) for each in bare.lines)
    rest = inlined("other", line("a.c:30", time=2), at="a.c:28")
    hot = inlined("scale", line("a.c:6", time=6), line("a.c:8", time=2), at="a.c:4")
    profile = build(
        main(hot, rest),
        run=SMALL,
        sampled_code=(replace(bare, lines=lines, parts=tuple(0.8 * part for part in bare.parts)),),
    )
    found = finding(diagnosed(profile), "not-vectorised")
    assert (found.where.function, found.where.line, found.status) == ("scale", 6, "derived")
    assert found.share == pytest.approx(0.8)
    assert statements(diagnosed(profile), "not-vectorised") == [
        "The loop in scale takes 8.00 s of 10.0 s (80.0 %).",
        "The machine code of the loop in scale does 2 operations in an iteration, none of them with a vector, though no iteration needs "
        "another's results and memory is walked with unit stride.",
    ]
    assert "restrict" in found.advice[0]


def test_where_counters_show_waiting_vectors_would_not_help() -> None:
    assert "not-vectorised" in causes(counted(ROTATED, 20e9, run=SMALL))
    assert "not-vectorised" not in causes(counted(ROTATED, 2e9, run=SMALL))


def test_half_of_the_samples_have_to_wait() -> None:
    spread = CHASE.replace("98 14:", "30 14:").replace("4: xor", "4: xor").replace(" 2 1b:", "70 1b:")
    longer = spread.replace("17: sub", "15: imul %r8,%r9\n16: imul %r8,%r9\n17: sub")
    assert "memory-latency" not in causes(profile_of(longer))


def test_a_small_part_of_the_time_is_not_worth_it() -> None:
    assert "memory-latency" not in causes(profile_of(CHASE, share=0.08))


def test_instructions_in_a_cycle_refute_it() -> None:
    assert "memory-latency" in causes(counted(CHASE, 2e9, run=LARGE))
    assert "memory-latency" not in causes(counted(CHASE, 20e9, run=LARGE))


def test_what_else_explains_the_place_goes_first() -> None:
    hot = call("f", libm("exp", time=4), module="/opt/app", time=5)
    profile = build(main(hot, call("g", module="/opt/app", time=1)), run=LARGE, sampled_code=(app(CHASE),))
    assert "expensive-math" in causes(profile)
    assert "memory-latency" not in causes(profile)


def test_what_the_source_says_already_is_not_said_twice() -> None:
    text = "void f(double *a, const double *b, int n)\n{\n  for (int i = 0; i < n; i++)\n    a[i] = 0.5 * b[i];\n}\n"
    hot = function("f", line("a.c:4", time=10), at="a.c:1")
    profile = build(main(hot), read_source=source({"a.c": text}), run=LARGE, sampled_code=(app(TRIAD),))
    assert causes(profile).count("memory-bandwidth") == 1
    assert "source" in finding(diagnosed(profile), "memory-bandwidth").confidence_reason


def test_the_place_is_the_inlined_function_that_has_the_time() -> None:
    hot = call("work", inlined("walk", time=8), module="/opt/app", time=1)
    profile = build(main(hot, call("g", module="/opt/app", time=1)), run=LARGE, sampled_code=(app(CHASE, "work(int)"),))
    assert finding(diagnosed(profile), "memory-latency").where.function == "walk"


def test_code_of_another_file_or_of_tuned_libraries_says_nothing() -> None:
    assert "memory-latency" not in causes(profile_of(CHASE, sampled_code=(replace(app(CHASE), module="liba.so"),)))
    blas = call("f", module="/usr/lib/libopenblas.so.0", time=9)
    profile = build(main(blas), run=LARGE, sampled_code=(replace(app(CHASE), module="libopenblas.so.0"),))
    assert "memory-latency" not in causes(profile)
