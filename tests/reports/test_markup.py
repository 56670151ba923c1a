"""Fragments of HTML show what they are given and nothing else, whatever a profile's names hold."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chathpc
from chathpc.profile.text import clean
from chathpc.report import TreeRecord, TreeRow
from chathpc.reports import fragment, fragments, wording
from chathpc.reports.fragments import Html
from tests.examples.test_examples import EXAMPLES
from tests.reports.sample import sample
from tests.reports.test_hostile import CONTROL, HOSTILE, everywhere

TAGS = {
    "b", "code", "details", "div", "h4", "li", "p", "pre", "span", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
MATHEMATICS = ["$x$", "$$x$$", "\\(x\\)", "\\[x\\]", "\\begin{align}\\href{http://evil.example}{x}\\end{align}"]


class Page(HTMLParser):
    """A parsed fragment: its tags and styles, its text, and the text of each element by itself."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.styles: set[str] = set()
        self.pieces: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.styles |= {value or "" for name, value in attrs if name == "style"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment  # type: ignore[assignment]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def safe(page: str) -> Page:
    """The fragment, parsed, after checking that it holds nothing that acts."""
    parsed = Page(page)
    assert parsed.open == []
    assert parsed.tags <= TAGS
    assert parsed.attributes <= {"style"}
    assert not any("url" in style or "expression" in style or "@" in style for style in parsed.styles)
    assert not CONTROL.search(page.replace("\n", ""))
    for piece in parsed.pieces:  # MathJax looks for its marks within one piece of text
        assert piece.count("$") + piece.count("\\") <= (1 if len(piece) == 1 else 0)
    return parsed


@given(st.text())
def test_text_is_shown_as_it_is(text: str) -> None:
    shown = safe(fragments.tag("p", text)).text
    assert shown == clean("".join(" " if character.isspace() else character for character in text))


@given(st.lists(st.text(max_size=20), max_size=6))
def test_parts_are_escaped_unless_they_are_html(parts: list[str]) -> None:
    page = fragments.joined((fragments.tag("b", part) for part in parts), ", <")
    assert safe(page).text == ", <".join(safe(fragments.text(part)).text for part in parts)
    assert fragments.tag("p", page) == f"<p>{page}</p>"
    assert isinstance(page, Html)


def test_lists_of_nothing_are_nothing() -> None:
    assert fragments.listed([]) == ""
    assert fragments.listed(["a"]) == "<ul><li>a</li></ul>"


@pytest.mark.parametrize("text", [*HOSTILE, *MATHEMATICS])
def test_a_report_full_of_hostile_text_is_only_text(text: str) -> None:
    safe(fragment("report", everywhere(text)))


def test_a_report_shows_what_its_text_form_shows() -> None:
    shown = safe(fragment("report", sample())).text
    report = sample()
    for expected in (
        report.headline,
        "BOTTLENECK",
        *(finding.title for finding in report.findings),
        *(each for finding in report.findings for each in chain(*wording.doing(finding))),
        *(evidence.statement for evidence in report.evidence),
        *report.profile.caveats,
        *report.profile.not_collected.values(),
        "Model: none",
    ):
        assert expected in shown


def test_a_models_words_are_marked_as_such() -> None:
    shown = safe(fragment("report", sample(model="local:m"))).text
    assert "Quotes are from local:m, a language model, with the numbers and names of the facts" in shown
    assert shown.index("Quotes are from") < shown.index("OpenMP load imbalance")
    assert "Quotes are from" not in safe(fragment("report", sample())).text


def test_a_note_on_a_missing_model_is_told_and_what_is_missing_is_left_out() -> None:
    report = sample()
    bare = report.model_copy(
        update={
            "tree": None,
            "flat": [],
            "evidence": [],
            "findings": [],
            "notes": [],
            "profile": report.profile.model_copy(update={"caveats": [], "not_collected": {}}),
            "explanation": report.explanation.model_copy(update={"statements": [], "note": "There is no <model>."}),
        }
    )
    page = safe(fragment("report", bare))
    assert "There is no <model>." in page.text
    assert not page.tags & {"table", "details", "ul", "h4"}


def test_the_bars_of_a_tree_are_as_long_as_the_shares() -> None:
    rows = [
        TreeRow(depth=0, label="main", place="a.c:1", inclusive=8.0, exclusive=2.0, share=1.0),
        TreeRow(depth=1, label="f<int>", place="", inclusive=6.0, exclusive=6.0, share=0.75),
    ]
    page = fragments.tree(TreeRecord(metric="cpu.time", unit="s", total=8.0, rows=rows))
    parsed = safe(page)
    assert "f<int>" in parsed.text
    widths = [float(part.split("em")[0]) for part in page.split("width:")[1:]]
    assert widths == [2.0, 6.0, 6.0, 0.0]  # of 8 em: 2 of 8 s in main itself and 6 below it; 6 in f itself
    assert "margin-left:0em" in page
    assert "margin-left:1em" in page


def test_a_tree_of_nothing_has_no_bars() -> None:
    row = TreeRow(depth=900, label="main", place="", inclusive=0.0, exclusive=0.0, share=0.0)
    page = fragments.tree(TreeRecord(metric="cpu.time", unit="s", total=0.0, rows=[row]))
    assert "width:0.00em" in page
    assert "margin-left:30em" in page


def test_a_comparison_shows_what_changed() -> None:
    folder = EXAMPLES / "mesh-allocation"
    diff = chathpc.diff(folder / "before", folder / "after")
    shown = safe(fragment("diff", diff)).text
    for expected in ("FASTER", diff.headline, "everything else", "total", "release", "Gone"):
        assert expected in shown
    nothing = {each: [] for each in ("shares", "findings", "functions", "activities", "notes")}
    unknown = {"paths": [], "total": None, "elapsed": None, "samples": None, "ranks": None, "threads": None}
    sides = {
        name: side.model_copy(update={"runs": [side.runs[0].model_copy(update=unknown)], "ranks": 0, "threads": 0})
        for name, side in (("before", diff.before), ("after", diff.after))
    }
    bare = diff.model_copy(update={**nothing, **sides, "noise": None})
    assert not safe(fragment("diff", bare)).tags & {"table", "details", "ul", "h4"}
    hostile = diff.model_copy(update={"headline": "<script>$x$</script>", "notes": ["<img src=x>"]})
    assert "<script>$x$</script>" in safe(fragment("diff", hostile)).text


def test_a_gate_is_told() -> None:
    from chathpc.comparison.record import GateRecord

    folder = EXAMPLES / "mesh-allocation"
    diff = chathpc.diff(folder / "before", folder / "after")
    gate = GateRecord(limit=0.05, outcome="passed", statement="It is not slower.")
    assert "GATE PASSED It is not slower." in safe(fragment("diff", diff.model_copy(update={"gate": gate}))).text
