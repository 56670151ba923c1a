"""The launches of our OpenCL kernels: each kernel with too few work-groups for the cores, about as many, and many, and with data that
fit the second cache, the third, and none.

Sizes come from the kernel's bytes: of the launches with many groups the arrays together hold about 0.2, 4 and 60 MB, fewer where the
work grows faster than the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chathpc.predict.opencl import Argument, Local, NDRange

HERE = Path(__file__).parent
# Kernels that were written when the model was finished (fresh.cl): nothing was fitted to them or chosen by them.
FRESH = (
    "bytes_product", "median", "resample", "grey", "eliminate", "bell_curve", "triangle", "smooth_local", "components", "reactions",
)  # fmt: skip

Arguments = tuple[Argument, ...]
u32, i32, f32 = np.uint32, np.int32, np.float32


@dataclass(frozen=True, slots=True)
class Case:
    """A launch by its name; `regime` is few, about or many."""

    name: str
    regime: str
    launch: NDRange


def _floats(seed: int, *shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).random(shape, np.float32)


def _doubles(seed: int, *shape: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).random(shape)


def _integers(seed: int, high: int, *shape: int) -> NDArray[np.int32]:
    return np.random.default_rng(seed).integers(0, high, shape, np.int32)


def _bytes(seed: int, *shape: int) -> NDArray[np.int8]:
    return np.random.default_rng(seed).integers(-100, 100, shape, np.int8)


def _zeros(*shape: int) -> NDArray[np.float32]:
    return np.zeros(shape, np.float32)


def _csr(rows: int) -> Arguments:
    """A matrix with 1 to 31 values a row, in columns near the diagonal and far from it."""
    random = np.random.default_rng(5)
    first = np.concatenate([[0], np.cumsum(random.integers(1, 32, rows))]).astype(np.int32)
    count = int(first[-1])
    row = np.repeat(np.arange(rows), np.diff(first))
    near = (row + random.integers(-40, 40, count)) % rows
    column = np.where(random.random(count) < 0.5, near, random.integers(0, rows, count)).astype(np.int32)
    return (first, column, _floats(1, count), _floats(2, rows), _zeros(rows), i32(rows))


def _listed(n: int) -> Arguments:
    return (_floats(1, n, 4) * f32(4), _integers(1, n, 32, n), _zeros(n, 4), i32(n), i32(32), f32(4))


def _edges(n: int) -> Arguments:
    label = np.arange(n, dtype=np.int32)
    return (_integers(1, n, n), _integers(2, n, n), label, label, i32(n))


def _crc_table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1).astype(np.uint32)
    return table


# Kernels of one dimension: file, kernel, its arguments for a number of work-items, and its launches as (work-groups, work-items of a group).
LINE = [(1, 64), (1, 1024), (2, 256), (3, 1024), (64, 128), (1024, 256), (20000, 256)]
MIDDLE = [(1, 128), (1, 1024), (2, 512), (4, 256), (48, 128), (1024, 64), (4096, 256)]
WIDER = [*MIDDLE[:-1], (1000, 256)]
LINES: list[tuple[str, str, Callable[[int], Arguments], list[tuple[int, int]]]] = [
    ("stream.cl", "triad", lambda n: (_floats(1, n), _floats(2, n), _zeros(n), f32(0.5), u32(n)), LINE),
    ("stream.cl", "strided_copy", lambda n: (_floats(1, n * 16), _zeros(n), u32(16), u32(n)), [*LINE[:-1], (4000, 256)]),
    ("stream.cl", "scale4", lambda n: (_floats(1, n, 4), _zeros(n, 4), f32(0.5)), [*LINE[:-1], (8000, 256)]),
    ("stream.cl", "polynomial", lambda n: (_doubles(1, n), np.zeros(n), _doubles(2, 65), i32(64)), MIDDLE),
    ("sparse.cl", "csr_product", _csr, MIDDLE),
    ("sparse.cl", "ell_product", lambda n: (_integers(1, n, 20, n), _floats(1, 20, n), _floats(2, n), _zeros(n), i32(n), i32(20)), [*MIDDLE[:-1], (2000, 256)]),
    ("sparse.cl", "gather", lambda n: (_integers(1, n, n), _floats(1, n), _zeros(n)), LINE),
    ("sparse.cl", "lower_bound", lambda n: (np.sort(_integers(1, 1 << 30, 16 * n)), _integers(2, 1 << 30, n), np.zeros(n, np.int32), i32(16 * n)), WIDER),
    ("sums.cl", "stretches", lambda n: (_doubles(1, n, 64), np.zeros(n), i32(64)), [*MIDDLE[:-1], (1000, 128)]),
    ("bodies.cl", "neighbours", _listed, [*MIDDLE[:-1], (1000, 128)]),
    ("bodies.cl", "nearest_centre", lambda n: (_floats(1, 16, n), _floats(2, 10, 16), np.zeros(n, np.int32), i32(n), i32(10), i32(16)), WIDER),
    ("counting.cl", "bitonic", lambda n: (_integers(1, 1 << 30, 2 * n).view(np.uint32), u32(64), u32(128)), LINE),
    ("counting.cl", "hash_words", lambda n: (_integers(1, 1 << 30, n).view(np.uint32), np.zeros(n, np.uint32), i32(16)), MIDDLE),
    ("counting.cl", "crc", lambda n: (_integers(1, 256, n, 256).astype(np.uint8), np.zeros(n, np.uint32), _crc_table(), i32(256)), [*MIDDLE[:-2], (200, 256)]),
    ("counting.cl", "find_word", lambda n: (_integers(1, 4, n + 8).astype(np.uint8), np.zeros(8, np.uint8), np.zeros(1, np.uint32), i32(8)), LINE),
    ("numbers.cl", "black_scholes", lambda n: (_floats(1, n) + 1, _floats(2, n) + 1, _floats(3, n) + 1, _zeros(n), _zeros(n), f32(0.02), f32(0.3)), MIDDLE),
    ("numbers.cl", "circle", lambda n: (np.zeros(n, np.uint32), i32(200)), MIDDLE[:-1]),
    ("numbers.cl", "fft_step", lambda n: (_floats(1, 2 * n, 2), _zeros(2 * n, 2), i32(n), i32(64)), [*MIDDLE[:-1], (8000, 256)]),
    ("numbers.cl", "cube_roots", lambda n: (_doubles(1, n) + 1, np.zeros(n), i32(12)), MIDDLE[:-1]),
    ("fresh.cl", "bytes_product", lambda n: (_bytes(1, n, 128), _bytes(2, 128), np.zeros(n, np.int32), i32(128)), WIDER),
    ("fresh.cl", "grey", lambda n: (_bytes(1, n, 4).view(np.uint8), np.zeros(n, np.uint8)), LINE),
    ("fresh.cl", "bell_curve", lambda n: (_zeros(n, 2), u32(7)), WIDER),
    ("fresh.cl", "triangle", lambda n: (_floats(1, n), _zeros(n)), [(1, 64), (1, 1024), (2, 512), (4, 256), (48, 128), (256, 64)]),
    ("fresh.cl", "components", _edges, [*MIDDLE[:-1], (4000, 256)]),
    ("fresh.cl", "reactions", lambda n: (_doubles(1, n, 4), i32(20), np.float64(1e-3)), WIDER),
]  # fmt: skip


def _case(
    file: str, kernel: str, items: tuple[int, ...], local: tuple[int, ...], arguments: Arguments, note: object = ""
) -> Case:
    launch = NDRange(HERE / file, kernel, items, local, arguments)
    regime = "few" if launch.groups < 2 else "about" if launch.groups <= 4 else "many"
    return Case(
        f"{kernel}-{launch.groups}x{'x'.join(str(n) for n in local)}{'-' if note else ''}{note}", regime, launch
    )


def _matrices() -> Iterator[Case]:
    for n, wide, m, local in [
        (256, 64, 1, (64, 1)),
        (512, 512, 1, (512, 1)),
        (512, 256, 2, (256, 1)),
        (128, 128, 128, (16, 16)),
        (384, 384, 384, (64, 4)),
    ]:
        yield _case(
            "matrix.cl", "product", (wide, m), local, (_floats(1, m, n), _floats(2, n, n), _zeros(m, n), i32(n)), n
        )
    for n, m, wide in [(256, 16, 16), (512, 16, 32), (1024, 32, 32), (128, 128, 128), (512, 64, 512)]:
        yield _case(
            "matrix.cl",
            "product_tiled",
            (wide, m),
            (16, 16),
            (_floats(1, m, n), _floats(2, n, n), _zeros(m, n), i32(n)),
            n,
        )
    for nx, ny, local in [
        (64, 16, (64, 16)),
        (256, 4, (256, 2)),
        (64, 64, (32, 32)),
        (256, 128, (16, 16)),
        (1024, 1024, (32, 8)),
        (2048, 2048, (16, 16)),
        (4096, 1024, (64, 4)),
    ]:
        yield _case("matrix.cl", "transpose", (nx, ny), local, (_floats(1, ny, nx), _zeros(nx, ny), i32(nx), i32(ny)))
    for nx, ny in [(16, 16), (32, 16), (32, 32), (128, 128), (1024, 1024), (2048, 2048)]:
        yield _case(
            "matrix.cl", "transpose_tiled", (nx, ny), (16, 16), (_floats(1, ny, nx), _zeros(nx, ny), i32(nx), i32(ny))
        )
    for n, rows, wide in [
        (256, 64, 64),
        (4096, 256, 256),
        (1024, 256, 128),
        (512, 1024, 256),
        (512, 2048, 64),
        (2048, 8192, 64),
    ]:
        yield _case(
            "matrix.cl",
            "row_times_vector",
            (rows,),
            (wide,),
            (_floats(1, rows, n), _floats(2, n), _zeros(rows), i32(n)),
            n,
        )
    for n, local in [
        (32, (32, 32)),
        (64, (64, 32)),
        (64, (32, 32)),
        (256, (16, 16)),
        (1024, (64, 4)),
        (4096, (256, 1)),
    ]:
        yield _case("matrix.cl", "paths", (n, n), local, (_integers(1, 1000, n, n), i32(n), i32(n // 2)))


def _grids() -> Iterator[Case]:
    for nx, ny, local in [
        (128, 4, (128, 4)),
        (1024, 3, (1024, 3)),
        (512, 4, (512, 2)),
        (256, 256, (32, 8)),
        (1024, 1024, (64, 4)),
        (4096, 2048, (64, 4)),
    ]:
        yield _case(
            "grid.cl", "heat", (nx, ny), local, (_floats(1, ny, nx), _zeros(ny, nx), i32(nx), i32(ny), f32(0.1))
        )
    for nx, ny, nz, grouped in [
        (32, 8, 4, (32, 8, 4)),
        (64, 8, 8, (64, 8, 4)),
        (64, 16, 16, (64, 16, 4)),
        (64, 32, 16, (32, 4, 1)),
        (128, 64, 64, (32, 8, 1)),
        (256, 128, 96, (64, 4, 1)),
    ]:
        yield _case(
            "grid.cl",
            "wave",
            (nx, ny, nz),
            grouped,
            (_doubles(1, nz, ny, nx), _doubles(2, nz, ny, nx), np.zeros((nz, ny, nx)), i32(nx), i32(ny), i32(nz)),
        )
    for nx, ny, local in [
        (64, 4, (64, 4)),
        (256, 8, (256, 8)),
        (256, 8, (256, 4)),
        (128, 128, (16, 16)),
        (1024, 512, (64, 4)),
        (2048, 2048, (128, 2)),
    ]:
        yield _case(
            "grid.cl", "blur", (nx, ny), local, (_floats(1, ny, nx), _zeros(ny, nx), _floats(2, 25), i32(nx), i32(ny))
        )
    for nx, ny, local in [
        (64, 8, (64, 8)),
        (512, 4, (512, 4)),
        (512, 8, (512, 4)),
        (256, 128, (32, 8)),
        (1024, 1024, (64, 4)),
        (4096, 2048, (128, 2)),
    ]:
        yield _case(
            "grid.cl",
            "life",
            (nx, ny),
            local,
            (_integers(1, 2, ny, nx).astype(np.uint8), np.zeros((ny, nx), np.uint8), i32(nx), i32(ny)),
        )
    for nx, ny, limit, local in [
        (64, 4, 200, (64, 4)),
        (64, 16, 1000, (64, 16)),
        (128, 16, 200, (128, 8)),
        (128, 128, 200, (16, 16)),
        (512, 512, 200, (64, 4)),
        (512, 256, 1000, (32, 8)),
    ]:
        yield _case(
            "numbers.cl",
            "mandelbrot",
            (nx, ny),
            local,
            (np.zeros((ny, nx), np.int32), i32(nx), i32(ny), i32(limit)),
            limit,
        )
    for nx, ny, count, local in [
        (64, 4, 32, (64, 4)),
        (64, 16, 256, (64, 16)),
        (128, 16, 64, (128, 8)),
        (128, 128, 32, (16, 16)),
        (512, 256, 64, (64, 4)),
    ]:
        sphere = np.concatenate([_floats(1, count, 2) * 4 - 2, _floats(2, count, 1) * 4 + 2, _floats(3, count, 1)], 1)
        yield _case(
            "bodies.cl",
            "spheres",
            (nx, ny),
            local,
            (np.ascontiguousarray(sphere), _zeros(ny, nx), i32(count), i32(nx), i32(ny)),
            count,
        )


def _fresh() -> Iterator[Case]:
    for nx, ny, local in [
        (64, 8, (64, 8)),
        (256, 8, (256, 4)),
        (256, 128, (32, 8)),
        (1024, 1024, (64, 4)),
        (2048, 1024, (128, 2)),
    ]:
        image = _integers(1, 256, ny, nx).astype(np.uint8)
        yield _case("fresh.cl", "median", (nx, ny), local, (image, np.zeros((ny, nx), np.uint8), i32(nx), i32(ny)))
    for nx, ny, local in [
        (64, 8, (64, 8)),
        (256, 8, (256, 4)),
        (256, 128, (32, 8)),
        (1024, 1024, (64, 4)),
        (2048, 2048, (16, 16)),
    ]:
        yield _case(
            "fresh.cl", "resample", (nx, ny), local, (_floats(1, ny, nx), _zeros(ny, nx), i32(nx), i32(ny), f32(0.3))
        )
    for n, local in [(32, (32, 32)), (64, (64, 32)), (64, (32, 32)), (256, (16, 16)), (1024, (64, 4)), (2048, (32, 8))]:
        yield _case("fresh.cl", "eliminate", (n, n), local, (_doubles(1, n, n) + 1, i32(n), i32(n // 4)))
    for nx, ny in [(16, 16), (32, 16), (32, 32), (256, 256), (1024, 1024), (2048, 2048)]:
        yield _case(
            "fresh.cl", "smooth_local", (nx, ny), (16, 16), (_floats(1, ny, nx), _zeros(ny, nx), i32(nx), i32(ny))
        )


def _collective() -> Iterator[Case]:
    for n, groups, local in [
        (1 << 16, 1, 64),
        (1 << 20, 1, 256),
        (1 << 18, 2, 128),
        (1 << 20, 4, 256),
        (1 << 20, 64, 256),
        (1 << 23, 256, 128),
        (1 << 23, 4096, 64),
    ]:
        yield _case(
            "sums.cl",
            "block_sums",
            (groups * local,),
            (local,),
            (_floats(1, n), _zeros(groups), Local(4 * local), u32(n)),
            n,
        )
    for groups, local in [(1, 64), (1, 1024), (2, 512), (4, 256), (64, 128), (2048, 256)]:
        n = groups * local
        yield _case(
            "sums.cl",
            "scan_local",
            (n,),
            (local,),
            (_integers(1, 9, n).view(u32), np.zeros(n, u32), Local(4 * local), Local(4 * local)),
        )
    for n, groups, local in [
        (1024, 1, 64),
        (8192, 1, 256),
        (4096, 2, 128),
        (8192, 4, 64),
        (2048, 32, 64),
        (2048, 128, 64),
    ]:
        items = groups * local
        yield _case(
            "bodies.cl",
            "forces",
            (items,),
            (local,),
            (_floats(1, max(n, items), 4), _zeros(items, 4), i32(n), f32(0.01)),
            n,
        )
    for kernel in ("histogram", "histogram_local"):
        for n, groups, local in [
            (1 << 14, 1, 64),
            (1 << 18, 1, 256),
            (1 << 18, 2, 128),
            (1 << 20, 4, 64),
            (1 << 20, 128, 64),
            (1 << 22, 4096, 64),
        ]:
            yield _case(
                "counting.cl",
                kernel,
                (groups * local,),
                (local,),
                (_integers(1, 256, n).view(u32), np.zeros(256, u32), u32(n)),
                n,
            )


def cases() -> Iterator[Case]:
    """All launches; the arrays are made as they are asked for."""
    for file, kernel, make, sizes in LINES:
        for groups, local in sizes:
            yield _case(file, kernel, (groups * local,), (local,), make(groups * local))
    yield from _matrices()
    yield from _grids()
    yield from _collective()
    yield from _fresh()
