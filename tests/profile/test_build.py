"""Trees put in preorder: wide ones level by level, deep ones node by node, with the same result."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile import build
from chathpc.profile.build import TreeBuilder, depths, ends, preorder
from chathpc.profile.tree import IntArray, NodeKind


@st.composite
def parents(draw: st.DrawFn) -> IntArray:
    """Parents that stand before their children, in any order."""
    size = draw(st.integers(0, 60))
    return np.array([draw(st.integers(-1, node - 1)) for node in range(size)], dtype=np.int32)


def walked(parent: IntArray) -> list[int]:
    children: dict[int, list[int]] = {}
    for node, above in enumerate(parent.tolist()):
        children.setdefault(above, []).append(node)
    order: list[int] = []
    pending = children.get(-1, [])[::-1]
    while pending:
        node = pending.pop()
        order.append(node)
        pending += children.get(node, [])[::-1]
    return order


@given(parents(), st.sampled_from([0, 40, 10**6]))
def test_both_ways_give_the_order_of_a_plain_walk(parent: IntArray, level: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "_LEVEL", level)
        order = preorder(parent)
        assert order.tolist() == walked(parent)
        place = np.argsort(order)
        moved = np.where(parent[order] >= 0, place[parent[order]], -1).astype(np.int32)
        stop = ends(moved)
    depth = depths(moved)
    for node in range(len(moved)):
        after = [other for other in range(node + 1, len(moved)) if depth[other] <= depth[node]]
        assert stop[node] == (after[0] if after else len(moved))


def test_a_chain_of_a_hundred_thousand_frames_takes_less_than_two_seconds() -> None:
    builder = TreeBuilder()
    began = time.process_time()
    builder.path(str(level % 7) for level in range(100_000))
    tree, _, _ = builder.finish(())
    assert time.process_time() - began < 2
    assert int(tree.depth.max()) == 99_999
    assert tree.has(NodeKind.FUNCTION)
