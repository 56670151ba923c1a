"""Each command of chathpc in the tutorials is run, and prints what the page shows.

In a page a block `text` holds commands (`$ chathpc …`) and what they print; a block `sh` what is to be typed and is not run here.
CHATHPC_UPDATE_GOLDEN=1 writes what is printed into the pages; read what changed before you keep it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from click.testing import CliRunner

import chathpc
from chathpc.commands.main import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("tutorial-*.md"))
EXAMPLES = ("omp-triangle", "mesh-allocation", "fix-heat", "python-pairs")
#: What builds and runs a program for minutes: tests/examples/test_fix_example.py does it, and this is what it printed.
RECORDED = {"chathpc fix examples/fix-heat/program": "examples/fix-heat/fix.txt"}
BLOCK = re.compile(r"(?<=^```text\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
TYPED = re.compile(r"(?<=^```sh\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
HEADS = ("What you need", "Collect", "Explain", "Ask", "Change", "Check", "What next")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples that the pages name, and the generated exports."""
    folder = tmp_path_factory.mktemp("tutorials")
    for name in EXAMPLES:
        shutil.copytree(ROOT / "examples" / name, folder / "examples" / name)
    spec = spec_from_file_location("make_exports", ROOT / "examples" / "tutorials" / "make_exports.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "make_exports", module)  # dataclasses look their module up while they are made
        spec.loader.exec_module(module)
    module.main(folder / "exports")
    return folder


def commands(block: str) -> list[str]:
    """The commands of a block, without the dollar."""
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def printed(line: str) -> str:
    """What a line writes to standard output: a command, or the first lines of it (`| head -9`)."""
    command, _, first = line.partition(" | head -")
    if command in RECORDED:
        text = (ROOT / RECORDED[command]).read_text("utf-8")
    else:
        done = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert done.exit_code == 0, f"{command}\n{done.output}"
        text = done.stdout
    return "".join(text.splitlines(keepends=True)[: int(first) if first else None])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_tutorial_shows_is_what_its_commands_print(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)

    def run(block: re.Match[str]) -> str:
        return "\n".join(f"$ {command}\n{printed(command)}" for command in commands(block.group()))

    text = page.read_text("utf-8")
    new = BLOCK.sub(run, text)
    if os.environ.get("CHATHPC_UPDATE_GOLDEN") == "1":
        page.write_text(new, "utf-8")
    assert text == new


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_command_of_a_tutorial_is_left_out(page: Path) -> None:
    """Commands of chathpc stand in blocks that are run; each page has the same steps, and is short."""
    text = page.read_text("utf-8")
    assert tuple(re.findall(r"^## (.*)$", text, re.MULTILINE)) == HEADS
    assert "chathpc" not in "".join(TYPED.findall(text))
    run = [command for block in BLOCK.findall(text) for command in commands(block)]
    assert {"explain", "ask"} <= {shlex.split(command)[1] for command in run}
    assert {"diff", "fix"} & {shlex.split(command)[1] for command in run}
    assert len(text.splitlines()) <= 140


def test_there_is_a_tutorial_for_each_profiler() -> None:
    names = {page.stem.removeprefix("tutorial-") for page in PAGES}
    assert names == {"hpctoolkit", "perf", "nsight-systems", "nsight-compute", "python"}


@pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.timeout(900)
def test_what_the_tutorial_of_perf_collects_is_explained(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    page = (ROOT / "docs" / "tutorial-perf.md").read_text("utf-8")
    typed = TYPED.findall(page)[0].splitlines()
    assert [line.split()[0] for line in typed] == ["gcc", "perf"]
    for line in typed:
        subprocess.run(shlex.split(line), check=True, capture_output=True)
    report = chathpc.explain("heat.data", llm="none")
    assert {finding.where.function for finding in report.findings[:3]} & {"conduct", "radiate"}


@pytest.mark.timeout(300)
def test_what_the_tutorial_of_python_collects_is_explained(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    page = (ROOT / "docs" / "tutorial-python.md").read_text("utf-8")
    spy, *words = shlex.split(TYPED.findall(page)[0])
    at = words.index("python")
    beside = Path(sys.executable).parent / spy
    subprocess.run(
        [beside if beside.exists() else spy, *words[:at], sys.executable, *words[at + 1 :]],
        check=True,
        capture_output=True,
    )
    report = chathpc.explain("pairs.json", llm="none")
    assert report.findings[0].where.function == "neighbours"
