"""Long lines of Fortran: folded ones say the same to a compiler."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.fix.recipes.fortran.free_form import LONGEST, folded

HEAD = (
    "program p\n  implicit none\n  real(8) :: a(3), total\n  integer :: i\n  a = [1.5d0, 2.5d0, 3.5d0]\n  total = 0\n"
)
TAIL = "  print '(es23.16)', total\nend program\n"


def joined(text: bytes) -> bytes:
    """What a compiler reads: lines that are continued as one."""
    lines = text.split(b"\n")
    whole = lines[0]
    for line in lines[1:]:
        assert whole.endswith(b"&")
        _, _, rest = line.partition(b"&")
        whole = whole[:-1] + rest
    return whole


@given(st.text("ab1 +*/(),=-'\"", min_size=1, max_size=700).map(lambda text: text.encode()))
def test_folded_lines_are_short_and_say_the_same(line: bytes) -> None:
    whole = b"  x = " + line
    new = folded(whole, b"")
    assert all(len(each) <= LONGEST for each in new.split(b"\n"))
    assert joined(new) == whole


def test_lines_of_the_original_and_short_ones_stay() -> None:
    long = b"  x = " + b"1 + " * 60 + b"1"
    assert folded(long, long) == long
    assert folded(b"  x = 1 ! " + b"a" * 200, b"") == b"  x = 1 ! " + b"a" * 200


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="needs gfortran")
def test_a_compiler_takes_them_for_the_same(tmp_path: Path) -> None:
    terms = " + ".join(f"sqrt(a({1 + n % 3}))*{n}.25d0" for n in range(30))
    text = "  !$omp parallel do reduction(+:total) default(shared) private(i) schedule(dynamic, 16) firstprivate(a) "
    text += "num_threads(2) if(size(a) > 1) collapse(1)\n"
    text += f"  do i = 1, 3\n    total = total + {terms} + len('{'x y' * 50}')\n  end do\n"
    plain, short = HEAD + text + TAIL, folded((HEAD + text + TAIL).encode(), b"").decode()
    assert max(map(len, plain.split("\n"))) > LONGEST >= max(map(len, short.split("\n")))
    said = []
    for name, source, flags in (
        ("plain", plain, ["-ffree-line-length-none"]),
        ("short", short, ["-Werror=line-truncation"]),
    ):
        (tmp_path / f"{name}.f90").write_text(source)
        subprocess.run(["gfortran", "-fopenmp", *flags, f"{name}.f90", "-o", name], cwd=tmp_path, check=True)
        said.append(subprocess.run([tmp_path / name], capture_output=True, check=True, text=True).stdout)
    assert said[0] == said[1]
    assert float(said[0]) == pytest.approx(
        3 * (sum([1.5, 2.5, 3.5][n % 3] ** 0.5 * (n + 0.25) for n in range(30)) + len("x y") * 50)
    )
