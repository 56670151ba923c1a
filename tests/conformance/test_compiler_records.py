"""Planted programs with what GCC says while it compiles them: their verdicts stay, and what is said is about their hot places."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import chathpc
from chathpc.diagnosis.diagnose import diagnose
from chathpc.profile.merge import merge

HERE = Path(__file__).resolve()
PLANTED = Path(os.environ.get("CHATHPC_TEST_DATA") or HERE.parents[3] / "shared" / "data") / "planted"
COMPILERS = {".c": "gcc", ".cpp": "g++", ".f90": "gfortran"}
#: Findings that only records can make.
OURS = ("not-vectorised", "not-inlined")

pytestmark = pytest.mark.skipif(not PLANTED.is_dir(), reason="the planted programs are not here (CHATHPC_TEST_DATA)")


def cases() -> list[Path]:
    return sorted(
        folder for folder in PLANTED.glob("[ps]*") if (folder / "program").is_dir() and (folder / "database").is_dir()
    )


def messages(folder: Path, target: Path) -> Path:
    """The compiler's messages about the program, written to `target`; skips where it cannot be compiled here."""
    program = folder / "program"
    sources = [file for file in sorted(program.iterdir()) if file.suffix in COMPILERS]
    makefile = (program / "Makefile").read_text() if (program / "Makefile").exists() else ""
    if not sources or "mpi" in makefile:
        pytest.skip("needs MPI's headers")
    flags = re.findall(r"(?<=\s)-(?:O\w|g|fopenmp|march=\S+|ffast-math)(?=\s|$)", makefile)
    log = target / "build.log"
    with log.open("w") as output:
        for source in sources:
            compiler = COMPILERS[source.suffix]
            if shutil.which(compiler) is None:
                pytest.skip(f"{compiler} is not installed")
            command = [
                compiler,
                *flags,
                "-fopt-info-all",
                "-c",
                str(source),
                "-o",
                str(target / "x.o"),
                "-J",
                str(target),
            ]
            if compiler != "gfortran":
                command = command[:-2]
            subprocess.run(command, stderr=output, check=True, timeout=120)
    return log


@pytest.mark.parametrize("folder", cases(), ids=lambda folder: folder.name)
def test_records_change_no_verdict_of_a_planted_program(folder: Path, tmp_path: Path) -> None:
    profile = chathpc.load(folder / "database")
    before = diagnose(profile)
    after = diagnose(merge([profile, chathpc.load(messages(folder, tmp_path))]))
    others = [item.cause for item in after.findings if item.cause not in OURS]
    told = [item.cause for item in before.findings if item.cause != "hot-compute"]
    assert [cause for cause in others if cause != "hot-compute"] == told
    if before.verdict == "bottleneck":
        assert after.verdict == "bottleneck"
        assert after.findings[0].cause == before.findings[0].cause
    for item in after.findings:
        if item.cause in OURS:
            assert item.share >= 0.1
            assert item.where.file is not None
