"""Applies one recipe to a text, and runs programs before and after."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from chathpc.fix.project import Check, Flags, Project, Run
from chathpc.fix.recipes.analysis import expansion
from chathpc.fix.recipes.analysis.edits import Edit, applied
from chathpc.fix.recipes.analysis.program import Spot, program
from chathpc.fix.recipes.recipe import Change, Context, folded
from chathpc.fix.recipes.table import recipes

_FILES = {"c": "app.c", "c++": "app.cpp", "fortran": "app.f90", "cuda": "app.cu"}
_COMPILERS = {"c": ("gcc", "-std=gnu11"), "c++": ("g++", "-std=c++17"), "fortran": ("gfortran",)}
_OF_MPI = {"gcc": "mpicc", "g++": "mpicxx", "gfortran": "mpifort"}
_PROCESSES = 3
_BY_NAME = {one.name: one for one in recipes()}


def project(relative: float = 1e-9, flags: str = "-O2 -fopenmp") -> Project:
    """A project with a declared tolerance and flags."""
    run = Run("run", "./app")
    return Project(Path("."), "make", run, ("*",), flags=Flags("CFLAGS", flags), check=Check(relative=relative))


def changes(
    recipe: str, source: str, language: str, *, cause: str | None = None, relative: float = 1e-9
) -> list[Change]:
    """All that a recipe finds in all functions of a text."""
    one = _BY_NAME[recipe]
    assert language in one.languages
    parsed = program({_FILES[language]: source})
    context = Context(parsed, project(relative))
    found: list[Change] = []
    for procedure in parsed.procedures:
        spot = Spot(procedure, procedure.model.first, 1.0, None, cause or one.causes[0])
        found += [
            each for each in expansion.changes(one, context, spot) if each.edits not in [other.edits for other in found]
        ]
    return found


def changed(recipe: str, source: str, language: str, *, cause: str | None = None, relative: float = 1e-9) -> str | None:
    """The text after all that the recipe finds, as far as it can be done at once; None where it finds nothing."""
    edits: list[Edit] = []
    text = source.encode()
    for one in changes(recipe, source, language, cause=cause, relative=relative):
        more = [
            each for part in one.edits.values() for each in part if each not in edits or not each.new.endswith(b"\n")
        ]
        if applied(text, [*edits, *more]) is not None:
            edits += more
    new = applied(text, edits)
    assert new is not None
    if language == "fortran":
        new = folded(new, text)
        assert new is not None
    return new.decode() if edits else None


def output(source: str, language: str, folder: Path, *, flags: tuple[str, ...] = ("-O1",), threads: int = 2) -> str:
    """What a program prints."""
    compiler = _COMPILERS[language]
    messages = "mpi.h" in source or "use mpi" in source.lower()
    if messages:
        compiler = _OF_MPI[compiler[0]], *compiler[1:]
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"needs {compiler[0]}")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / _FILES[language]
    file.write_text(source)
    built = subprocess.run(
        [*compiler, *flags, "-fopenmp", "-o", "app", file.name, "-lm", "-pthread"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, f"{built.stderr}\n{source}"
    launched = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(_PROCESSES)) if messages else ()
    ran = subprocess.run(
        [*launched, "./app"], cwd=folder, capture_output=True, text=True, timeout=60,
        env={"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
