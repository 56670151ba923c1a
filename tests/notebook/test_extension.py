"""`%load_ext chathpc` in IPython's own shell: magics, and how things are shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import chathpc
from chathpc.chat.record import Answer
from chathpc.notebook import display
from chathpc.reports import diff_renderers, renderers
from chathpc.reports.style import Style
from chathpc.reports.wording import place
from tests.examples.test_examples import EXAMPLES
from tests.notebook.conftest import Notebook
from tests.reports.sample import sample
from tests.reports.test_hostile import CONTROL
from tests.reports.test_hostile import HOSTILE as HOSTILE_NAMES
from tests.reports.test_markup import safe
from tests.synthetic import collapsed

TRIANGLE = EXAMPLES / "omp-triangle" / "database"


def test_loading_chathpc_alone_does_not_import_ipython() -> None:
    code = "import sys, chathpc; chathpc.load_ipython_extension; print('IPython' in sys.modules, len([m for m in sys.modules if m.startswith('chathpc')]))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False 1\n"
    )


def test_a_report_is_shown_as_html_markdown_and_text(notebook: Notebook) -> None:
    forms = notebook.shown(f"%chathpc explain {TRIANGLE}")
    report = notebook.value("_")
    assert report.findings[0].cause == "omp-load-imbalance"
    assert forms["text/markdown"] == renderers()["markdown"](report, Style())
    assert forms["text/plain"] == renderers()["text"](report, Style()).rstrip("\n")
    assert report.headline in safe(forms["text/html"]).text


def test_the_api_s_values_are_shown_too(notebook: Notebook) -> None:
    notebook.value("import chathpc")
    forms = notebook.shown(f"chathpc.load({str(TRIANGLE)!r})")
    assert "stencil_omp" in forms["text/plain"]
    assert "9.01 s" in safe(forms["text/html"]).text
    forms = notebook.shown(f"chathpc.explain({str(TRIANGLE)!r}).tree")
    assert "work_item" in forms["text/plain"]
    assert "work_item" in safe(forms["text/html"]).text


def test_a_report_with_what_a_page_draws_is_the_page_in_a_frame_without_origin(notebook: Notebook) -> None:
    notebook.value("import chathpc")
    shown = notebook.shown(f"chathpc.explain({str(TRIANGLE)!r}, view=True)")["text/html"]
    assert shown.startswith('<iframe title="chathpc" sandbox="allow-scripts" ')
    assert shown.count("<") == 2
    assert "Content-Security-Policy" in shown


def test_a_comparison_is_shown(notebook: Notebook) -> None:
    before, after = (EXAMPLES / "mesh-allocation" / name for name in ("before", "after"))
    forms = notebook.shown(f"%chathpc diff {before} {after}")
    diff = chathpc.diff(before, after)
    assert forms["text/markdown"] == diff_renderers()["markdown"](diff, Style())
    page = safe(forms["text/html"]).text
    assert diff.headline in page
    where = diff.shares[0].where_after or diff.shares[0].where_before
    assert all(text in page for text in (place(where), str(before), str(after), "kind of work")) if where else False
    notebook.value(f"%chathpc open {after}")
    assert notebook.value(f"%chathpc diff {before}").headline == diff.headline


def test_questions_of_chat_are_asked_by_magics(notebook: Notebook) -> None:
    profile = notebook.value(f"%chathpc open {TRIANGLE}")
    forms = notebook.shown("%chathpc top line 3")
    answer: Answer = notebook.value("_")
    expected = profile.table("line", "cpu.time")["exclusive"].head(3).tolist()
    assert [row[2] for row in answer.steps[0].rows] == pytest.approx(expected)
    assert "22.3 %" in safe(forms["text/html"]).text
    assert "22.3 %" in forms["text/plain"]
    assert "(18 more)" in safe(forms["text/html"]).text
    assert "total += work_item" in safe(notebook.shown("%chathpc source stencil_omp.c:61")["text/html"]).text


@pytest.mark.parametrize(
    "cell",
    [
        "%ask who calls work_item",
        "%ask who calls work_item?",
        "%%ask\nwho calls\nwork_item?\n",
        "found = %ask who calls work_item ??\nfound",
    ],
)
def test_a_question_in_plain_language_may_end_with_a_question_mark(notebook: Notebook, cell: str) -> None:
    notebook.value(f"%chathpc open {TRIANGLE}")
    answer: Answer = notebook.value(cell)
    assert [step.tool for step in answer.steps] == ["callers"]
    assert "is called by" in answer.text


def test_a_question_that_means_nothing_gets_the_nearest(notebook: Notebook) -> None:
    notebook.value(f"%chathpc open {TRIANGLE}")
    shown = safe(notebook.shown("%ask xyzzy plugh")["text/html"]).text
    assert "I did not understand the question" in shown


def test_a_model_words_answers_where_one_was_chosen(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "tests.llm.scripted")
    notebook.value(f"%chathpc open {TRIANGLE}")
    assert notebook.value("%ask who calls work_item").model is None
    notebook.value("%chathpc model scripted:liar")
    answer: Answer = notebook.value("%ask who calls work_item")
    assert answer.model == "liar (scripted)"
    assert "No statement by liar (scripted) can be printed." in safe(notebook.shown("_")["text/html"]).text
    assert "4711" not in safe(notebook.shown("_")["text/html"]).text
    notebook.value("%chathpc model none")
    assert notebook.value("%ask who calls work_item").model is None


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%chathpc explain nowhere", "no such file or folder"),
        ("%chathpc explain", "No path is given"),
        ("%chathpc open 'x", "quotation mark"),
        ("%chathpc top", "No profile is open"),
        ("%ask why", "No profile is open"),
        ("%ask", "There is no question"),
        ("%chathpc nonsense", "There is no '%chathpc nonsense'"),
        ("%chathpc quit", "There is no '%chathpc quit'"),
        ("%chathpc diff a b c", "Expected two profiles"),
        ("%chathpc model nonsense", "nonsense"),
    ],
)
def test_what_goes_wrong_is_said_in_one_sentence(notebook: Notebook, cell: str, words: str) -> None:
    said = notebook.refused(cell)
    assert words in said
    assert said.startswith("UsageError: ")


def test_the_list_of_magics_names_what_works(notebook: Notebook) -> None:
    listed = notebook.value("%chathpc")
    verbs = [row[0].split()[0] for row in listed.rows]
    notebook.value(f"%chathpc open {TRIANGLE}")
    for verb in verbs:
        result = notebook.shell.run_cell(f"%chathpc {verb}")
        assert "There is no" not in str(result.error_in_exec or "")
    assert "explain PATH..." in safe(notebook.shown("%chathpc")["text/html"]).text


def test_hostile_names_are_shown_as_text(notebook: Notebook, tmp_path: Path) -> None:
    names = [
        *(name.replace("\n", "\r").replace(";", ",") or "x" for name in HOSTILE_NAMES),
        "$\\href{http://evil.example}{x}$",
    ]
    path = tmp_path / "app.folded"
    path.write_text(collapsed.write([(("main", name), 100 - n) for n, name in enumerate(names)]), "utf-8")
    for cell in (
        f"%chathpc explain {path}",
        "%chathpc top function 100",
        "%chathpc tree limit=100",
        "_.steps[0].rows and _",
    ):
        forms = notebook.shown(cell)
        safe(forms["text/html"])
        assert not CONTROL.search(forms["text/plain"])
        assert not CONTROL.search(forms["text/markdown"])


def test_an_error_of_a_tool_is_shown_with_its_hint(notebook: Notebook) -> None:
    notebook.value(f"%chathpc open {TRIANGLE}")
    shown = safe(notebook.shown("%chathpc callers wrok_item")["text/html"]).text
    assert "no function or file 'wrok_item'" in shown
    assert "Nearest: work_item" in shown


def test_unloading_takes_everything_back(notebook: Notebook) -> None:
    notebook.value("%unload_ext chathpc")
    assert "not found" in notebook.refused("%chathpc")
    forms, _ = notebook.shell.display_formatter.format(sample())
    assert list(forms) == ["text/plain"]
    assert forms["text/plain"].startswith("<Report on ")
    notebook.value("%load_ext chathpc")
    forms, _ = notebook.shell.display_formatter.format(sample())
    assert set(forms) == {"text/html", "text/markdown", "text/plain"}


def test_every_type_has_a_text_form_and_a_page() -> None:
    assert set(display._FORMS["html"]) == set(display._FORMS["text"]) > set(display._FORMS["markdown"])
