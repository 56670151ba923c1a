import pytest

from chathpc.predict.warp_chain import NOMINAL, chain
from chathpc.profile.machine_code import CodeLine


def line(text: str, stall: int, sets: int = 7, reads: int = 7, waits: int = 0) -> CodeLine:
    return CodeLine(0, text, control=stall | sets << 5 | reads << 8 | waits << 11)


def test_two_loads_in_flight_are_waited_for_once() -> None:
    # As nvcc writes it: both loads, then the stores that wait for a barrier each.
    code = [
        line("LDG.E R2, [R4.64]", 4, sets=2),
        line("LDG.E R3, [R6.64]", 4, sets=3),
        line("STG.E [R8.64], R2", 4, waits=1 << 2),
        line("STG.E [R10.64], R3", 1, waits=1 << 3),
    ]
    found = chain((each, 10.0) for each in code)
    assert found is not None
    assert found.cycles == 10 * (4 + 4 + 4 + 1)
    assert found.waits["global"] == pytest.approx(10 * (NOMINAL["global"] - 8) / NOMINAL["global"])


def test_a_chain_of_loads_is_waited_for_each_time() -> None:
    code = [line("LDG.E R2, [R2.64]", 2, sets=0, waits=1) for _ in range(5)]
    found = chain((each, 1.0) for each in code)
    assert found is not None
    assert found.waits["global"] == pytest.approx(4 * (NOMINAL["global"] - 2) / NOMINAL["global"])


def test_a_loop_waits_once_for_what_was_loaded_before_it() -> None:
    before = (line("LDG.E R2, [R4.64]", 2, sets=0), 3.0)
    loop = [(line("FFMA R5, R2, R2, R5", 4, waits=1), 3000.0), (line("BRA `(.L_1)", 5), 3000.0)]
    found = chain([before, *loop])
    assert found is not None
    assert found.waits["global"] == pytest.approx(3 * (NOMINAL["global"] - 2) / NOMINAL["global"])


def test_a_loop_waits_each_time_for_what_its_end_loads() -> None:
    # As compilers write it: loaded before the loop, used at its begin, and loaded again at its end.
    before = (line("LDG.E R2, [R4.64]", 2, sets=0), 3.0)
    loop = [
        (line("FFMA R5, R2, R2, R5", 4, waits=1), 3000.0),
        (line("@P0 LDG.E R2, [R4.64]", 2, sets=0), 3000.0),
        (line("@P0 BRA `(.L_1)", 5), 3000.0),
    ]
    after = [(line("STG.E [R6.64], R5", 4), 3.0), (line("EXIT", 5), 3.0)]
    found = chain([before, *loop, *after])
    assert found is not None
    each = [(NOMINAL["global"] - waited) / NOMINAL["global"] for waited in (2, 7)]
    assert found.waits["global"] == pytest.approx(3 * each[0] + 2997 * each[1])


def test_work_between_load_and_use_hides_the_wait() -> None:
    code = [
        line("LDS R2, [R4]", 2, sets=0),
        *(line("FFMA R5, R6, R7, R5", 4) for _ in range(10)),
        line("FADD R2, R2, R5", 4, waits=1),
    ]
    found = chain((each, 1.0) for each in code)
    assert found is not None
    assert found.waits == {}


def test_instructions_that_nobody_reached_do_not_count() -> None:
    found = chain(
        [(line("MOV R1, R2", 4), 3.0), (line("LDG.E R2, [R4.64]", 4, sets=0), 0.0), (line("EXIT", 5, waits=1), 3.0)]
    )
    assert found is not None
    assert (found.cycles, found.waits) == (27.0, {})


def test_code_without_control_bits_has_no_chain() -> None:
    assert chain([(CodeLine(0, "EXIT"), 1.0)]) is None
