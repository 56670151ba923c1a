"""The launches of our OpenCL kernels: each kernel with too few work-groups for the cores, about as many, and many, and with data that
fit the second cache, the third, and none.

Sizes come from the kernel's bytes: `many` takes numbers of elements whose arrays together hold about 0.25, 4 and 64 MB, fewer where the work
grows faster than the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chathpc.predict.opencl import Argument, Local, NDRange

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Case:
    """A launch by its name; `regime` is few, about or many."""

    name: str
    regime: str
    launch: NDRange


def _floats(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32)


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


u32, i32, f32 = np.uint32, np.int32, np.float32


def triad(n: int) -> tuple[Argument, ...]:
    return (_floats(1, n), _floats(2, n), _zeros(n), f32(0.5), u32(n))


def product(n: int, m: int) -> tuple[Argument, ...]:
    return (_floats(1, m, n), _floats(2, n, n), _zeros(m, n), i32(n))


def heat(nx: int, ny: int) -> tuple[Argument, ...]:
    return (_floats(1, ny, nx), _zeros(ny, nx), i32(nx), i32(ny), f32(0.1))


def block_sums(n: int, groups: int, local: int) -> tuple[Argument, ...]:
    return (_floats(1, n), _zeros(groups), Local(4 * local), u32(n))


def forces(n: int, items: int) -> tuple[Argument, ...]:
    return (_floats(1, max(n, items), 4), _zeros(items, 4), i32(n), f32(0.01))


def histogram(n: int) -> tuple[Argument, ...]:
    value = np.random.default_rng(1).integers(0, 256, n, np.uint32)
    return (value, np.zeros(256, np.uint32), u32(n))


def _line(file: str, kernel: str, make: Callable[..., tuple[Argument, ...]], sizes: list[tuple[int, int]]) -> Iterator[Case]:
    """Launches of one dimension, by (work-groups, work-items of a group); the data grow with the work-items."""
    for groups, local in sizes:
        yield _case(file, kernel, (groups * local,), (local,), make(groups * local))


def _case(file: str, kernel: str, items: tuple[int, ...], local: tuple[int, ...], arguments: tuple[Argument, ...], note: str = "") -> Case:
    launch = NDRange(HERE / file, kernel, items, local, arguments)
    regime = "few" if launch.groups < 2 else "about" if launch.groups <= 4 else "many"
    return Case(f"{kernel}-{launch.groups}x{'x'.join(str(n) for n in local)}{note}", regime, launch)


LINE = [(1, 64), (1, 1024), (2, 256), (3, 1024), (64, 128), (1024, 256), (20000, 256)]


def cases() -> Iterator[Case]:
    """All launches; the arrays are made as they are asked for."""
    yield from _line("stream.cl", "triad", triad, LINE)
    for n, m, local in [(256, 1, (64, 1)), (512, 1, (512, 1)), (512, 2, (256, 1)), (128, 128, (16, 16)), (384, 384, (64, 4))]:
        items = (n if m > 2 else local[0], m)
        yield _case("matrix.cl", "product", items, local, product(n, m), f"-{n}")
    for n, m, wide in [(256, 16, 16), (512, 16, 32), (1024, 32, 32), (256, 256, 256), (512, 512, 512)]:
        yield _case("matrix.cl", "product_tiled", (wide, m), (16, 16), product(n, m), f"-{n}")
    for nx, ny, local in [(128, 4, (128, 4)), (1024, 3, (1024, 3)), (512, 4, (512, 2)), (256, 256, (32, 8)), (1024, 1024, (64, 4)), (4096, 2048, (64, 4))]:
        yield _case("grid.cl", "heat", (nx, ny), local, heat(nx, ny))
    for n, groups, local in [(1 << 16, 1, 64), (1 << 20, 1, 256), (1 << 18, 2, 128), (1 << 20, 4, 256), (1 << 20, 64, 256), (1 << 24, 256, 128), (1 << 24, 4096, 64)]:
        yield _case("sums.cl", "block_sums", (groups * local,), (local,), block_sums(n, groups, local), f"-{n}")
    for n, groups, local in [(1024, 1, 64), (8192, 1, 256), (4096, 2, 128), (8192, 4, 64), (2048, 32, 64), (8192, 64, 128)]:
        yield _case("bodies.cl", "forces", (groups * local,), (local,), forces(n, groups * local), f"-{n}")
    for n, groups, local in [(1 << 14, 1, 64), (1 << 18, 1, 256), (1 << 18, 2, 128), (1 << 20, 4, 64), (1 << 20, 128, 64), (1 << 23, 4096, 64)]:
        yield _case("counting.cl", "histogram", (groups * local,), (local,), histogram(n), f"-{n}")
