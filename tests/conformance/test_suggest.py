"""Every planted program can be built with what `suggest` says of its folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from chathpc.fix.project_file import read
from chathpc.fix.suggest import suggest

HERE = Path(__file__).resolve()
PLANTED = Path(os.environ.get("CHATHPC_TEST_DATA") or HERE.parents[3] / "shared" / "data") / "planted"
PROGRAMS = sorted(PLANTED.glob("*/program")) or [None]

pytestmark = pytest.mark.skipif(not PLANTED.is_dir(), reason="the planted programs are not here (CHATHPC_TEST_DATA)")


@pytest.mark.parametrize("program", PROGRAMS, ids=[path.parent.name if path else "absent" for path in PROGRAMS])
def test_a_planted_program_is_built_with_what_is_suggested(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "program"
    shutil.copytree(program, folder, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    (folder / "chathpc.yaml").write_text(suggest(folder)[0])
    project = read(folder)
    assert project.flags is not None
    environment = {**os.environ, project.flags.variable: project.flags.value}
    subprocess.run(["sh", "-c", project.build], cwd=folder, env=environment, check=True, capture_output=True)
    assert os.access(folder / project.run.command, os.X_OK)
    makefile = (folder / "Makefile").read_text()
    assert bool(project.threads) == ("-fopenmp" in makefile)
    assert bool(project.launcher) == ("mpicc" in makefile)
    assert f"= {project.flags.value}\n" in makefile
