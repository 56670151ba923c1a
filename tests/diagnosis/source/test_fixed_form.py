"""Fixed-form Fortran: the same program says the same, at the lines and columns of its text."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.source.fixed_form import free_form, looks_fixed
from chathpc.diagnosis.source.model import Does
from chathpc.diagnosis.source.text import parsed
from tests.diagnosis.source.programs import Case, first_cause
from tests.diagnosis.source.test_fortran import CASES

INVALID = ("text that is no Fortran",)


def punched(text: str) -> str:
    """Free form as fixed form: statements from column 7 on, continued by a mark in column 6, comments in column 1."""
    lines = []
    goes_on = False
    for line in text.splitlines():
        statement, mark, comment = line.partition("!")
        if mark and not statement.strip():
            lines.append(("c" if comment.startswith("$") else "C") + comment)
            continue
        more = statement.rstrip().endswith("&")
        rest = statement.rstrip().removesuffix("&").strip().removeprefix("&")
        head = "     1 " if goes_on else "      "
        goes_on = more
        while True:
            cut = len(rest) if len(rest) <= 60 else rest.rindex(" ", 0, 60)
            lines.append(head + rest[:cut] + (f" ! {comment.strip()}" if mark else ""))
            rest, head, mark = rest[cut:], "     & ", ""
            if not rest.strip():
                break
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("one", [each for each in CASES if each.name not in INVALID], ids=lambda one: one.name)
@pytest.mark.parametrize("name", ["a.f", "a.F", "a.for", "a.F77"])
def test_a_program_says_the_same_in_fixed_form(one: Case, name: str) -> None:
    text = punched(one.text)
    assert looks_fixed(text.encode())
    assert first_cause(text, name) == one.cause


OLD = """\
C     A comment, and a directive for the loop below
      SUBROUTINE SWEEP(A, N, R)                                         SWE00010
      INTEGER N
      REAL*8 A(N,N), R
      PARAMETER (M=100, K = 2)
      DIMENSION Z(100), Y(M)
      COMMON /BLK/ Q(10,20), T
C$OMP PARALLEL DO
C$OMP& PRIVATE(J)
      DO 10 I = 1, N
      DO 10 J = 1, N
      A(I,J) = A(I,J) + T                                               SWE00020
C   a comment in a statement

     1   + R     ! isn't it
     2   * 2.0
   10 Z(J) = EXP(T)
*     debugging lines are none
D     WRITE(*,*) N
      DO 20 I = 1, N, 2
        IF (Q(I,1) .GT. 0) GOTO 20
        Q(I,1) = REAL(INDEX('it''s! ','!')) + FOO(I,
     &           N)
   20 CONTINUE
      END
"""


def test_statements_of_fortran_77_keep_their_lines() -> None:
    file = parsed("old.f", OLD.encode())
    assert file is not None
    (one,) = file.everything()
    assert (one.name, one.broken) == ("sweep", ())
    assert [(loop.first, loop.last, loop.parent, loop.variable, loop.step) for loop in one.loops] == [
        (10, 17, -1, "i", 1),
        (11, 17, 0, "j", 1),
        (20, 24, -1, "i", 2),
    ]
    said = {
        each.line: (each.expr.written(fortran=True), each.loop)
        for each in one.statements
        if each.does == Does.EVALUATE and each.expr is not None
    }
    assert said == {
        12: ("a(i, j) = a(i, j) + t + r * 2.0", 1),
        17: ("z(j) = exp(t)", 1),  # executed in the innermost of the loops that its label ends
        22: ('q(i, 1) = real(index("…", "…")) + foo(i, n)', 2),
    }
    assert [each.does for each in one.statements if each.line == 21] == [Does.CONDITION, Does.CONTINUE]
    assert file.unit.constants == {"m": 100, "k": 2}
    sizes = {each.name: (each.type, [str(dim) for dim in each.dims]) for each in (*one.declarations, *one.parameters)}
    assert sizes == {
        "z": ("real", ["100"]),
        "y": ("real", ["m"]),
        "q": ("real", ["10", "20"]),
        "a": ("real*8", ["n", "n"]),
        "n": ("integer", []),
        "r": ("real*8", []),
    }
    assert [(each.words, each.first) for each in one.regions] == [("parallel do private(j)", 8)]


def test_what_stands_behind_column_72_is_no_part_of_the_statement() -> None:
    line = "      X = Y".ljust(72)
    assert free_form(f"{line}+ 1".encode()) == line.encode()  # as a compiler reads it
    assert free_form(f"{line}12345678".encode()) == line.encode()
    kept = f"{line}+ B(I, J) * C(I)"  # only an option makes that a program
    assert free_form(kept.encode()) == kept.encode()


def test_free_form_in_a_file_with_an_old_name_is_read_as_such() -> None:
    text = "program p\n  real :: a(10)\n  a = 1 + &\n    2\nend program\n"
    assert not looks_fixed(text.encode())
    file = parsed("p.f", text.encode())
    assert file is not None
    assert [one.line for one in file.everything()[0].statements] == [3]


@given(st.text(alphabet="cC*!dD \t&0123456789'\"aX=+-(),\n#$OMPomp\r", max_size=400))
def test_lines_stay_where_they_are(text: str) -> None:
    found = free_form(text.encode())
    before, after = text.encode().split(b"\n"), found.split(b"\n")
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        # Each column holds what it held, or nothing, or what replaces marks and comments.
        for at, (one, other) in enumerate(zip(old[6:72], new[6:72], strict=False), 6):
            assert other in (one, 0x20, 0x26), (old, new, at)


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="needs gfortran")
def test_a_compiler_reads_the_same_statements(tmp_path: Path) -> None:
    """gfortran computes the same from both forms."""
    text = (
        "      PROGRAM P\n      INTEGER I, J, S(4)\n      S(1) = 0\n      DO 10 I = 1, 3\n      DO 10 J = 1,\nC     why\n"
        "     1   4   ! columns\n   10 S(1) = S(1) + I *\n     & J\n      IF (S(1) .EQ. 60) S(1) = 7                                        12345678\n"
        "      PRINT *, S(1), 'it''s !'\n      END\n"
    )
    answers = []
    for name, body in (("old.f", text), ("new.f90", free_form(text.encode()).decode())):
        (tmp_path / name).write_text(body)
        subprocess.run(["gfortran", "-std=legacy", "-w", name, "-o", "p"], cwd=tmp_path, check=True, timeout=60)
        answers.append(subprocess.run([tmp_path / "p"], capture_output=True, text=True, check=True, timeout=20).stdout)
    assert answers[0] == answers[1]
    assert answers[0].split()[0] == "7"
