"""What chathpc prints for each example, compared with a file that was read by a person.

CHATHPC_UPDATE_GOLDEN=1 writes the files anew; read what changed before you keep them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import chathpc
from chathpc.fix.patch import patched
from chathpc.fix.recipes.exact import exact_changes
from chathpc.reports import diff_renderers, renderers
from chathpc.reports.style import Style
from tests.synthetic.neutrino import example_module

EXAMPLES = Path(__file__).parents[2] / "examples"
#: Each example and the cause that its README describes.
CAUSES = {
    "omp-triangle": ("omp-load-imbalance", "triangular_work"),
    "mpi-imbalance": ("mpi-load-imbalance", "kernel"),
    "cpp-hoist": ("loop-invariant-work", "scale_rows"),
    "fortran-advect": ("strided-access", "upwind_badorder"),
}


def test_every_example_is_tested() -> None:
    assert {folder.parent.name for folder in EXAMPLES.glob("*/database")} == set(CAUSES)


@pytest.mark.parametrize("name", CAUSES)
def test_an_example_is_explained_as_its_readme_says(name: str) -> None:
    report = chathpc.explain(EXAMPLES / name / "database", llm="none")
    cause, function = CAUSES[name]
    assert (report.findings[0].cause, report.findings[0].where.function) == (cause, function)


def test_an_example_shows_what_a_large_model_read_and_that_it_was_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = EXAMPLES / "omp-triangle"
    monkeypatch.chdir(folder)
    report = chathpc.explain("database", llm="replay:recording.jsonl")
    text = renderers()["text"](report, Style(width=80))
    assert "by large-model (recorded), a language model" in " ".join(text.split())
    beside = folder / "report-read.txt"
    if os.environ.get("CHATHPC_UPDATE_GOLDEN") == "1":
        beside.write_text(text, encoding="utf-8")
    assert text == beside.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CAUSES)
def test_the_text_printed_for_an_example_is_the_one_beside_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES / name)
    report = chathpc.explain("database", llm="none", propose=exact_changes)
    text = renderers()["screen"](report, Style(width=80))
    beside = EXAMPLES / name / "report.txt"
    if os.environ.get("CHATHPC_UPDATE_GOLDEN") == "1":
        beside.write_text(text, encoding="utf-8")
    assert text == beside.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CAUSES)
def test_the_program_of_an_example_is_the_source_in_its_database(name: str) -> None:
    program = next((EXAMPLES / name / "program").iterdir())
    copied = next((EXAMPLES / name / "database" / "src").rglob(program.name))
    assert copied.read_bytes() == program.read_bytes()


def test_the_text_printed_for_a_comparison_is_the_one_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = EXAMPLES / "mesh-allocation"
    monkeypatch.chdir(folder)
    text = diff_renderers()["text"](chathpc.diff("before", "after"), Style(width=80))
    if os.environ.get("CHATHPC_UPDATE_GOLDEN") == "1":
        (folder / "diff.txt").write_text(text, encoding="utf-8")
    assert text == (folder / "diff.txt").read_text(encoding="utf-8")
    before = {"mesh.c": (folder / "program" / "mesh.c").read_text(encoding="utf-8")}
    after = patched(before, (folder / "fixed.patch").read_text(encoding="utf-8"))
    for side, program in (("before", before), ("after", after)):
        copied = next((folder / side / "src").rglob("mesh.c"))
        assert copied.read_text(encoding="utf-8") == program["mesh.c"]


@pytest.mark.parametrize("name", ["naive", "flash-v1", "flash-v2"])
def test_the_text_printed_for_a_generated_trace_is_the_one_beside_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example_module("make_traces").main(tmp_path)
    monkeypatch.chdir(tmp_path)
    text = renderers()["screen"](chathpc.explain(name, llm="none"), Style(width=80))
    beside = EXAMPLES / "neutrino-attention" / f"{name}.txt"
    if os.environ.get("CHATHPC_UPDATE_GOLDEN") == "1":
        beside.write_text(text, encoding="utf-8")
    assert text == beside.read_text(encoding="utf-8")
