"""The flow of control through SASS, and what reaches an instruction backwards along it."""

from __future__ import annotations

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.sass.flow import Program, loads_behind, program, work_before
from tests.diagnosis.sass.listings import kernel, listing


def edges(found: Program) -> set[tuple[int, int]]:
    """Which instruction follows which."""
    inside = {
        (i, i + 1)
        for block in range(len(found.first) - 1)
        for i in range(found.first[block], found.first[block + 1] - 1)
    }
    return inside | {
        (found.first[before + 1] - 1, found.first[block]) for block, many in enumerate(found.before) for before in many
    }


def test_straight_code_is_one_block() -> None:
    found = program(listing("MOV R1, R2\nMOV R2, R3\nEXIT"))
    assert edges(found) == {(0, 1), (1, 2)}
    assert list(found.block) == [0, 0, 0]


def test_a_branch_with_a_condition_goes_on_and_one_without_does_not() -> None:
    assert edges(program(listing("@P0 BRA 0x30\nMOV R1, R2\nBRA 0x40\nMOV R2, R3\nEXIT"))) == {
        (0, 3), (0, 1), (1, 2), (2, 4), (3, 4),
    }  # fmt: skip
    # On Blackwell the condition is an operand.
    assert edges(program(listing("BRA.U !UP0, `(.L_1)\nMOV R1, R2\n.L_1:\nEXIT"))) == {(0, 1), (0, 2), (1, 2)}


def test_a_predicated_exit_goes_on_for_other_threads() -> None:
    assert edges(program(listing("@P0 EXIT\nMOV R1, R2\nEXIT\nMOV R3, R4"))) == {(0, 1), (1, 2)}


def test_a_loop_comes_back() -> None:
    assert edges(program(listing(".L_1:\nMOV R1, R2\n@P0 BRA `(.L_1)\nEXIT"))) == {(0, 1), (1, 0), (1, 2)}


def test_threads_that_converge_go_on_where_their_region_is_joined() -> None:
    text = "BSSY B0, 0x50\n@P0 BRA 0x30\nBSYNC B0\nMOV R1, R2\nBSYNC B0\nEXIT"
    assert edges(program(listing(text))) >= {(1, 3), (1, 2), (2, 5), (4, 5)}


def test_a_call_goes_into_the_function_and_on_behind_it() -> None:
    text = "CALL.REL.NOINC 0x30\nMOV R1, R2\nEXIT\nMOV R4, R5\nRET.REL.NODEC R20 0x0"
    assert edges(program(listing(text))) == {(0, 3), (0, 1), (1, 2), (3, 4)}


def test_a_branch_by_a_table_goes_where_the_text_says() -> None:
    text = 'BRX R2 -0x450 (*"BRANCH_TARGETS .L_1,.L_2"*)\n.L_1:\nMOV R1, R2\nEXIT\n.L_2:\nEXIT'
    assert edges(program(listing(text))) == {(0, 1), (0, 3), (1, 2)}


def test_targets_that_are_not_there_are_no_edges() -> None:
    assert edges(program(listing("BRA 0x123\nBRA `(.L_9)\n@P0 BRA 0xffffffffffffffff\nEXIT"))) == {(2, 3)}


def test_no_code_at_all_is_a_program() -> None:
    assert program(listing("")).instructions == ()


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90", "sm_100"])
def test_the_loops_of_chain_are_found(architecture: str) -> None:
    found = program(kernel(architecture, "chain"))
    opcodes = [one.opcode for one in found.instructions]
    end = opcodes.index("EXIT")
    # The source has one loop; it is unrolled four times with a rest of up to three rounds.
    cycles = [part for part in networkx.strongly_connected_components(networkx.DiGraph(edges(found))) if len(part) > 1]
    assert sorted(sum(opcodes[i] == "DFMA" for i in part if i < end) for part in cycles) == [1, 4]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, list[int]]:
    """Text of up to 40 instructions with branches, and for each the instruction that it may branch to (−1: none)."""
    count = draw(st.integers(1, 40))
    rows, targets = [], []
    for _ in range(count):
        kind = draw(st.sampled_from(["MOV"] * 4 + ["LDG"] * 2 + ["BRA", "@P0 BRA", "EXIT", "@P1 EXIT"]))
        target = draw(st.integers(0, count - 1)) if kind.endswith("BRA") else -1
        register, other = draw(st.integers(0, 5)), draw(st.integers(0, 5))
        texts = {"MOV": f"MOV R{register}, R{other}", "LDG": f"LDG R{register}, [R{other}]"}
        rows.append(texts.get(kind, kind if target < 0 else f"{kind} {16 * target:#x}"))
        targets.append(target)
    return "\n".join(rows), targets


def graph_of(text: str, targets: list[int]) -> networkx.DiGraph:
    """The same flow, written down instruction by instruction."""
    rows = text.splitlines()
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(rows)))
    for i, row in enumerate(rows):
        if targets[i] >= 0:
            graph.add_edge(i, targets[i])
        if not row.startswith(("BRA", "EXIT")) and i + 1 < len(rows):
            graph.add_edge(i, i + 1)
    return graph


@given(programs())
def test_flow_is_that_of_the_instructions_one_by_one(made: tuple[str, list[int]]) -> None:
    assert edges(program(listing(made[0]))) == set(graph_of(*made).edges)


@given(programs(), st.data())
def test_distances_are_those_of_the_shortest_way(made: tuple[str, list[int]], data: st.DataObject) -> None:
    found, graph = program(listing(made[0])), graph_of(*made)
    count = len(found.instructions)
    start = data.draw(st.integers(0, count - 1))
    events = sorted(data.draw(st.sets(st.integers(0, count - 1), max_size=6)))
    reach = data.draw(st.integers(1, 60))
    stops = set(data.draw(st.lists(st.sampled_from(events), max_size=3))) if events else set()
    # Independent: shortest ways in the graph in which nothing passes an event that ends them.
    way: dict[int, int] = {}
    todo = [(before, 1) for before in graph.predecessors(start)]
    seen = set()
    while todo:
        at, distance = todo.pop(0)
        if at in seen or distance > reach:
            continue
        seen.add(at)
        if at in events:
            way[at] = distance
        if at not in stops:
            todo += [(before, distance + 1) for before in graph.predecessors(at)]
    assert found.backwards(start, events, lambda event: event in stops, reach) == way


def test_loads_behind_an_address_are_found_through_arithmetic() -> None:
    code = program(
        listing("LDG.E R2, [R4.64]\nIMAD.WIDE R6, R2, 0x4, R8\nIADD3 R6, P0, R6, R10, RZ\nLDG.E R3, [R6.64]")
    )
    assert loads_behind(code, 3) == {0: 3}
    assert loads_behind(code, 0) == {}


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90", "sm_100"])
def test_the_second_load_of_gather_hangs_on_the_first(architecture: str) -> None:
    found = program(kernel(architecture, "gather"))
    first, second = (i for i, one in enumerate(found.instructions) if one.opcode == "LDG")
    assert set(loads_behind(found, second)) == {first}


def test_work_before_a_barrier_is_what_lies_between_it_and_the_last() -> None:
    text = (
        "MOV R1, R2\nBAR.SYNC 0x0\nMOV R2, R3\n@P0 BRA 0x50\nMOV R4, R5\nMOV R5, R6\nBAR.SYNC 0x0\n@P1 BRA 0x10\nEXIT"
    )
    found = program(listing(text))
    assert work_before(found, 6) == {2, 3, 4, 5, 6}
    assert work_before(found, 1) == {0, 1, 7}
