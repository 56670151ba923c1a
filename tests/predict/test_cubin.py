"""Cubins: what they say against cuobjdump, and that damaged ones end in an error that names the file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from chathpc.errors import AdapterError
from chathpc.predict import cubin
from chathpc.predict.build import Toolkit, ToolkitMissingError, find_toolkit

SOURCE = """
__constant__ float table[12] = {1, 2, 3};
__device__ int counter = 7;
__device__ float room[100];
__global__ void __launch_bounds__(128) one(int n, double *x, float3 by) {
    __shared__ double part[64];
    part[threadIdx.x & 63] = x[threadIdx.x] + table[n % 12] + by.y;
    __syncthreads();
    x[threadIdx.x] = part[n & 63] + room[n % 100];
    atomicAdd(&counter, 1);
}
"""
CASES = 1500

pytestmark = pytest.mark.proprietary


@pytest.fixture(scope="module")
def toolkit() -> Toolkit:
    try:
        return find_toolkit()
    except ToolkitMissingError:
        pytest.skip("NVIDIA's compiler is not there")


@pytest.fixture(scope="module")
def made(toolkit: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cubin")
    (folder / "one.cu").write_text(SOURCE)
    command = [toolkit.nvcc, "-arch=sm_86", "-cubin", "-o", folder / "one.cubin", folder / "one.cu"]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "one.cubin"


def test_kernels_and_variables_are_those_of_the_source(made: Path, toolkit: Toolkit) -> None:
    found = cubin.read(made)
    (kernel,) = found.kernels.values()
    assert kernel.parameters == ((0, 4), (8, 8), (16, 12))
    assert (kernel.base, kernel.shared, kernel.max_threads) == (0x160, 512, 128)
    said = subprocess.run(
        [toolkit.tool("cuobjdump"), "-res-usage", made], capture_output=True, text=True, check=True
    ).stdout
    assert kernel.registers == int(re.search(r"REG:(\d+)", said)[1])  # type: ignore[index]
    variables = {variable.name: variable for variable in found.variables if variable.name}
    assert {name: (one.size, one.bank) for name, one in variables.items()} == {
        "table": (48, 3),
        "counter": (4, None),
        "room": (400, None),
    }
    assert variables["counter"].content == (7).to_bytes(4, "little")


def test_damage_ends_in_an_error_that_names_the_file(made: Path, tmp_path: Path) -> None:
    whole, path = made.read_bytes(), tmp_path / "damaged.cubin"
    random = Random(1)
    for _ in range(CASES):
        data = bytearray(whole)
        if random.random() < 0.2:
            del data[random.randrange(len(data)) :]
        else:
            # Half of the damage is in the head and the tables behind it.
            reach = 64 if random.random() < 0.3 else len(data)
            for _ in range(random.choice((1, 4, 40))):
                data[random.randrange(reach)] = random.randrange(256)
        path.write_bytes(data)
        try:
            cubin.read(path)
        except AdapterError as error:
            said = str(error), error.hint
        else:
            continue
        assert "damaged.cubin" in said[0]
        assert said[1]
