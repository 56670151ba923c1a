"""Long lines of Fortran: folded ones say the same to a compiler."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from chathpc.fix.recipes.recipe import folded

HEAD = (
    "program p\n  implicit none\n  real(8) :: a(3), total\n  integer :: i\n  a = [1.5d0, 2.5d0, 3.5d0]\n  total = 0\n"
)
TAIL = "  print '(es23.16)', total\nend program\n"


def test_lines_of_the_original_and_short_ones_stay() -> None:
    long = b"  x = " + b"1 + " * 60 + b"1"
    assert folded(long, long) == long
    assert folded(b"  x = 1", b"") == b"  x = 1"


@pytest.mark.parametrize("line", ["  x = '" + "a " * 80 + "'", "  x = 1 ! " + "a " * 80, "  x = " + "a" * 140])
def test_what_cannot_be_broken_safely_is_not_changed(line: str) -> None:
    assert folded(line.encode(), b"") is None


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="needs gfortran")
@pytest.mark.parametrize(
    "text",
    [
        "  total = " + " + ".join(f"a({k % 3 + 1})*{k}.25d0" for k in range(40)) + "\n",
        "  !$omp parallel do default(shared) private(i) reduction(+: total) if(3 > 0) schedule(static) shared(a) "
        "proc_bind(close) num_threads(2)\n"
        "  do i = 1, 3\n    total = total + a(i)\n  end do\n",
    ],
)
def test_a_compiler_reads_the_same(text: str, tmp_path: Path) -> None:
    plain = HEAD + text + TAIL
    short = folded(plain.encode(), b"")
    assert short is not None
    assert all(len(line) <= 132 for line in short.split(b"\n"))
    said = []
    for name, source, flags in (("plain", plain.encode(), ["-ffree-line-length-none"]), ("short", short, [])):
        (tmp_path / f"{name}.f90").write_bytes(source)
        subprocess.run(["gfortran", "-fopenmp", *flags, "-o", name, f"{name}.f90"], cwd=tmp_path, check=True)
        said.append(subprocess.run([f"./{name}"], cwd=tmp_path, capture_output=True, check=True).stdout)
    assert said[0] == said[1]
