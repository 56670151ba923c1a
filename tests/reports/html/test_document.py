"""The page as a file: its policy, its data, its size; without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from chathpc.report import Report
from chathpc.reports import diff_renderers, fix_renderers, renderers
from chathpc.reports.html.data import page_of
from chathpc.reports.html.document import block, document
from chathpc.reports.style import Style
from tests.reports.browser import pages
from tests.reports.sample import sample
from tests.reports.test_hostile import HOSTILE, everywhere


class Read(HTMLParser):
    """The tags of a page, and the text inside each style and script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.content: dict[str, list[str]] = {}
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style", "title", "pre"):
            self._inside = tag
            self.content.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.content[self._inside][-1] += data


def html(report: Report) -> str:
    return renderers()["html"](report, Style())


def data(text: str) -> Any:
    return json.loads(Read(text).content["script"][0])


def policy(text: str) -> str:
    metas = [attributes for tag, attributes in Read(text).tags if tag == "meta"]
    return next(str(meta["content"]) for meta in metas if meta.get("http-equiv") == "Content-Security-Policy")


def test_the_policy_lets_in_our_style_and_script_and_nothing_else() -> None:
    text = html(sample())
    content = Read(text).content
    digests = {
        kind: base64.b64encode(hashlib.sha256(content[kind][-1].encode()).digest()).decode()
        for kind in ("script", "style")
    }
    assert policy(text) == (
        f"default-src 'none'; script-src 'sha256-{digests['script']}'; style-src 'sha256-{digests['style']}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def test_the_page_asks_for_nothing_from_outside() -> None:
    text = html(pages.example("omp-triangle"))
    loading = [
        value for _, attributes in Read(text).tags for name, value in attributes.items() if name in ("src", "href")
    ]
    assert loading == ["data:,", "#main"]
    assert not re.search(r"@import|url\(", Read(text).content["style"][0])


def test_there_is_no_style_and_no_handler_in_a_tag() -> None:
    for _, attributes in Read(html(pages.example("omp-triangle"))).tags:
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


def test_the_script_makes_no_markup_of_text() -> None:
    script = Read(html(sample())).content["script"][1]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|srcdoc", script
    )


@pytest.mark.parametrize("text", [*HOSTILE, *pages.HOSTILE])
def test_hostile_text_adds_no_tag_and_ends_no_block(text: str) -> None:
    page, plain = html(everywhere(text)), html(everywhere("plain"))
    assert [tag for tag, _ in Read(page).tags] == [tag for tag, _ in Read(plain).tags]
    assert policy(page) == policy(plain)
    assert not set("<>&\u2028\u2029") & set(Read(page).content["script"][0])
    assert data(page)["kind"] == "report"


def test_the_data_has_what_the_report_says() -> None:
    report = sample()
    told = data(html(report))
    assert told["headline"] == report.headline
    assert [one["title"] for one in told["findings"]] == [finding.title for finding in report.findings]
    assert {one["id"] for one in told["evidence"]} == {fact.id for fact in report.evidence}


def test_readings_stand_apart_under_their_authors_name() -> None:
    report = sample(reader="big at models.example.org")
    told = data(html(report))
    assert len(told["suspected"]) == len(report.suspected) > 0
    assert "big at models.example.org" in told["readers"]
    assert [one["title"] for one in told["findings"]] == [finding.title for finding in report.findings]


def test_what_fix_found_has_its_gates_and_its_patch() -> None:
    told = data(fix_renderers()["html"](pages.tried(), Style()))
    assert [(one["id"], one["accepted"]) for one in told["fix"]["attempts"]] == [("c1", True), ("c2", False)]
    assert [gate["passed"] for gate in told["fix"]["attempts"][1]["gates"]] == [True, False]
    assert told["fix"]["patch"][-1] == "+#pragma omp parallel for schedule(guided)"
    tree = told["view"]["tree"]
    assert tree["before"] == tree["values"]


def test_a_comparison_has_the_values_of_both_sides() -> None:
    found = pages.compared()
    told = data(diff_renderers()["html"](found, Style()))
    tree = told["view"]["tree"]
    assert sum(tree["values"][found.metric]) == pytest.approx(found.total.after, rel=1e-3)
    assert sum(tree["before"][found.metric]) == pytest.approx(found.total.before, rel=1e-3)
    assert all(above < node for node, above in enumerate(tree["parent"]))


def test_a_report_without_anything_drawn_shows_its_tree() -> None:
    report = sample()
    view = data(html(report))["view"]
    assert report.tree is not None
    assert sum(view["tree"]["values"][report.tree.metric]) == pytest.approx(
        sum(row.exclusive for row in report.tree.rows)
    )


def test_halves_of_pairs_from_file_names_do_not_break_the_page() -> None:
    page = document(page_of(everywhere("a\udcffb")))
    page.encode("utf-8")


def test_the_text_for_readers_without_scripts_is_the_terminals() -> None:
    report = sample()
    assert report.headline.split()[0] in Read(html(report)).content["pre"][0]


def test_the_page_of_many_contexts_is_small() -> None:
    assert len(pages.page(pages.wide(60_000)).encode()) < 1_500_000


def test_the_page_of_an_example_is_small() -> None:
    assert len(html(pages.example("omp-triangle")).encode()) < 250_000


def test_the_same_report_makes_the_same_page() -> None:
    assert block(page_of(sample())) == block(page_of(sample()))
