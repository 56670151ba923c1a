"""The context tree of meta.db, from blocks of records of varying size to preorder columns.

A block holds the children of one context, one record after the other; how long a record is stands in the record. So a
level of the tree is read in rounds: round r reads the r-th record of all blocks of the level at once. Where few blocks
are left, they are followed one record at a time, because a numpy call costs as much as hundreds of records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit.binary import DatabaseFile
from chathpc.adapters.hpctoolkit.structures import (
    CONTEXT_CHILDREN_WORD,
    CONTEXT_ID_WORD,
    CONTEXT_SIZE_WORD,
    CONTEXT_WORDS,
)
from chathpc.profile.build import preorder
from chathpc.profile.tree import Int64Array

Words = NDArray[np.uint64]

#: With fewer blocks than this, following records one by one is faster than numpy rounds (measured: 0.3 µs a record
#: against 20 µs a round).
FEW_BLOCKS = 24


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Context records in preorder: `word` is the index of a record's first 8-byte word in the file (0 for an entry
    point), `parent` and `end` as in CallTree. The first `entries` roots are the entry points."""

    word: Int64Array
    parent: NDArray[np.int32]
    end: NDArray[np.int32]
    entry: NDArray[np.int32]  #: index of the entry point for roots, else −1


class _Walker:
    """Follows child blocks breadth first; a node is known by its number in that order."""

    def __init__(self, file: DatabaseFile, section: int) -> None:
        self.file = file
        offset, size = file.sections[section]
        if offset % 8:
            raise file.damaged("the context tree is not aligned to 8 bytes", offset)
        usable = len(file.data) // 8 * 8
        self.words: Words = file.data[:usable].view("<u8")
        self.sizes = file.data[7::8][CONTEXT_ID_WORD:]  # nFlexWords of a record whose first word has that index
        self.flex = self.sizes.data
        self.first, self.stop = offset // 8, (offset + size) // 8
        # Blocks must not overlap, so there cannot be more records than fit into the section.
        self.limit = size // (8 * CONTEXT_WORDS) + 1
        self.count = 0

    def bounds(self, pointers: Words, sizes: Words) -> tuple[Int64Array, Int64Array]:
        """First and after-last word of child blocks; childless contexts (size 0) may point anywhere."""
        inside = (pointers % 8 == 0) & (sizes % 8 == 0) & (pointers >= self.first * 8) & (pointers <= self.stop * 8)
        inside &= sizes <= (self.stop * 8 - np.minimum(pointers, np.uint64(self.stop * 8)))
        if not bool(inside.all()):
            wrong = int(np.flatnonzero(~inside)[0])
            raise self.file.damaged("a block of child contexts lies outside the context tree", int(pointers[wrong]))
        begin = (pointers // 8).astype(np.int64)
        return begin, begin + (sizes // 8).astype(np.int64)

    def add(self, found: int) -> None:
        self.count += found
        if self.count > self.limit:
            raise self.file.damaged("child contexts overlap or form a cycle", self.first * 8)

    def overrun(self, word: int) -> None:
        raise self.file.damaged("a context reaches beyond the block of its siblings", word * 8)

    def level(self, begin: Int64Array, end: Int64Array, owner: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Records of one level, block by block, and the node that each hangs below."""
        blocks = np.arange(len(begin))
        counts = np.empty(len(begin), dtype=np.int64)
        rounds: list[tuple[Int64Array, Int64Array]] = []
        cursor, stop = begin, end
        while len(cursor) >= FEW_BLOCKS:
            self.add(len(cursor))
            rounds.append((blocks, cursor))
            cursor = self.advance(cursor, stop)
            left = cursor < stop
            counts[blocks[~left]] = len(rounds)
            cursor, stop, blocks = cursor[left], stop[left], blocks[left]
        tails = [self.follow(int(at), int(to)) for at, to in zip(cursor, stop, strict=True)]
        counts[blocks] = np.array([len(tail) for tail in tails], dtype=np.int64) + len(rounds)
        first = np.cumsum(counts) - counts
        word = np.empty(int(counts.sum()), dtype=np.int64)
        for number, (blocks_of_round, words) in enumerate(rounds):
            word[first[blocks_of_round] + number] = words
        for block, tail in zip(blocks.tolist(), tails, strict=True):
            at = int(first[block]) + len(rounds)
            word[at : at + len(tail)] = tail
        return word, np.repeat(owner, counts)

    def advance(self, cursor: Int64Array, stop: Int64Array) -> Int64Array:
        # Sizes are read before the record is known to lie in its block; a section is far from the end of the file (the
        # other sections, the footer), and a block ends inside its section, so the read itself stays inside the file.
        after = cursor + self.sizes[np.minimum(cursor, len(self.sizes) - 1)]
        after += CONTEXT_WORDS
        if bool((after > stop).any()):
            self.overrun(int(cursor[np.flatnonzero(after > stop)[0]]))
        return after

    def follow(self, at: int, stop: int) -> list[int]:
        """The records of one block, one by one."""
        found = []
        flex = self.flex
        while at < stop:
            if at + CONTEXT_WORDS > stop:
                self.overrun(at)
            found.append(at)
            at += CONTEXT_WORDS + flex[at]
        if at > stop:
            self.overrun(found[-1])
        self.add(len(found))
        return found

    def narrow(
        self, frontier: list[tuple[int, int, int]], number: int
    ) -> tuple[list[int], list[int], list[tuple[int, int, int]]]:
        """Levels of few blocks, record by record, until the tree widens or ends.

        A deep chain has one record a level: going by levels would cost two dozen numpy calls for each.
        """
        words, owners = [], []
        numbers = self.words.data
        while frontier and len(frontier) < FEW_BLOCKS:
            following = []
            for begin, stop, owner in frontier:
                for word in self.follow(begin, stop):
                    size = numbers[word + CONTEXT_SIZE_WORD]
                    if size:
                        pointer = numbers[word + CONTEXT_CHILDREN_WORD]
                        to = pointer + size
                        if pointer % 8 or size % 8 or pointer < self.first * 8 or to > self.stop * 8:
                            raise self.file.damaged("a block of child contexts lies outside the context tree", pointer)
                        following.append((pointer // 8, to // 8, number))
                    words.append(word)
                    owners.append(owner)
                    number += 1
            frontier = following
        return words, owners, frontier


def walk(file: DatabaseFile, section: int, pointers: Words, sizes: Words) -> Records:
    """Read the tree below the entry points, whose child blocks are at `pointers` with `sizes` bytes.

    AdapterError if a block or record reaches beyond its bounds, or if blocks overlap (a cycle or a shared subtree).
    """
    walker = _Walker(file, section)
    entries = len(pointers)
    words = [np.zeros(entries, dtype=np.int64)]
    owners = [np.full(entries, -1, dtype=np.int64)]
    number = entries
    parents = np.flatnonzero(sizes > 0)
    begin, end = walker.bounds(pointers[parents], sizes[parents])
    while len(begin):
        if len(begin) < FEW_BLOCKS:
            frontier = list(zip(begin.tolist(), end.tolist(), parents.tolist(), strict=True))
            level_words, level_owners, frontier = walker.narrow(frontier, number)
            words.append(np.array(level_words, dtype=np.int64))
            owners.append(np.array(level_owners, dtype=np.int64))
            number += len(level_words)
            begin, end, parents = np.array(frontier, dtype=np.int64).reshape(-1, 3).T
        else:
            word, owner = walker.level(begin, end, parents)
            words.append(word)
            owners.append(owner)
            children = walker.words[word + CONTEXT_SIZE_WORD]
            with_children = np.flatnonzero(children > 0)
            pointer = walker.words[word[with_children] + CONTEXT_CHILDREN_WORD]
            parents = number + with_children
            number += len(word)
            begin, end = walker.bounds(pointer, children[with_children])
    return _preorder(np.concatenate(words), np.concatenate(owners), entries)


def _preorder(word: Int64Array, parent: Int64Array, entries: int) -> Records:
    """From breadth-first order (parents first, siblings side by side) to preorder."""
    n = len(word)
    position, size = preorder(parent)
    in_order = np.empty(n, dtype=np.int64)
    in_order[position] = word
    above, end = np.empty((2, n), dtype=np.int32)
    above[position] = np.where(parent >= 0, position[parent], -1)
    end[position] = position + size
    entry = np.full(n, -1, dtype=np.int32)
    entry[position[:entries]] = np.arange(entries)
    return Records(in_order, above, end, entry)
