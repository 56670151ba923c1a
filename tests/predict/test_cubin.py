"""What a cubin says of kernels and variables, and that a damaged one ends in an AdapterError."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from chathpc.errors import AdapterError
from chathpc.predict import cubin
from chathpc.predict.compilers import ToolkitMissingError, find_toolkit

SOURCE = """
struct Four { float x, y, z, w; };
__constant__ int table[3] = {1, 2, 3};
__device__ double limit = 2.5;
__device__ double *where = &limit;
__device__ char room[100];
extern "C" __global__ void __launch_bounds__(96) first(int *a, char b, Four c, double d)
{
    __shared__ int part[50];
    part[threadIdx.x] = table[b];
    __syncthreads();
    a[threadIdx.x] = part[49 - threadIdx.x] + (int)(*where * d + c.w) + room[b];
}
extern "C" __global__ void second() {}
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        toolkit = find_toolkit()
    except ToolkitMissingError:
        pytest.skip("NVIDIA's compiler is not there")
    folder = tmp_path_factory.mktemp("cubin")
    (folder / "main.cu").write_text(SOURCE)
    subprocess.run([str(toolkit.nvcc), "-arch=sm_86", "-cubin", "main.cu", "-o", "main.cubin"], cwd=folder, check=True)
    return folder / "main.cubin"


@pytest.mark.proprietary
def test_kernels_and_variables_are_those_of_the_source(path: Path) -> None:
    found = cubin.read(path)
    first, second = found.kernels["first"], found.kernels["second"]
    assert first.parameters == ((0, 8), (8, 1), (12, 16), (32, 8))
    assert (first.base, first.shared, first.max_threads) == (0x160, 200, 96)
    assert 8 <= first.registers <= 32
    assert (second.parameters, second.shared) == ((), 0)
    variables = {each.name: each for each in found.variables if each.name}
    assert (variables["table"].bank, variables["table"].size) == (3, 12)
    assert (variables["limit"].bank, variables["limit"].content) == (None, bytes.fromhex("0000000000000440"))
    assert (variables["room"].size, variables["room"].content) == (100, b"")
    assert [(each.holder, each.symbol) for each in found.addresses if each.holder] == [("where", "limit")]


@pytest.mark.proprietary
def test_a_damaged_one_is_an_adapter_error(path: Path, tmp_path: Path) -> None:
    chance, whole, read = random.Random(2), path.read_bytes(), 0
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 10)):
            damaged[chance.randrange(len(damaged) if chance.random() < 0.5 else 64)] = chance.randrange(256)
        file = tmp_path / "damaged.cubin"
        file.write_bytes(damaged[: chance.choice([len(damaged), chance.randrange(len(damaged))])])
        try:
            cubin.read(file)
            read += 1
        except AdapterError:
            pass
    assert 0 < read < 300


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02" + bytes(59), bytes(1000), b"text" * 100])
def test_what_is_no_cubin_is_an_adapter_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(AdapterError):
        cubin.read(tmp_path / "file")


def test_an_absent_file_is_an_adapter_error(tmp_path: Path) -> None:
    with pytest.raises(AdapterError):
        cubin.read(tmp_path / "none")
