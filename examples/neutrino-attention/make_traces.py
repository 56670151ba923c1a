"""Traces of attention computed in three ways, as Neutrino would record them: generated from the algorithms, not measured.

    python make_traces.py [FOLDER]        writes FOLDER/naive, FOLDER/flash-v1 and FOLDER/flash-v2 (default: traces)

- naive: three kernels; the N × N matrix of scores goes through global memory four times.
- flash-v1 (Dao et al. 2022, algorithm 1): the outer loop runs over blocks of K and V, the inner one over blocks of Q; the
  output is read and written again in each outer step, and one block of threads works for each head.
- flash-v2 (Dao 2023): the outer loop runs over blocks of Q, each in a block of threads of its own; the output is written once.

A thread moves 16 bytes at a time. Time passes by a fixed number of cycles for each access and for the arithmetic of a tile, so
that the shapes are right, not the seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from neutrino_trace import BLOCK_SCHED, DMAT, GMEM_BYTES, Launch, write_trace

TOKENS, HEAD, TILE, HEADS = 256, 64, 64, 2
THREADS, MULTIPROCESSORS = 128, 4
VECTOR, ELEMENT = 16, 2
CYCLES_PER_ACCESS, CYCLES_PER_TILE = 20, 400
ROW = HEAD * ELEMENT
#: Start of each array; room for all heads between them.
Q, K, V, OUT, S, P = (0x7F00_0000_0000 + number * 0x0100_0000 for number in range(6))

#: One step of a block of threads: addresses that its threads access together (16 bytes each), and cycles after them.
Step = tuple[np.ndarray, int]


def rows(base: int, head: int, first: int, count: int, width: int = ROW) -> np.ndarray:
    """Addresses of the 16-byte pieces of some rows of an array of one head."""
    start = base + head * TOKENS * width + first * width
    return np.arange(start, start + count * width, VECTOR, dtype=np.uint64)


def tile_of_scores(base: int, head: int, i: int, j: int) -> np.ndarray:
    """Addresses of the pieces of tile (i, j) of the N × N matrix."""
    width = TOKENS * ELEMENT
    lines = np.arange(TILE) + i * TILE
    pieces = np.arange(j * TILE * ELEMENT, (j + 1) * TILE * ELEMENT, VECTOR)
    return (base + head * TOKENS * width + lines[:, None] * width + pieces[None, :]).ravel().astype(np.uint64)


def naive() -> list[tuple[str, int, Iterator[tuple[int, list[Step]]]]]:
    """(kernel, blocks, (block, its steps)) for the three kernels."""
    tiles = TOKENS // TILE

    def scores() -> Iterator[tuple[int, list[Step]]]:
        for number in range(HEADS * tiles * tiles):
            head, (i, j) = number // tiles**2, divmod(number % tiles**2, tiles)
            load = np.concatenate([rows(Q, head, i * TILE, TILE), rows(K, head, j * TILE, TILE)])
            yield number, [(load, CYCLES_PER_TILE), (tile_of_scores(S, head, i, j), 0)]

    def softmax() -> Iterator[tuple[int, list[Step]]]:
        for number in range(HEADS * tiles):
            head, i = divmod(number, tiles)
            yield (
                number,
                [(np.concatenate([tile_of_scores(base, head, i, j) for j in range(tiles)]), 0) for base in (S, P)],
            )

    def values() -> Iterator[tuple[int, list[Step]]]:
        for number in range(HEADS * tiles):
            head, i = divmod(number, tiles)
            steps = [
                (np.concatenate([tile_of_scores(P, head, i, j), rows(V, head, j * TILE, TILE)]), CYCLES_PER_TILE)
                for j in range(tiles)
            ]
            yield number, [*steps, (rows(OUT, head, i * TILE, TILE), 0)]

    return [
        ("attention_scores", HEADS * tiles * tiles, scores()),
        ("softmax_rows", HEADS * tiles, softmax()),
        ("weighted_values", HEADS * tiles, values()),
    ]


def flash_v1() -> list[tuple[str, int, Iterator[tuple[int, list[Step]]]]]:
    """One block of threads a head; O goes to global memory and back in every outer step."""
    tiles = TOKENS // TILE

    def blocks() -> Iterator[tuple[int, list[Step]]]:
        for head in range(HEADS):
            steps: list[Step] = []
            for j in range(tiles):
                steps.append((np.concatenate([rows(K, head, j * TILE, TILE), rows(V, head, j * TILE, TILE)]), 0))
                for i in range(tiles):
                    steps.append(
                        (
                            np.concatenate([rows(Q, head, i * TILE, TILE), rows(OUT, head, i * TILE, TILE)]),
                            2 * CYCLES_PER_TILE,
                        )
                    )
                    steps.append((rows(OUT, head, i * TILE, TILE), 0))
            yield head, steps

    return [("flash_attention_v1", HEADS, blocks())]


def flash_v2() -> list[tuple[str, int, Iterator[tuple[int, list[Step]]]]]:
    """One block of threads for each tile of Q; O is written once."""
    tiles = TOKENS // TILE

    def blocks() -> Iterator[tuple[int, list[Step]]]:
        for number in range(HEADS * tiles):
            head, i = divmod(number, tiles)
            steps: list[Step] = [(rows(Q, head, i * TILE, TILE), 0)]
            steps += [
                (np.concatenate([rows(K, head, j * TILE, TILE), rows(V, head, j * TILE, TILE)]), 2 * CYCLES_PER_TILE)
                for j in range(tiles)
            ]
            yield number, [*steps, (rows(OUT, head, i * TILE, TILE), 0)]

    return [("flash_attention_v2", HEADS * tiles, blocks())]


def launch(kernel: str, blocks: int, work: Iterator[tuple[int, list[Step]]]) -> Launch:
    """Run the blocks on the multiprocessors, the next free one first, and record what the probes would."""
    free = [1_000] * MULTIPROCESSORS  # clocks do not start at zero
    accesses: list[list[list[tuple[int, int]]]] = []
    schedule = np.zeros((blocks * THREADS // 32, 1), dtype=BLOCK_SCHED.record)
    moved = np.zeros((blocks * THREADS, 1), dtype=GMEM_BYTES.record)
    for number, steps in work:
        unit = int(np.argmin(free))
        begin = clock = free[unit]
        threads: list[list[tuple[int, int]]] = [[] for _ in range(THREADS)]
        for addresses, cycles in steps:
            for position in range(0, len(addresses), THREADS):
                for thread, address in enumerate(addresses[position : position + THREADS].tolist()):
                    threads[thread].append((clock - begin + 1, address))
                clock += CYCLES_PER_ACCESS
            clock += cycles
        free[unit] = clock
        accesses.append(threads)
        warps = slice(number * THREADS // 32, (number + 1) * THREADS // 32)
        schedule[warps, 0] = (begin, clock - begin, unit)
        moved["sync_bytes"][number * THREADS : (number + 1) * THREADS, 0] = [VECTOR * len(one) for one in threads]
    most = max(len(thread) for block in accesses for thread in block)
    touched = np.zeros((blocks * THREADS, most), dtype=DMAT.record)
    for number, block in enumerate(accesses):
        for thread, pairs in enumerate(block):
            if pairs:
                touched[number * THREADS + thread, : len(pairs)] = (
                    pairs  # the clock of an access starts with its thread
                )
    seconds = (max(free) - 1_000) / 1.4e9
    return Launch(kernel, (blocks, 1, 1), (THREADS, 1, 1), [touched, schedule, moved], milliseconds=seconds * 1e3)


VARIANTS = {"naive": naive, "flash-v1": flash_v1, "flash-v2": flash_v2}


def main(folder: Path) -> None:
    """Write the three traces."""
    for name, variant in VARIANTS.items():
        write_trace(folder / name, [DMAT, BLOCK_SCHED, GMEM_BYTES], [launch(*kernel) for kernel in variant()])
        print(folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "traces"))
