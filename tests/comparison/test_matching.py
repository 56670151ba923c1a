"""Trees of two builds laid on each other: values are conserved, and what builds do differently moves no context."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.comparison import matching
from chathpc.comparison.matching import Joint, Part, join, path_of
from chathpc.comparison.run import Run
from chathpc.profile.profile import Profile
from tests.diagnosis.parts import APP, barrier, function, gomp, libc, libm, main, mpi, thread
from tests.profile.build import Node, build, call, entry, inlined, line, loop, placeholder
from tests.profile.strategies import profiles


def joined(before: Profile, after: Profile) -> Joint:
    joint = join([Run(profile, profile.metric("cpu.time")) for profile in (before, after)], 1)
    joint.tree.check()
    return joint


def contexts(*roots: tuple[Node, ...]) -> dict[str, tuple[float, ...]]:
    """`main/solve` → own values of both sides, of contexts that have any."""
    joint = joined(*(build(*side) for side in roots))
    return {
        "/".join(path_of(joint, node)): tuple(joint.own[:, node].tolist())
        for node in range(len(joint.tree))
        if joint.own[:, node].any()
    }


def test_lines_and_loops_belong_to_their_function_wherever_they_are() -> None:
    before = (main(loop("a.c:3", line("a.c:4", function("f", time=1.0), time=2.0))),)
    after = (main(line("a.c:90", function("f", time=4.0), time=8.0), line("a.c:95", function("f", time=16.0))),)
    assert contexts(before, after) == {"<program root>/main": (2, 8), "<program root>/main/f": (1, 20)}


def test_inlined_functions_are_functions() -> None:
    before = (main(function("f", time=1.0)),)
    after = (main(line("a.c:3", inlined("f", line("a.c:9", time=2.0)))),)
    assert contexts(before, after) == {"<program root>/main/f": (1, 2)}


def test_a_function_that_one_side_lacks_moves_nothing_below_it() -> None:
    before = (main(function("wrapper", function("f", time=1.0), time=0.5)),)
    after = (main(function("f", time=2.0), time=0.25),)
    assert contexts(before, after) == {
        "<program root>/main": (0, 0.25),
        "<program root>/main/f": (1, 2),
        "<program root>/main/wrapper": (0.5, 0),
    }


def test_clones_outlined_regions_and_direct_recursion_are_the_function() -> None:
    before = (main(function("f", function("f", function("f", time=1.0), time=1.0), time=1.0)),)
    after = (main(function("f.constprop.0", gomp("GOMP_parallel", function("f._omp_fn.3", time=4.0)))),)
    assert contexts(before, after) == {"<program root>/main/f": (3, 4)}


def test_regions_that_have_a_number_for_a_name_are_part_of_their_function() -> None:
    def region(number: int, seconds: float) -> Node:
        return placeholder(
            "<omp impl task>", function(f".omp_outlined..{number}", function("f", time=seconds), time=seconds)
        )

    found = contexts((main(function("solve", region(3, 1.0))),), (main(function("solve", region(7, 2.0))),))
    assert found == {"<program root>/main/solve": (1, 2), "<program root>/main/solve/f": (1, 2)}


def test_a_runtime_is_one_context_below_its_caller_whatever_it_calls_inside() -> None:
    before = (main(function("f", libc("malloc", libc("_int_malloc", time=1.0), time=1.0), libc("free", time=2.0))),)
    after = (main(function("f", libc("__libc_malloc", time=8.0))),)
    assert contexts(before, after) == {"<program root>/main/f/memory allocation": (4, 8)}


def test_library_functions_that_a_user_knows_stay_apart() -> None:
    before = (main(libm("__exp_fma", time=1.0), libm("__pow_fma", time=2.0), mpi("MPI_Recv", time=4.0)),)
    after = (main(libm("__exp_avx2", time=8.0), mpi("MPI_Recv", time=16.0)),)
    assert contexts(before, after) == {
        "<program root>/main/exp": (1, 8),
        "<program root>/main/pow": (2, 0),
        "<program root>/main/MPI_Recv": (4, 16),
    }


def test_templates_of_the_standard_library_belong_to_the_function_that_uses_them() -> None:
    def vector(*below: Node) -> Node:
        inner = call(
            "std::__fill_a<double*>(double*)",
            *below,
            at="/usr/include/c++/12/bits/stl_algobase.h:9",
            module=APP,
            time=1.0,
        )
        return call(
            "std::vector<double>::resize(unsigned long)",
            inner,
            at="/usr/include/c++/12/bits/stl_vector.h:9",
            module=APP,
        )

    found = contexts((main(vector(libc("malloc", time=2.0))),), (main(libc("malloc", time=4.0), time=8.0),))
    assert found == {
        "<program root>/main": (0, 8),
        "<program root>/main/memory allocation": (2, 4),
        "<program root>/main/std::vector::resize": (1, 0),
    }


def test_threads_without_a_function_of_the_program_count_for_the_thread() -> None:
    found = contexts((main(time=1.0), thread(barrier(time=2.0))), (main(time=1.0),))
    assert found == {"<program root>/main": (1, 1), "waiting in OpenMP": (2, 0)}


@given(profiles(metrics=("cpu.time",)), profiles(metrics=("cpu.time",)))
def test_nothing_is_lost_and_no_path_stands_twice(before: Profile, after: Profile) -> None:
    joint = joined(before, after)
    assert joint.own.sum(axis=1) == pytest.approx(
        [Run(each, each.metric("cpu.time")).total for each in (before, after)]
    )
    siblings = list(zip(joint.tree.parent.tolist(), joint.tree.name.tolist(), joint.part.tolist(), strict=True))
    assert len(set(siblings)) == len(siblings)
    assert joint.part[0] == Part.ROOT
    leaves = np.isin(joint.part, (Part.CALL, Part.LONE))
    assert (joint.tree.end[leaves] == np.flatnonzero(leaves) + 1).all()


@given(profiles(metrics=("cpu.time",)))
def test_a_profile_lies_on_itself(profile: Profile) -> None:
    joint = joined(profile, profile)
    assert (joint.own[0] == joint.own[1]).all()
    assert not (joint.part == Part.LONE).any()
    assert (joint.place[0] == joint.place[1]).all()


@given(st.integers(0, 2**32))
def test_the_order_of_siblings_does_not_matter(seed: int) -> None:
    random = np.random.default_rng(seed)
    children = [function(name, function("deep", time=float(at)), time=1.0) for at, name in enumerate("abcde")]
    shuffled = [children[at] for at in random.permutation(5)]
    joint = joined(build(main(*children)), build(main(*shuffled)))
    assert (joint.own[0] == joint.own[1]).all()


def test_paths_whose_sums_collide_are_told_apart_by_another_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = matching._mixed

    def weak(key: np.ndarray, depth: np.ndarray, seed: int) -> np.ndarray:
        return right(key, depth, seed) % np.uint64(3 if seed < 3 else 2**63)

    monkeypatch.setattr(matching, "_mixed", weak)
    roots = main(*(function(f"f{at}", time=float(at + 1)) for at in range(20)))
    joint = joined(build(roots), build(roots))
    assert sorted(joint.own[0][joint.own[0] > 0].tolist()) == [float(at + 1) for at in range(20)]
    monkeypatch.setattr(matching, "_mixed", lambda key, depth, seed: np.zeros(len(key), dtype=np.uint64))
    with pytest.raises(ValueError, match="same sum"):
        joined(build(roots), build(roots))


def test_trees_deeper_than_any_recursion_limit_are_joined() -> None:
    node: Node = call("g", time=1.0)
    for _ in range(3000):
        node = call("f", call("g", node))
    joint = joined(build(entry("<program root>", node)), build(entry("<program root>", node)))
    assert joint.own.sum(axis=1).tolist() == [1.0, 1.0]
