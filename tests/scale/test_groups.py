"""Groups of locations: as many as are clearly apart, with the nodes that are theirs alone."""

from __future__ import annotations

import numpy as np

from chathpc.scale.groups import Members, groups_of


def test_ranks_that_are_alike_are_one_group() -> None:
    even = np.random.default_rng(1).normal(10, 0.5, (500, 8))
    _, groups = groups_of(Members(even, [str(each) for each in range(8)], str, np.zeros(500)))
    assert [each.members for each in groups] == [500]
    uniform = np.random.default_rng(2).uniform(5, 10, (500, 1))
    assert len(groups_of(Members(uniform, ["a"], str, np.zeros(500)))[1]) == 1


def test_a_group_that_fills_nodes_names_them() -> None:
    times = np.repeat([[1.0, 9.0], [2.0, 5.0], [1.0, 9.0]], 8, axis=0) + np.random.default_rng(3).normal(
        0, 0.01, (24, 2)
    )
    member, groups = groups_of(Members(times, ["a", "b"], str, np.repeat([0, 1, 2], 8)))
    assert [(each.members, each.nodes, each.place) for each in groups] == [(16, [0, 2], "b"), (8, [1], "b")]
    assert 8 <= int(groups[1].representative) < 16
    assert (member[:8] == member[16:]).all()
