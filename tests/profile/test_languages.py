"""The language of a file by its name."""

from __future__ import annotations

import pytest

from chathpc.profile.languages import COMPILED, Language, is_fixed_form, kind_of, language_of


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.c", Language.C),
        ("a.C", Language.CPP),  # GCC: C++ in capital letters
        ("dir.c/a.H", Language.C),
        ("C:\\src\\a.Cpp", Language.CPP),
        ("a.cu", Language.CUDA),
        ("a.hip", Language.HIP),
        ("a.F90", Language.FORTRAN),
        ("a.F", Language.FORTRAN),
        ("a.py", Language.PYTHON),
        ("a", None),
        ("c", None),
        (".c/a", None),
        ("a.txt", None),
        ("", None),
    ],
)
def test_the_ending_tells_the_language(name: str, language: Language | None) -> None:
    assert language_of(name) == language


def test_old_endings_of_fortran_are_fixed_form() -> None:
    assert [is_fixed_form(f"a.{end}") for end in ("f", "F", "for", "ftn", "f77", "f90", "F08", "c")] == [
        *[True] * 5,
        *[False] * 3,
    ]


def test_headers_and_scripts_are_not_compiled_by_themselves() -> None:
    assert {"h", "hpp", "cuh", "py", "rs", "jl"} & COMPILED == set()
    assert {"c", "cpp", "cu", "hip", "f", "f90"} <= COMPILED
    assert all(kind_of(f"a.{end}") is not None for end in COMPILED)
