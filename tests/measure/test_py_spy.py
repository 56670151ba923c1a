"""A program of Python, measured by py-spy itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import chathpc
from chathpc.diagnosis.diagnose import diagnose
from chathpc.measure import py_spy
from chathpc.measure.live import Direct
from chathpc.measure.py_spy import runs_python
from chathpc.measure.run import measure

PROGRAM = """\
import sys
import threading
import time


def count(n):
    total = 0
    for number in range(n):
        total += number * number
    return total


def doze():
    time.sleep(0.5)


if __name__ == "__main__":
    sleeper = threading.Thread(target=doze)
    sleeper.start()
    print(count(int(sys.argv[1])))
    print("warned", file=sys.stderr)
    sleeper.join()
    sys.exit(4)
"""


def test_what_python_does_is_told_by_its_own_functions(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)
    last = 45_000_000  # two seconds of a fast core: of less there may be too few samples to say anything
    command = (sys.executable, "app.py", str(last))
    measured = measure(command, tmp_path, runner=Direct(), overhead=False, rate=99, environment=dict(os.environ))
    assert (measured.tool, measured.code) == ("py-spy", 4)
    assert (measured.folder / "stdout.txt").read_text() == f"{(last - 1) * last * (2 * last - 1) // 6}\n"
    assert (measured.folder / "stderr.txt").read_text() == "warned\n"
    profile = chathpc.load(measured.folder)
    tree = profile.tree
    assert {tree.label(int(root)) for root in tree.roots} >= {"<module>", "Thread._bootstrap"}
    assert not any(tree.label(node).startswith(("process ", "thread (")) for node in range(len(tree)))
    found = diagnose(profile).findings
    hot = next(each for each in found if each.cause == "hot-compute")
    assert (hot.where.function, hot.where.file) == ("count", "app.py")
    assert hot.where.line in (8, 9)
    # The other thread sleeps for half a second; each sample counts 1/99 s, however late py-spy takes it on a busy machine.
    slept = profile.inclusive("cpu.time").dense(len(tree))[tree.named("doze")].sum()
    assert 0 < slept < 0.8


@pytest.mark.parametrize(
    ("program", "is_python"),
    [
        (("python", "x.py"), True), (("/usr/bin/python3.12", "-m", "app"), True), (("env", "A=1", "python3", "x.py"), True),
        (("./script",), True), (("./shell",), False), (("./absent",), False), (("pythonic",), False), ((), False),
    ],
)  # fmt: skip
def test_a_program_of_python_is_known_by_its_name_or_first_line(
    program: tuple[str, ...], is_python: bool, tmp_path: Path
) -> None:
    for name, first in (("script", "#!/usr/bin/env python3\n"), ("shell", "#!/bin/sh\n# python \n")):
        (tmp_path / name).write_text(first)
        (tmp_path / name).chmod(0o755)
    assert runs_python(program, tmp_path, {"PATH": ""}) == is_python


@pytest.mark.parametrize(
    ("text", "gpu"),
    [
        ("import numpy\nimport torch.nn as nn\n", True),
        ("from numba import njit, cuda\n", True),
        ("import cupy as cp\n", True),
        ("from numba import njit\n# import torch\nname = 'import cupy'\n", False),
        ("import torchless\n", False),
    ],
)
def test_a_script_that_would_compute_on_the_gpu_of_this_machine_is_known_by_its_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, gpu: bool
) -> None:
    (tmp_path / "train.py").write_text(text)
    program = ("python", "-u", "train.py", "3")
    monkeypatch.setattr(py_spy, "DRIVER", tmp_path / "none")
    assert not py_spy.imports_gpu(program, tmp_path)
    monkeypatch.setattr(py_spy, "DRIVER", tmp_path)
    assert py_spy.imports_gpu(program, tmp_path) is gpu
    assert not py_spy.imports_gpu(("python", "-m", "train"), tmp_path)
    assert not py_spy.imports_gpu(("python", "absent.py"), tmp_path)
