"""The sample report as every renderer writes it, compared with files that were read by a person.

CHATHPC_UPDATE_GOLDEN=1 writes the files anew; look at what changed before you keep them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rich.cells import cell_len

from chathpc.reports import renderers, wording
from chathpc.reports.style import Style
from tests.reports.sample import sample

GOLDEN = Path(__file__).parent / "golden"
SMALL, LARGE = {"model": "qwen2.5-coder-1.5b on this machine"}, {"reader": "big at models.example.org"}
CASES: dict[str, tuple[str, Style, dict[str, str]]] = {
    "screen-80.txt": ("screen", Style(width=80), {}),
    "screen-80-24.txt": ("screen", Style(width=80, height=24), {}),
    "screen-80-read.txt": ("screen", Style(width=80), LARGE),
    "screen-60-ascii.txt": ("screen", Style(width=60, encoding="ascii"), {}),
    "text-80.txt": ("text", Style(width=80), {}),
    "text-80-read.txt": ("text", Style(width=80, statements=True), LARGE),
    "text-110-model.txt": ("text", Style(width=110, verbose=True), SMALL),
    "text-80-ascii.txt": ("text", Style(width=80, encoding="ascii"), SMALL),
    "report.md": ("markdown", Style(), {}),
    "report-read.md": ("markdown", Style(), LARGE),
    "report-model.md": ("markdown", Style(), SMALL),
    "report.json": ("json", Style(), {}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_sample_report_reads_as_before(name: str) -> None:
    form, style, who = CASES[name]
    text = renderers()[form](sample(**who), style)
    if os.environ.get("CHATHPC_UPDATE_GOLDEN") == "1":
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [60, 80, 110])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_no_line_but_a_command_to_copy_is_wider_than_the_terminal(width: int, encoding: str) -> None:
    text = renderers()["text"](sample(model="m"), Style(width=width, encoding=encoding, verbose=True))
    wide = [line for line in text.splitlines() if cell_len(line) > width]
    assert all(line.lstrip().startswith("hpcrun ") for line in wide)


def test_commands_to_copy_stand_on_one_line_even_if_it_is_too_long() -> None:
    text = renderers()["text"](sample(), Style(width=60))
    assert "hpcrun -e PAPI_TOT_CYC -e PAPI_TOT_INS -e PAPI_L2_TCM -t ./stencil_omp 4096\n" in text


def test_without_unicode_the_text_is_ascii_and_has_bars_all_the_same() -> None:
    text = renderers()["text"](sample(), Style(encoding="ascii"))
    assert text.isascii()
    assert "\n 35.2 %  3.17 s  ====  " in text
    assert "main.c:11" in next(line for line in text.splitlines() if "----------" in line)


def test_a_legacy_encoding_keeps_the_characters_that_it_has() -> None:
    text = renderers()["text"](sample(), Style(encoding="latin-1"))
    text.encode("latin-1")
    assert " · 4 OpenMP threads · " in text


def test_colours_appear_only_when_asked_for_and_change_no_word() -> None:
    plain = renderers()["text"](sample(model="m"), Style())
    coloured = renderers()["text"](sample(model="m"), Style(colour=True))
    assert "\x1b" not in plain
    assert "\x1b[1;31mBOTTLENECK" in coloured
    from rich.text import Text

    assert [line.rstrip() for line in Text.from_ansi(coloured).plain.splitlines()] == plain.splitlines()


def test_the_verdict_comes_first() -> None:
    lines = renderers()["text"](sample(), Style()).splitlines()
    assert lines[3].startswith("BOTTLENECK  35.2 % of the thread time")


def test_what_was_dropped_is_not_shown_but_counted() -> None:
    for form in ("text", "markdown"):
        text = renderers()[form](sample(model="m"), Style(width=110))
        assert "memory bandwidth" not in text
        assert "1 of its 2 statements dropped" in text


def test_a_citation_of_what_was_not_shown_is_no_statement_that_was_dropped() -> None:
    report = sample(model="m")
    told = report.explanation
    cited = told.statements[-1].model_copy(
        update={"text": "", "by": "m", "dropped_because": "it cites E99, which was not shown"}
    )
    told = told.model_copy(update={"statements": [*told.statements, cited]})
    for form in ("text", "markdown"):
        text = renderers()[form](report.model_copy(update={"explanation": told}), Style(width=110))
        assert "1 of its 2 statements dropped" in text


def test_the_words_of_a_model_are_labelled_with_its_name() -> None:
    for form in ("text", "markdown"):
        shown = " ".join(renderers()[form](sample(model="tiny-7b"), Style()).split())
        assert "uotes are from tiny-7b, a language model, with the numbers and names of the facts" in shown
        assert "n quotation" not in renderers()[form](sample(), Style())


def test_the_headline_is_not_told_again_right_below_it() -> None:
    report = sample(model="m")
    first, second, *_ = report.explanation.statements
    again = first.model_copy(update={"text": report.headline})
    told = report.explanation.model_copy(update={"statements": [again, second]})
    assert wording.told(report.model_copy(update={"explanation": told})) == [second]


def test_evidence_that_two_findings_share_is_told_once_in_the_text() -> None:
    text = renderers()["text"](sample(), Style(width=110))
    assert text.count("The profile holds 45,000 samples") == 1
    assert "And        E8 (above)" in text


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_healthy_program_is_promised_nothing_in_full(form: str) -> None:
    report = sample()
    advice = {each for finding in report.findings for each in finding.advice}
    for verdict in ("bottleneck", "healthy"):
        shown = " ".join(renderers()[form](report.model_copy(update={"verdict": verdict}), Style(width=2_000)).split())
        told = any(each[:40] in shown for each in advice)
        assert told == (verdict == "bottleneck")


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("healthy", "HEALTHY"), ("insufficient-data", "NOT ENOUGH DATA"), ("bottleneck", "BOTTLENECK")],
)
def test_a_report_without_findings_shows_what_its_verdict_rests_on(verdict: str, words: str) -> None:
    report = sample().model_copy(update={"findings": [], "tree": None, "verdict": verdict})
    text = renderers()["text"](report, Style())
    assert words in text
    assert "Measured" in text
    assert all(f"E{number}" in text for number in range(1, 9))
    assert "## Measured" in renderers()["markdown"](report, Style())


def test_the_headline_is_not_said_again() -> None:
    report = sample()
    first = report.findings[0].model_copy(update={"summary": report.headline})
    report = report.model_copy(update={"findings": [first, *report.findings[1:]]})
    for form in ("text", "markdown"):
        words = " ".join(renderers()[form](report, Style(width=110)).split())
        assert words.count(report.headline) == 1
