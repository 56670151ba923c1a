"""What a program's file tells: compared with what the compiler was told, and with readelf."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters.load import load
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.rules import examined
from chathpc.measure.binary import Binary, binary
from chathpc.measure.sources import copy_sources, put_producers
from chathpc.profile.run import PRODUCERS

GCC = shutil.which("gcc") or shutil.which("cc")


def built(folder: Path, *options: str, code: str = "int main(void) { return 0; }\n") -> Path:
    if GCC is None:
        pytest.skip("needs gcc")
    (folder / "a.c").write_text(code)
    subprocess.run([GCC, "a.c", "-o", "a", *options], cwd=folder, check=True, capture_output=True)
    return folder / "a"


def test_libraries_are_those_that_readelf_tells(tmp_path: Path) -> None:
    if shutil.which("readelf") is None:
        pytest.skip("needs readelf")
    said = subprocess.run(["readelf", "-d", sys.executable], capture_output=True, text=True, check=True).stdout
    assert list(binary(Path(sys.executable)).libraries) == re.findall(r"\(NEEDED\).*\[(.+)\]", said)


def test_frame_pointers_are_seen(tmp_path: Path) -> None:
    assert not binary(built(tmp_path, "-O2")).device_code
    kept = binary(built(tmp_path, "-O2", "-g", "-fno-omit-frame-pointer"))
    assert kept.frame_pointers


def test_openmp_is_a_library(tmp_path: Path) -> None:
    code = "int omp_get_max_threads(void);\nint main(void) { return omp_get_max_threads() == 0; }\n"
    assert binary(built(tmp_path, "-fopenmp", code=code)).uses_openmp


def test_device_code_makes_a_gpu_program_also_without_a_cuda_library(tmp_path: Path) -> None:
    file = built(tmp_path)
    if shutil.which("objcopy") is None:
        pytest.skip("needs objcopy")
    (tmp_path / "blob").write_bytes(b"cubin")
    subprocess.run(["objcopy", "--add-section", ".nv_fatbin=blob", "a", "b"], cwd=tmp_path, check=True)
    assert not binary(file).uses_gpu
    assert binary(tmp_path / "b").uses_gpu


@pytest.mark.parametrize(
    "content", [b"", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF\x01" + b"\0" * 60, b"\x7fELF\x02\x01" + b"\xff" * 200]
)
def test_what_is_no_program_tells_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    found = binary(tmp_path / "a")
    assert not found.libraries
    assert not found.uses_gpu
    assert not found.uses_mpi


def test_what_is_not_there_tells_nothing(tmp_path: Path) -> None:
    assert binary(tmp_path / "absent") == Binary()
    assert binary(tmp_path) == Binary()


@given(st.data())
def test_damage_is_survived(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    whole = bytearray(Path("/bin/true").read_bytes()[:40_000])
    for _ in range(data.draw(st.integers(1, 20))):
        whole[data.draw(st.integers(4, len(whole) - 1))] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.mktemp("damaged") / "a"
    file.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    assert isinstance(binary(file), Binary)


@pytest.mark.parametrize(
    ("options", "optimised"),
    [(["-g"], False), (["-g", "-O2"], True), (["-g", "-O2", "-gno-record-gcc-switches"], None), (["-O2"], None)],
)
def test_how_it_was_compiled_is_told_where_the_file_says_so(
    tmp_path: Path, options: list[str], optimised: bool | None
) -> None:
    if shutil.which("readelf") is None:
        pytest.skip("needs readelf")
    told = tmp_path / PRODUCERS
    put_producers(built(tmp_path, *options), told)
    (tmp_path / "profile").write_text("main;slow 100\n")
    (tmp_path / "measure.json").write_text('{"profile": "profile"}')
    build = load(tmp_path).build
    known = [] if build is None else [(unit.file, unit.optimised) for unit in build.units]
    assert known == ([] if optimised is None else [("a.c", optimised)])
    checks = examined(Facts(load(tmp_path)))
    assert ("unoptimised" in checks.run) == (optimised is not None)
    assert any("unoptimised" in each.checks for each in checks.skipped) == (optimised is None)


def test_of_two_sources_of_a_name_the_compiled_one_is_copied(tmp_path: Path) -> None:
    if GCC is None:
        pytest.skip("needs gcc")
    for name in ("mpi", "omp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.c").write_text(f'int main(void) {{ return sizeof "{name}"; }}\n')
    (tmp_path / "perf.txt").write_text("  a.c:1\n")
    for number, (name, folder) in enumerate((("omp/a.c", "."), ("a.c", "omp"))):
        subprocess.run([GCC, "-g", name, "-o", tmp_path / "app"], cwd=tmp_path / folder, check=True)
        target = tmp_path / "out" / str(number)
        target.mkdir(parents=True)
        paths = binary(tmp_path / "app").paths
        assert copy_sources(tmp_path / "perf.txt", [tmp_path], target, paths) == 1
        assert (target / "a.c").read_text() == (tmp_path / "omp" / "a.c").read_text()
        assert copy_sources(tmp_path / "perf.txt", [tmp_path], target) == 0


@pytest.mark.parametrize("whole", [True, False])
def test_sources_lie_where_the_debug_information_has_them(whole: bool, tmp_path: Path) -> None:
    if GCC is None:
        pytest.skip("needs gcc")
    for name in ("src", "build", "include", "elsewhere", "out"):
        (tmp_path / "code" / name).mkdir(parents=True)
    code = tmp_path / "code"
    (code / "include" / "part.h").write_text("static int part(int n) { return n; }\n")
    (code / "src" / "a.c").write_text('#include "part.h"\nint main(void) { return part(0); }\n')
    at = f"{code}" if whole else ".."
    subprocess.run([GCC, "-g", f"-I{at}/include", f"{at}/src/a.c", "-o", "app"], cwd=code / "build", check=True)
    (tmp_path / "perf.txt").write_text("  a.c:2\n  part.h:1\n")
    paths = binary(code / "build" / "app").paths
    assert copy_sources(tmp_path / "perf.txt", [code / "elsewhere"], code / "out", paths) == 2
    assert {each.name for each in (code / "out").iterdir()} == {"a.c", "part.h"}
