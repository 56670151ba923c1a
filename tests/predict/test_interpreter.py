"""The interpreter of machine code, against the same C on the host and against arithmetic."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from chathpc.predict.compilers import Toolkit, ToolkitMissingError, find_toolkit
from tests.predict.interpreted import Interpreted, interpreted

HERE = Path(__file__).parent
WHOLE = "want *\nwhole 1\n"
pytestmark = pytest.mark.proprietary


@pytest.fixture(scope="module")
def toolkit() -> Toolkit:
    try:
        return find_toolkit()
    except ToolkitMissingError:
        pytest.skip("NVIDIA's compiler is not there")


@pytest.fixture(scope="module")
def patterns(toolkit: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Interpreted:
    return interpreted(HERE / "patterns.cu", tmp_path_factory.mktemp("patterns"), toolkit)


@pytest.mark.parametrize("architecture", ["sm_86", "sm_90"])
def test_each_group_of_operations_gives_what_the_host_computes(
    architecture: str, toolkit: Toolkit, tmp_path: Path
) -> None:
    # Without contraction of a * b + c, which the host's compiler is not asked for.
    program = interpreted(HERE / "semantics.cu", tmp_path, toolkit, ["--fmad=false"], architecture)
    done, launches = program.run(WHOLE)
    wrong = dict(re.findall(r"^(\S+) (-?\d+)", done.stdout, re.MULTILINE))
    assert done.returncode == 0
    assert len(wrong) == 23
    assert set(wrong.values()) == {"0"}, {name: count for name, count in wrong.items() if count != "0"}
    assert not program.lowered.unknown
    assert all(not launch["faults"] and not launch["unknown"] for launch in launches)


def test_counts_sectors_and_passes_are_those_of_arithmetic(patterns: Interpreted) -> None:
    done, launches = patterns.run(f"{WHOLE}l2_bytes 65536\n")
    assert (done.returncode, done.stdout) == (0, "end\n")
    by_name: dict[str, list[list[int]]] = {}
    for launch in launches:
        length, rest = re.findall(r"_Z(\d+)(.*)", launch["kernel"])[0]
        name = rest[: int(length)]
        opcode = {"banks": "LDS", "loaded": "LDG", "scattered": "LDG", "gathered": "RED"}.get(name, "FFMA")
        by_name.setdefault(name, []).extend(list(each) for each in patterns.counts(launch, opcode))
    # Three blocks of two warps do a hundred.
    assert by_name["counted"] == [[600, 19200, 0, 0, 0]]
    # 0 + 1 + … + 31 of two warps; a warp goes on as long as one of its lanes does.
    assert by_name["uneven"] == [[62, 992, 0, 0, 0]]
    assert [each[1] for each in by_name["half_of"]] == [32]
    # Bytes that 32 lanes touch: 4 each at strides of 0, 4, 8, 12, 32 and 128 bytes; shifted by 4; of 8, 16, one byte; of 20 lanes.
    assert [each[2] for each in by_name["loaded"]] == [1, 4, 8, 12, 32, 32, 5, 8, 16, 1, 3]
    # The places are one request; each of what they lead to lies in a sector of its own.
    assert [each[2] for each in by_name["scattered"]] == [4, 32]
    # Each line of 128 bytes is a pass.
    assert [each[3] for each in by_name["loaded"]] == [1, 1, 2, 3, 8, 32, 2, 2, 4, 1, 1]
    # 32 banks of four bytes: as many passes as words lie in the fullest bank; two halves of a warp for eight bytes, four quarters for 16, and
    # half as many where all read the same.
    assert [each[3] for each in by_name["banks"]] == [1, 1, 2, 4, 1, 32, 1, 2, 4, 32, 2, 4]
    # Atomic operations of three blocks: 32 lanes at one word, eight at each of four words of a sector, one at each of 32 words in four sectors;
    # eight at each of four words in four sectors. All but the last go to one slice of L2.
    assert [each[3] for each in by_name["gathered"]] == [3 * 32, 3 * 8, 3 * 4, 3 * 4 * 8]
    # Each is one request, that reads and writes.
    assert [each[2] for each in by_name["gathered"]] == [3, 3, 3 * 4, 3 * 4]
    assert [each[4] for each in by_name["gathered"]] == [3, 3, 3, 3]
    meetings = [launch["meetings"] for launch in launches if "gathered" in launch["kernel"]]
    assert [(each[0], each[3]) for each in meetings] == [(96, 96), (24, 24), (12, 12), (96, 24)]
    assert not any(each[1] or each[2] or any(each[4:]) for each in meetings)


def test_a_cache_holds_what_fits_and_writes_back_what_does_not(patterns: Interpreted) -> None:
    _, launches = patterns.run(f"{WHOLE}l2_bytes 65536\n")
    twice = [launch["memory"][-1] for launch in launches if "twice" in launch["kernel"]]
    filled = next(launch["memory"][-1] for launch in launches if "filled" in launch["kernel"])
    # Columns: steps, sectors read from and written to memory, distinct ones read and written. A quarter of the cache is read again
    # from it, four times its size is read again from memory.
    assert [point[1] * 32 for point in twice] == [16384, 2 * 262144]
    assert [point[3] * 32 for point in twice] == [16384, 262144]
    assert filled[4] * 32 == 262144
    assert filled[2] * 32 == 262144 - 65536
    assert filled[1] == 0


def test_wild_addresses_are_counted_and_do_no_harm(patterns: Interpreted) -> None:
    done, launches = patterns.run(WHOLE)
    wild = launches[-1]
    assert done.returncode == 0
    # All of one request, and of the other all but the lane whose address is that of the allocation.
    assert wild["faults"] >= 62


def test_device_memory_that_is_read_and_was_never_written_is_told(toolkit: Toolkit, tmp_path: Path) -> None:
    source = tmp_path / "blank.cu"
    source.write_text("""
__global__ void put(int *to) { to[threadIdx.x] = 1; }
__global__ void add(const int *from, int *sum) { atomicAdd(sum, from[threadIdx.x]); }
int main() {
    int host[32] = {}, *sum, *from[5];
    cudaMalloc(&sum, 4);
    for (int i = 0; i < 5; i++) i == 4 ? cudaMallocManaged(&from[i], 128) : cudaMalloc(&from[i], 128);
    cudaMemset(from[1], 0, 128);
    cudaMemcpy(from[2], host, 128, cudaMemcpyHostToDevice);
    put<<<1, 32>>>(from[3]);
    from[4][0] = 1;
    for (int i = 0; i < 5; i++) add<<<1, 32>>>(from[i], sum);
    return cudaDeviceSynchronize();
}
""")
    _, launches = interpreted(source, tmp_path, toolkit).run(WHOLE)
    # Nobody wrote to the first; then the host by a call, a kernel, and the host by itself did.
    assert [launch["unwritten"] for launch in launches if "add" in launch["kernel"]] == [128, 0, 0, 0, 0]


def test_a_kernel_without_end_is_left_when_its_time_is_over(patterns: Interpreted) -> None:
    done, launches = patterns.run("want *\nseconds 0.2\n", "endless")
    assert done.returncode == 0
    assert launches[0]["cut"]
    assert not launches[0]["complete"]


def test_a_loop_that_cannot_be_followed_is_counted_to_its_end(patterns: Interpreted) -> None:
    done, launches = patterns.run("want *\nseconds 0.3\n", "prolonged")
    assert done.returncode == 0
    assert launches[0]["sampled"] == 1
    assert launches[0]["extrapolated"] > 0.99
    # Of one block of two warps: ten thousand millions of iterations, seven each.
    (warps, threads, *_), *_ = patterns.counts(launches[0], "FFMA")
    assert warps == pytest.approx(2 * 7e10, rel=1e-3)
    assert threads == pytest.approx(64 * 7e10, rel=1e-3)


def test_of_a_launch_whose_input_was_not_finished_only_blocks_with_theirs_are_counted(patterns: Interpreted) -> None:
    done, (first, second) = patterns.run("want *\nseconds 0.2\n", "walked")
    assert done.returncode == 0
    assert 0 < first["finished"] < 1 << 22  # a machine that does more in a fifth of a second needs another number here
    assert 0 < second["sampled"] <= second["served"] <= first["finished"]
    (warps, threads, *_), *_ = patterns.counts(second, "FFMA")
    assert (warps, threads) == (second["sampled"] * 2 * 8, second["sampled"] * 64 * 8)


def test_odd_instructions_end_without_a_crash(patterns: Interpreted) -> None:
    chance = random.Random(1)
    path = patterns.executable.parent / "code"
    whole = path.read_bytes()
    end = 8 + 80 * sum(len(code.lines) for code in patterns.lowered.code)
    try:
        for _ in range(20):
            damaged = bytearray(whole)
            for _ in range(chance.randrange(1, 100)):
                damaged[chance.randrange(8, end)] = chance.randrange(256)
            path.write_bytes(damaged)
            done, _ = patterns.run("want *\nseconds 0.02\nother_seconds 0.02\n")
            assert done.returncode >= 0
    finally:
        path.write_bytes(whole)
