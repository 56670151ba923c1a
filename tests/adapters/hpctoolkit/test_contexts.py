"""Blocks of context records to preorder: against a reader that follows one record after the other."""

from __future__ import annotations

import struct
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.hpctoolkit.binary import DatabaseFile
from chathpc.adapters.hpctoolkit.contexts import FEW_BLOCKS, Records, walk
from chathpc.errors import AdapterError

#: The context tree's section among those of meta.db.
SECTION = 3
HEADER = 0x90


@dataclass(slots=True)
class Layout:
    """A section of context records: `parent` of each (−1: below one of `entries` entry points, in turn), and where it stands.

    `flex` is the number of words behind each record's fixed ones, `gap` the words before each block of siblings.
    """

    parent: list[int]
    flex: list[int]
    gap: list[int]
    order: list[int]  #: order of the blocks in the section, by number of their owner
    entries: int = 1
    words: list[int] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=dict)
    blocks: dict[int, tuple[int, int]] = field(default_factory=dict)

    def write(self) -> None:
        """Lay out the records; owners −1, −2, … are the entry points."""
        children: dict[int, list[int]] = {}
        for node, above in enumerate(self.parent):
            owner = above if above >= 0 else -1 - node % self.entries
            children.setdefault(owner, []).append(node)
        at = HEADER // 8
        for owner in sorted(children, key=lambda owner: (self.order[owner], owner)):
            at += self.gap[owner]
            first = at
            for node in children[owner]:
                self.place[node] = at
                at += 4 + self.flex[node]
            self.blocks[owner] = (8 * first, 8 * (at - first))
        self.words = [0xEEEE_EEEE_EEEE_EEEE] * at
        for node in range(len(self.parent)):
            # A childless context may point anywhere: size 0 decides.
            pointer, size = self.blocks.get(node, (0xDEAD_BEEF, 0))
            here = self.place[node]
            self.words[here : here + 4] = [size, pointer, node | self.flex[node] << 56, 0]

    def walk(self) -> Records:
        if not self.words:
            self.write()
        body = struct.pack(f"<{len(self.words)}Q", *self.words)[HEADER:]
        sections = [(0, 0)] * SECTION + [(len(body), HEADER)] + [(0, 0)] * (7 - SECTION)
        head = b"HPCTOOLKITmeta\x04\x00" + b"".join(struct.pack("<QQ", *pair) for pair in sections)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "meta.db"
            path.write_bytes(head + body + b"_meta.db")
            roots = [self.blocks.get(-1 - number, (12345, 0)) for number in range(self.entries)]
            pointers, sizes = np.array(roots, dtype=np.uint64).T
            return walk(DatabaseFile(path), SECTION, np.ascontiguousarray(pointers), np.ascontiguousarray(sizes))

    def one_by_one(self) -> tuple[list[int], list[int], list[int]]:
        """Word, parent and end of each record in preorder, as a person would read the format description."""
        word: list[int] = []
        parent: list[int] = []
        end: list[int] = []
        for number in range(self.entries):
            stack: list[tuple[int, int, int]] = []
            word.append(0)
            parent.append(-1)
            end.append(0)
            pointer, size = self.blocks.get(-1 - number, (0, 0))
            stack.append((pointer // 8, (pointer + size) // 8, len(word) - 1))
            while stack:
                at, stop, owner = stack.pop()
                if at >= stop:
                    end[owner] = len(word)
                    continue
                stack.append((at + 4 + (self.words[at + 2] >> 56), stop, owner))
                word.append(at)
                parent.append(owner)
                end.append(0)
                below, children = self.words[at + 1], self.words[at]
                stack.append((below // 8, (below + children) // 8, len(word) - 1))
        return word, parent, end


def layout(parent: list[int], seed: int = 0, *, entries: int = 1, largest_flex: int = 5) -> Layout:
    """Random sizes, gaps and order of blocks, except that the array is wrapped for owners −1, −2, …"""
    random = np.random.default_rng(seed)
    n = len(parent) + entries
    return Layout(
        parent,
        random.integers(0, largest_flex + 1, len(parent)).tolist(),
        random.integers(0, 3, n).tolist(),
        random.permutation(n).tolist(),
        entries,
    )


def chain(length: int) -> list[int]:
    return list(range(-1, length - 1))


def level_sizes(*sizes: int) -> list[int]:
    """Levels of given sizes, each node below one of the level above, in turn."""
    parent, above = [-1] * sizes[0], list(range(sizes[0]))
    for size in sizes[1:]:
        parent += [above[number % len(above)] for number in range(size)]
        above = list(range(len(parent) - size, len(parent)))
    return parent


def check(one: Layout) -> Records:
    records = one.walk()
    word, parent, end = one.one_by_one()
    assert records.word.tolist() == word
    assert records.parent.tolist() == parent
    assert records.end.tolist() == end
    assert records.entry[records.entry >= 0].tolist() == list(range(one.entries))
    assert [parent[node] for node in np.flatnonzero(records.entry >= 0)] == [-1] * one.entries
    return records


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Trees of up to some hundred nodes: any shape between a chain and a star, in any layout."""
    n = draw(st.integers(0, 400))
    near = draw(st.sampled_from([1, 2, 10, 60, 400]))  # parents are taken from so many nodes before
    entries = draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    parent = [int(random.integers(max(-1, node - near), node)) for node in range(n)]
    return layout(parent, draw(st.integers(0, 99)), entries=entries, largest_flex=draw(st.sampled_from([0, 7, 251])))


@settings(max_examples=80, deadline=None)
@given(one=layouts())
def test_any_layout_is_read_as_by_following_one_record_after_the_other(one: Layout) -> None:
    check(one)


@pytest.mark.parametrize(
    "parent",
    [
        [],
        [-1],
        chain(3000),
        [-1] * 3000,
        level_sizes(1, FEW_BLOCKS - 1, FEW_BLOCKS - 1),
        level_sizes(1, FEW_BLOCKS, FEW_BLOCKS),
        level_sizes(1, FEW_BLOCKS + 1, 200, 3, 300, 300, 2, 1),
        level_sizes(2, 100, 5000),
        [*chain(500), *([499] * 100), *range(500, 600), *chain(300)[1:]],
    ],
    ids=["empty", "one", "deep", "wide", "few", "just many", "in and out", "two levels", "mixed"],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_narrow_wide_and_deep_trees(parent: list[int], seed: int) -> None:
    assert len(check(layout(parent, seed)).word) == len(parent) + 1


def test_a_block_of_very_different_records_below_many_others() -> None:
    # Block sizes differ by far, so that rounds end at different times and the longest block is followed to its end.
    parent = level_sizes(1, 100) + [1] * 500 + [2] * 70 + [3]
    check(layout(parent, 5, largest_flex=251))


def test_entry_points_without_children_are_leaves() -> None:
    records = check(layout([-1, 0], entries=3))
    assert records.parent.tolist() == [-1, 0, 1, -1, -1]
    assert records.end.tolist() == [3, 3, 3, 4, 5]


# -- damage ------------------------------------------------------------------------------------------------

NARROW = level_sizes(1, 3, 5)
WIDE = level_sizes(1, 60, 120, 120)
each_width = pytest.mark.parametrize("parent", [NARROW, WIDE], ids=["narrow", "wide"])


def damaged(
    parent: list[int], node: int, *, size: int | None = None, pointer: int | None = None, flex: int = -1
) -> Layout:
    one = layout(parent, 3)
    one.write()
    at = one.place[node]
    if size is not None:
        one.words[at] = size
    if pointer is not None:
        one.words[at + 1] = pointer
    if flex >= 0:
        one.words[at + 2] = node | flex << 56
    return one


def refused(one: Layout, words: str) -> AdapterError:
    with pytest.raises(AdapterError, match=words) as caught:
        one.walk()
    assert caught.value.offset is not None
    return caught.value


@each_width
@pytest.mark.parametrize(
    ("size", "pointer"),
    [
        (None, 8),
        (None, 1 << 40),
        (None, (1 << 64) - 8),
        (1 << 40, None),
        ((1 << 64) - 8, None),
        (None, HEADER + 4),
        (36, HEADER),
    ],
)
def test_a_block_outside_the_section_is_refused(parent: list[int], size: int | None, pointer: int | None) -> None:
    for node in (0, 1, parent[-1]):  # all have children; one in each level
        refused(damaged(parent, node, size=size, pointer=pointer), "outside the context tree")


@each_width
def test_a_record_that_reaches_beyond_its_block_is_refused_where_it_stands(parent: list[int]) -> None:
    for owner in (-1, 0, parent[-1]):
        last = max(node for node, above in enumerate(parent) if above == owner)
        one = damaged(parent, last, flex=255)
        assert refused(one, "beyond the block of its siblings").offset == 8 * one.place[last]


def test_a_block_that_ends_inside_a_record_is_refused() -> None:
    for words in (1, 3):
        one = damaged(NARROW, 0, size=8 * words)
        refused(one, "beyond the block of its siblings")


@each_width
def test_a_context_that_is_its_own_child_is_refused(parent: list[int]) -> None:
    one = layout(parent, 3)
    one.write()
    pointer, size = one.blocks[0]
    child = next(node for node, above in enumerate(parent) if above == 0)
    at = one.place[child]
    one.words[at], one.words[at + 1] = size, pointer
    refused(one, "overlap or form a cycle")


@pytest.mark.parametrize("sharing", [FEW_BLOCKS - 1, FEW_BLOCKS + 1])
def test_a_subtree_that_many_share_is_refused(sharing: int) -> None:
    # One block of 200 contexts below each of some contexts: far more records than fit into the section.
    one = layout([-1] + [0] * sharing + [1] * 200, 3, largest_flex=0)
    one.write()
    pointer, size = one.blocks[1]
    for node in range(1, sharing + 1):
        one.words[one.place[node]], one.words[one.place[node] + 1] = size, pointer
    refused(one, "overlap or form a cycle")


def test_a_section_that_is_not_aligned_is_refused(tmp_path: Path) -> None:
    sections = [(0, 0)] * SECTION + [(64, HEADER + 4)] + [(0, 0)] * (7 - SECTION)
    head = b"HPCTOOLKITmeta\x04\x00" + b"".join(struct.pack("<QQ", *pair) for pair in sections)
    (tmp_path / "meta.db").write_bytes(head + bytes(80) + b"_meta.db")
    with pytest.raises(AdapterError, match="not aligned"):
        walk(DatabaseFile(tmp_path / "meta.db"), SECTION, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
