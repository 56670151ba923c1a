"""Who is blamed for stalls: against edges worked out by hand from source and SASS, and against the compiler's own scoreboards."""

from __future__ import annotations

from dataclasses import replace

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.sass.blame import EARLIER, WAITED, Link, blame
from chathpc.diagnosis.sass.flow import program
from chathpc.diagnosis.sass.opcodes import Result
from chathpc.profile.machine_code import MachineCode
from tests.diagnosis.sass.listings import ARCHITECTURES, SCHEDULED, kernel, listing
from tests.diagnosis.sass.test_flow import graph_of, programs

#: Architecture, kernel, stall reason, offset of the stalled instruction, offsets of those to blame: read off code/*.sass.
BY_HAND = [
    # gather: x[j] needs j, the addition needs x[j]; blockIdx and threadIdx are read from special registers.
    ("sm_75", "gather", "memory", 0x90, {0x80}),
    ("sm_75", "gather", "memory", 0xC0, {0xA0}),
    ("sm_75", "gather", "short-scoreboard", 0x30, {0x10, 0x20}),
    ("sm_75", "gather", "dependency", 0x40, {0x30}),
    ("sm_75", "gather", "dependency", 0x50, {0x40}),
    # i (0x30) has been waited for by the comparison at 0x40: only the factor 4 is new.
    ("sm_75", "gather", "dependency", 0x70, {0x60}),
    ("sm_75", "gather", "dependency", 0xD0, {0xB0, 0xC0}),
    ("sm_80", "gather", "memory", 0xA0, {0x90}),
    ("sm_80", "gather", "memory", 0xD0, {0xB0}),
    ("sm_90", "gather", "memory", 0xE0, {0xD0}),
    ("sm_90", "gather", "memory", 0x110, {0xF0}),
    ("sm_100", "gather", "memory", 0xE0, {0xD0}),
    ("sm_100", "gather", "memory", 0x110, {0xF0}),
    ("sm_100", "gather", "short-scoreboard", 0x50, {0x10, 0x20, 0x40}),
    ("sm_100", "gather", "short-scoreboard", 0xC0, {0x80}),
    # block_sum: shared memory needs the load; the addition needs both reads of shared memory.
    ("sm_75", "block_sum", "memory", 0x90, {0x60}),
    ("sm_75", "block_sum", "short-scoreboard", 0xD0, {0xB0, 0xC0}),
    ("sm_75", "block_sum", "dependency", 0xE0, {0xD0}),
    ("sm_75", "block_sum", "barrier", 0xB0, {0xA0}),
    ("sm_75", "block_sum", "barrier", 0x100, {0xF0}),
    ("sm_80", "block_sum", "memory", 0xA0, {0x70}),
    # Reads of shared memory return in order: the compiler sets a barrier on the second only.
    ("sm_80", "block_sum", "short-scoreboard", 0xE0, {0xD0}),
    ("sm_90", "block_sum", "memory", 0xE0, {0x70}),
    ("sm_100", "block_sum", "memory", 0xE0, {0x70}),
    ("sm_100", "block_sum", "short-scoreboard", 0x120, {0x100, 0x110}),
    ("sm_100", "block_sum", "barrier", 0x100, {0xF0}),
    # chain: each product needs the one before, the first of a round that of the round before.
    ("sm_75", "chain", "short-scoreboard", 0x110, {0xE0}),
    ("sm_75", "chain", "short-scoreboard", 0xE0, {0x130}),
    ("sm_75", "chain", "memory", 0xE0, {0x40}),
    # The store is reached from the end of either loop, or with no round at all.
    ("sm_75", "chain", "short-scoreboard", 0x1A0, {0x130, 0x170}),
    ("sm_75", "chain", "memory", 0x1A0, {0x40}),
    # On sm_90 double precision has a fixed latency.
    ("sm_90", "chain", "dependency", 0x120, {0xF0}),
    # either: one of two loads, by the condition; then the special function.
    ("sm_75", "either", "memory", 0xF0, {0xB0}),
    ("sm_75", "either", "memory", 0x110, {0xC0}),
    ("sm_75", "either", "dependency", 0x120, {0x100, 0x110}),
    ("sm_75", "either", "dependency", 0xB0, {0x90}),
    ("sm_75", "either", "short-scoreboard", 0x150, {0x140}),
    ("sm_80", "either", "memory", 0x100, {0xC0}),
    ("sm_80", "either", "memory", 0x120, {0xD0}),
    ("sm_80", "either", "short-scoreboard", 0x160, {0x150}),
    ("sm_90", "either", "memory", 0x120, {0xE0}),
    ("sm_90", "either", "memory", 0x140, {0x100}),
    ("sm_90", "either", "short-scoreboard", 0x180, {0x170}),
    ("sm_100", "either", "memory", 0x120, {0xE0}),
    ("sm_100", "either", "memory", 0x140, {0x100}),
    ("sm_100", "either", "short-scoreboard", 0x180, {0x170}),
]


@pytest.mark.parametrize(("architecture", "name", "reason", "stalled", "causes"), BY_HAND)
def test_edges_worked_out_by_hand(architecture: str, name: str, reason: str, stalled: int, causes: set[int]) -> None:
    code = kernel(architecture, name)
    at = next(i for i, line in enumerate(code.lines) if line.offset == stalled)
    found = blame(program(code), {at: 10.0}, reason)
    assert {code.lines[each.cause].offset for each in found} == causes
    assert all(each.link != Link.ITSELF for each in found)
    assert sum(each.samples for each in found) == pytest.approx(10.0)


def unscheduled(code: MachineCode) -> MachineCode:
    """The code as a report shows it: without scheduling bits."""
    return replace(code, lines=tuple(replace(line, control=-1) for line in code.lines))


@pytest.mark.parametrize("architecture", SCHEDULED)
@pytest.mark.parametrize("name", ["gather", "block_sum"])
@pytest.mark.parametrize("reason", ["memory", "short-scoreboard"])
def test_registers_tell_what_the_compilers_scoreboards_tell(architecture: str, name: str, reason: str) -> None:
    code = kernel(architecture, name)
    exact, plain = program(code), program(unscheduled(code))
    compared = 0
    for at, one in enumerate(exact.instructions):
        assert one.control is not None
        wait = [each.cause for each in blame(exact, {at: 1.0}, reason) if each.link == Link.RESULT]
        use = [each.cause for each in blame(plain, {at: 1.0}, reason) if each.link == Link.RESULT]
        sets = [cause for cause in use if (other := exact.instructions[cause].control) and other.written >= 0]
        assert sets == wait
        compared += len(wait)
    assert compared >= (2 if reason == "memory" and name == "gather" else 1)


def test_several_causes_share_by_inverse_distance_and_issues() -> None:
    found = program(listing("LDG.E R2, [R8.64]\nLDG.E R3, [R8.64]\nMOV R9, R9\nFADD R4, R2, R3"))
    shares = {each.cause: each.samples for each in blame(found, {3: 50.0}, "memory")}
    assert shares == pytest.approx({0: 50 * (1 / 3) / (1 / 3 + 1 / 2), 1: 50 * (1 / 2) / (1 / 3 + 1 / 2)})
    shares = {each.cause: each.samples for each in blame(found, {3: 50.0}, "memory", [300.0, 100.0, 1.0, 1.0])}
    assert shares == pytest.approx({0: 50 * 100 / 150, 1: 50 * 50 / 150})
    # What was never issued is no cause, unless nothing else is left.
    assert [each.cause for each in blame(found, {3: 50.0}, "memory", [0.0, 100.0, 1.0, 1.0])] == [1]
    assert [each.cause for each in blame(found, {3: 50.0}, "memory", [0.0, 0.0, 0.0, 1.0])] == [0, 1]


def causes(text: str, reason: str, at: int, waited: frozenset[Result] | None = None) -> set[tuple[int, Link]]:
    return {(each.cause, each.link) for each in blame(program(listing(text)), {at: 1.0}, reason, None, waited)}


def test_only_the_right_kind_of_instruction_is_blamed() -> None:
    text = "LDG.E R2, [R8.64]\nLDS R3, [R9]\nFADD R4, R5, R5\nFFMA R6, R2, R3, R4"
    assert causes(text, "memory", 3) == {(0, Link.RESULT)}
    assert causes(text, "short-scoreboard", 3) == {(1, Link.RESULT)}
    assert causes(text, "dependency", 3) == {(2, Link.RESULT)}
    assert causes(text, "dependency", 3, EARLIER) == {(1, Link.RESULT), (2, Link.RESULT)}
    for reason in ("pipe-busy", "instruction-fetch", "memory-throttle", "constant", "branch", "unheard-of"):
        assert causes(text, reason, 3) == {(3, Link.ITSELF)}


def test_a_result_that_was_waited_for_on_the_way_is_no_cause() -> None:
    assert causes("LDG.E R2, [R8.64]\nFADD R4, R2, R2\nFADD R5, R2, R2", "memory", 2) == {(2, Link.ITSELF)}
    # Around the reader there is a way on which nobody waited.
    assert causes("LDG.E R2, [R8.64]\n@P0 BRA 0x30\nFADD R4, R2, R2\nFADD R5, R2, R2", "memory", 3) == {
        (0, Link.RESULT)
    }
    # The other half of a wide result has been waited for together with the first; a second cause remains.
    text = "LDG.E.64 R2, [R8.64]\nLDG.E R5, [R8.64]\nFADD R4, R2, R2\nFADD R6, R3, R5"
    assert causes(text, "memory", 3) == {(1, Link.RESULT)}


def test_a_value_that_was_written_anew_is_no_cause() -> None:
    assert causes("LDG.E R2, [R8.64]\nMOV R2, R7\nFADD R4, R2, R2", "memory", 2) == {(2, Link.ITSELF)}
    # Under a condition the old value may be there still; under the opposite of one's own it is another thread's.
    assert causes("LDG.E R2, [R8.64]\n@P0 MOV R2, R7\nFADD R4, R2, R2", "memory", 2) == {(0, Link.RESULT)}
    assert causes("@!P0 LDG.E R2, [R8.64]\n@P0 FADD R4, R2, R2", "memory", 1) == {(1, Link.ITSELF)}
    assert causes("LDG.E R2, [R8.64]\n@P0 MOV R2, R7\n@P0 FADD R4, R2, R2", "memory", 2) == {(2, Link.ITSELF)}


def test_a_register_that_is_still_being_read_or_written_blocks_its_next_writer() -> None:
    assert causes("STG.E [R8.64], R2\nMOV R2, R7", "memory", 1) == {(0, Link.OPERANDS)}
    assert causes("LDG.E R2, [R8.64]\nMOV R2, R7", "memory", 1) == {(0, Link.OPERANDS)}
    assert causes("STG.E [R8.64], R2\nMOV R3, R7", "memory", 1) == {(1, Link.ITSELF)}


def test_results_that_are_too_far_away_are_there() -> None:
    far = "FADD R2, R3, R3\n" + "NOP\n" * 39 + "FADD R4, R2, R2"
    assert causes(far, "dependency", 40) == {(0, Link.RESULT)}
    assert causes(far.replace("NOP\n", "NOP\nNOP\n", 1), "dependency", 41) == {(41, Link.ITSELF)}


def test_barriers_fences_and_stores_are_what_later_instructions_wait_for() -> None:
    text = "STG.E [R8.64], R2\nBAR.SYNC 0x0\nMEMBAR.SC.GPU\nLDS R2, [R4]\nEXIT\nNOP"
    assert causes(text, "barrier", 2) == {(1, Link.ORDER)}
    assert causes(text, "barrier", 1) == {(1, Link.ITSELF)}
    assert causes(text, "memory-fence", 3) == {(2, Link.ORDER)}
    assert causes(text, "drain", 4) == {(0, Link.ORDER)}
    assert causes(text, "drain", 5) == {(0, Link.ORDER)}  # the address behind EXIT
    assert causes(text, "drain", 3) == {(3, Link.ITSELF)}  # only the end waits for stores
    assert causes("BAR.SYNC 0x0\nBAR.SYNC 0x0", "barrier", 1) == {(0, Link.ORDER)}
    assert causes("MOV R1, R2\nMOV R2, R3", "barrier", 1) == {(1, Link.ITSELF)}


def test_behind_a_wait_for_copies_these_are_blamed_without_the_newest_groups() -> None:
    group = "LDGSTS.E.128 [R{0}], [R8.64]\nLDGDEPBAR\n"
    text = group.format(1) + group.format(2) + "DEPBAR.LE SB0, {0}\nBAR.SYNC 0x0"
    assert causes(text.format("0x1"), "memory", 5) == {(0, Link.RESULT)}
    assert causes(text.format("0x0"), "memory", 5) == {(0, Link.RESULT), (2, Link.RESULT)}
    assert causes(text.format("0x0"), "memory", 4) == {(0, Link.RESULT), (2, Link.RESULT)}
    # A loop has fewer ends of groups than groups.
    assert causes(text.format("0x7"), "memory", 5) == {(0, Link.RESULT), (2, Link.RESULT)}
    assert causes(text.format("0x0"), "short-scoreboard", 5) == {(5, Link.ITSELF)}


def test_what_is_outside_the_code_or_has_no_samples_is_left_out() -> None:
    found = program(listing("MOV R1, R2"))
    assert blame(found, {5: 1.0, -1: 1.0, 0: 0.0}, "memory") == []


@given(programs(), st.data())
def test_samples_are_conserved_and_blame_goes_to_what_can_come_before(
    made: tuple[str, list[int]], data: st.DataObject
) -> None:
    found = program(listing(made[0]))
    count = len(found.instructions)
    reach = networkx.transitive_closure(graph_of(*made), reflexive=False)
    stalled = data.draw(st.dictionaries(st.integers(0, count - 1), st.floats(0.5, 1e6), max_size=10))
    reason = data.draw(st.sampled_from([*WAITED, "pipe-busy"]))
    issued = data.draw(st.none() | st.lists(st.floats(0, 1e9), min_size=count, max_size=count))
    result = blame(found, stalled, reason, issued)
    for at, samples in stalled.items():
        assert sum(each.samples for each in result if each.stalled == at) == pytest.approx(samples)
    for each in result:
        assert each.samples >= 0
        assert each.link == Link.ITSELF if each.distance == 0 else reach.has_edge(each.cause, each.stalled)


def test_causes_that_were_issued_next_to_never_still_share_the_samples() -> None:
    found = program(kernel("sm_75", "gather"))
    rarely = [5e-324] * len(found.instructions)  # the smallest number there is; any part of it is 0
    stalled = dict.fromkeys(range(len(found.instructions)), 1.0)
    result = blame(found, stalled, "memory", rarely)
    assert sum(each.samples for each in result) == pytest.approx(len(stalled))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("reason", list(WAITED))
def test_samples_of_whole_kernels_are_conserved(architecture: str, reason: str) -> None:
    for name in ("gather", "block_sum", "chain", "either"):
        found = program(kernel(architecture, name))
        stalled = {i: float(i + 1) for i in range(len(found.instructions))}
        assert sum(each.samples for each in blame(found, stalled, reason)) == pytest.approx(sum(stalled.values()))
