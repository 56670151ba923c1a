"""The notebook of examples/notebook, run cell by cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.examples.test_examples import EXAMPLES
from tests.notebook.conftest import Notebook
from tests.reports.test_markup import safe

FILE = EXAMPLES / "notebook" / "explain.ipynb"


def cells(kind: str) -> list[dict[str, Any]]:
    content = json.loads(FILE.read_text("utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    return [cell for cell in content["cells"] if cell["cell_type"] == kind]


def test_the_notebook_is_kept_without_outputs() -> None:
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells("code"))


def test_every_cell_runs_and_shows_what_the_text_says(shell: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FILE.parent)
    values: dict[str, Any] = {}
    shown: dict[str, str] = {}
    for cell in cells("code"):
        source = "".join(cell["source"])
        values[source] = shell.value(source)
        forms, _ = shell.shell.display_formatter.format(values[source])
        page = forms.get("text/html", "")
        shown[source] = safe(page).text if page and "functions" not in source else page

    def of(words: str) -> tuple[Any, str]:
        (source,) = (source for source in values if words in source)
        return values[source], shown[source]

    report, page = of("%chathpc explain")
    assert (report.findings[0].cause, report.findings[0].where.line) == ("omp-load-imbalance", 61)
    assert report.headline in page
    assert of("finding.cause")[0] == {one.cause: round(one.share, 3) for one in report.findings}
    assert "is called by" in of("%ask")[1]
    assert len(of("%chathpc top")[0].steps[0].rows) == 5
    assert "total += work_item(i);" in of("%chathpc source")[1]
    # Amdahl: work_item has the part p of the time; twice as fast gives 1 / (1 - p / 2).
    functions, page = of("functions.head")
    assert functions.equals(shell.value("functions").head())
    assert "<table" in page
    part = shell.value("functions")["inclusive"][shell.value("functions")["name"] == "work_item"].sum() / 9.01
    assert f"{1 / (1 - part / 2):.2f}x as fast" in of("%chathpc whatif")[1]
    diff, page = of("%chathpc diff")
    assert diff.verdict == "faster"
    assert "FASTER" in page


def test_the_folder_holds_the_notebook_alone() -> None:
    assert [file.name for file in sorted(Path(FILE.parent).iterdir())] == [FILE.name]
