"""Files that are no profile are called by their name, with what to do; damaged and hostile ones take no time."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.foreign import foreign
from chathpc.adapters.glance import Glance
from chathpc.adapters.load import load
from chathpc.errors import AdapterError
from tests.adapters.samples.nsight_compute import write_samples

ELF = b"\x7fELF\x02\x01\x01" + bytes(9)
FILES: dict[str, tuple[bytes, str]] = {
    "extra-p text": (b"# two parameters\n\nPARAMETER p q\nPOINTS (1 2) (3 4)\n\nREGION met1\nDATA 4.1 3.9\n", "an experiment of Extra-P (text)"),
    "extra-p json": (b'{"parameters": ["x"], "measurements": {"sweep": {}}}', "an experiment of Extra-P (JSON)"),
    "extra-p lines": (b'\n# none\n{"params":{"x":1},"metric":"m","value":1.0}\n', "an experiment of Extra-P (JSON lines)"),
    "talpas": (b'{"parameters":{"x":20};"metric":"time";"callpath":"compute";"value":82.0}\n', "an experiment of Extra-P (Talpas)"),
    "llvm remarks": (b"RMRK" + bytes(30), "compiler optimisation remarks of LLVM in binary form"),
    "kernels": (b'"Kernel Name","traffic","dpAI","spAI"\n"k(int, int)",7.5,0.0,1.2\n"l()",1,2,3\n', "a data set about kernels of many programs"),
    "table": (b"a,b,c\n1,2,3\n4,5,6\n", "a table (CSV) from no known profiler"),
    "json": (b'{"a": [1, 2]}', "JSON from no known profiler"),
    "c": (b"/* heat */\n#include <stdio.h>\nint main(void) { return 0; }\n", "source code (C, C++ or CUDA)"),
    "cuda": (b"  __global__ void f(float *x) { x[0] = 1; }\n", "source code (C, C++ or CUDA)"),
    "fortran": (b"! heat\nprogram heat\n  implicit none\n  integer :: i\nend program\n", "source code (Fortran)"),
    "python": (b"import numpy\n\n\ndef f(x):\n    return x\n", "Python source code"),
    "job": (b"#!/bin/bash\n#SBATCH -N 4\nsrun ./heat\n", "a job script"),
    "script": (b"#!/bin/sh\n./heat\n", "a script"),
    "core": (ELF + b"\x04\x00\x3e\x00" + bytes(40), "a core file: the memory of a program that crashed"),
    "program": (ELF + b"\x03\x00\x3e\x00" + bytes(40), "a program, library or object file"),
    "cubin": (b"\x7fELF\x02\x01\x01\x33" + bytes(8) + b"\x02\x00\xbe\x00" + bytes(40), "machine code for an NVIDIA GPU (a cubin)"),
    "big-endian core": (b"\x7fELF\x02\x02\x01" + bytes(9) + b"\x00\x04" + bytes(40), "a core file: the memory of a program that crashed"),
    "hpcrun": (b"HPCRUN-profile____" + bytes(30), "the measurements of one thread by hpcrun"),
    "hpctrace": (b"HPCRUN-trace______" + bytes(30), "the trace of one thread by hpcrun"),
    "gmon": (b"gmon\x01\x00\x00\x00" + bytes(30), "gmon.out, what a program compiled with -pg leaves"),
    "png": (b"\x89PNG\r\n\x1a\n", "an image"),
    "svg": (b'<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x">\n<svg width="1">', "a picture (SVG; perhaps a flame graph)"),
    "html": (b"<!DOCTYPE html>\n<html>", "a web page"),
    "zip": (b"PK\x03\x04" + bytes(30), "a zip archive"),
    "tar": (bytes(257) + b"ustar\x0000" + bytes(200), "a tar archive"),
    "pickle": (b"\x80\x04\x95\x0a" + bytes(7) + b"}\x94\x8c\x01a\x94K\x01s.", "a Python pickle"),
    "perf stat": (b"\n Performance counter stats for './heat':\n\n   6,710.82 msec task-clock\n", "human-readable output of perf stat"),
    "perf report": (b"# Samples: 3K\n# Overhead  Command  Shared Object\n", "human-readable output of perf report"),
    "memcheck": (b"==12== Memcheck, a memory error detector\n", "the messages of Valgrind"),
    "massif": (b"desc: --x\ncmd: ./heat\ntime_unit: i\n", "a heap history of Valgrind's massif"),
    "structure": (b'<?xml version="1.0"?>\n<HPCToolkitStructure version="4.8">', "the program structure that hpcstruct wrote"),
    "text": (b"Dear reader,\nthis is a letter.\n", "text from no known profiler"),
    "empty": (b"", "an empty file"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_called_by_its_name(name: str, tmp_path: Path) -> None:
    data, what = FILES[name]
    (tmp_path / "x").write_bytes(data)
    found = foreign(Glance(tmp_path / "x"))
    assert found is not None
    assert found[0] == what
    assert found[1].isprintable()
    assert len(found[1]) > 20


def test_bytes_that_say_nothing_and_folders_have_no_name(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "y").write_bytes(b"\x1f\x8b" + bytes(90))
    assert foreign(Glance(tmp_path / "x")) is None
    assert foreign(Glance(tmp_path / "y")) is None
    assert foreign(Glance(tmp_path)) is None
    assert foreign(Glance(tmp_path / "nowhere")) is None


@pytest.mark.parametrize("name", ["llvm remarks", "kernels", "c", "core", "empty", "table"])
def test_the_refusal_says_what_it_is_and_what_to_do(name: str, tmp_path: Path) -> None:
    data, what = FILES[name]
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(AdapterError) as caught:
        load(tmp_path / "x")
    assert f"{what}, not a profile that chathpc knows" in caught.value.message
    assert caught.value.hint


def test_a_stranger_among_reports_is_no_file_of_a_database(tmp_path: Path) -> None:
    write_samples(tmp_path)
    (tmp_path / "prices.csv").write_text("name,price\nbread,2\nmilk,1\n")
    with pytest.raises(AdapterError) as caught:
        load(tmp_path / "prices.csv")
    assert "one file of a database" not in caught.value.hint


@pytest.mark.parametrize(
    "text",
    ["\n" * 40_000, " " * 40_000, "#\n" * 20_000, "program x\n" * 4_000, "# " * 20_000, "\n# x" * 10_000, '"' * 40_000,
     "<!--" * 10_000, "{" * 40_000, '{"parameters": [' + "x" * 40_000, "import " * 6_000, "def f(" * 7_000, "int " * 10_000,
     "PARAMETER x\n" * 3_000, "subroutine a (" * 3_000],
)  # fmt: skip
def test_no_text_takes_long(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    began = time.process_time()
    foreign(Glance(tmp_path / "x"))
    assert time.process_time() - began < 1


@given(
    st.one_of(
        st.binary(max_size=300),
        st.sampled_from([data for data, _ in FILES.values()]).flatmap(
            lambda data: st.integers(0, len(data)).map(lambda cut: data[:cut] + os.urandom(3))
        ),
    )
)
@settings(max_examples=200, deadline=None)
def test_any_bytes_have_a_name_or_none(data: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        found = foreign(Glance(Path(file.name)))
    assert found is None or all(found)
