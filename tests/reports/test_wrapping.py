"""Lines end at blanks: no word is broken where there is one, at any width of a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from chathpc.diagnosis.catalogue import causes
from chathpc.reports import renderers, wording
from chathpc.reports.page import Page
from chathpc.reports.pattern import entry_text, listing
from chathpc.reports.style import Style
from tests.reports.sample import sample

WIDTHS = [*range(40, 80, 3), 80, 100, 110, 120]
#: What a shortened name or path has.
ELLIPSIS = "…"


def broken(text: str, words: set[str]) -> list[str]:
    return [word for word in text.split() if word not in words and ELLIPSIS not in word and word.strip("━─")]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_has_the_words_of_the_widest_report(width: int) -> None:
    report = sample(model="m")
    words = set(renderers()["text"](report, Style(width=1000, verbose=True)).split())
    text = renderers()["text"](report, Style(width=width, verbose=True))
    assert broken(text, words) == []
    wide = [line for line in text.splitlines() if cell_len(line) > width]
    changed = {line.strip() for finding in report.findings for line in wording.proposed(finding.change)[1]}
    assert all(line.lstrip().startswith("hpcrun ") or line.strip() in changed for line in wide)
    assert changed <= {line.strip() for line in text.splitlines()}  # to be applied as it stands


@pytest.mark.parametrize("width", WIDTHS)
def test_the_catalogue_has_the_words_of_the_widest_page(width: int) -> None:
    known = causes()
    words = set(listing(known, Style(width=1000)).split())
    text = listing(known, Style(width=width))
    assert broken(text, words) == []
    assert max(map(cell_len, text.splitlines())) <= width
    for cause in known[::7]:
        words = set(entry_text(cause, Style(width=1000)).split())
        assert broken(entry_text(cause, Style(width=width)), words) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_title_that_is_too_long_for_its_line_is_wrapped(width: int) -> None:
    page = Page(Style(width=width))
    title = "All ranks wait for the slowest one in a collective call that nobody would expect to be slow at all"
    page.ends(Text(f"1  {title}"), Text("a_function_with_a_long_name  file_with_a_name.cpp:1234"))
    lines = page.text().splitlines()
    assert " ".join(page.text().split()).startswith(f"1 {title} ")
    assert max(map(len, lines)) <= width


@given(
    text=st.text(alphabet="ab/ .0é日", min_size=1, max_size=300),
    width=st.integers(40, 120),
    label=st.text(alphabet="ab", max_size=16),
)
def test_words_and_paths_that_are_too_long_are_shortened_and_the_others_stay_whole(
    text: str, width: int, label: str
) -> None:
    page = Page(Style(width=width))
    page.paragraph(text, label=label)
    assert all(cell_len(line) <= width for line in page.text().splitlines())
    assert broken(page.text().replace(label, "", 1) if label else page.text(), set(text.split())) == []
