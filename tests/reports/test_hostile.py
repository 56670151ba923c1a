"""Names and texts of a profile are data: whatever they hold, they act on no terminal, viewer or reader."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chathpc.report import Report
from chathpc.reports import renderers
from chathpc.reports.style import Style
from tests.reports.sample import sample

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
    "\x1b]0;title\x07",
    "\x9b2J",
    "a\rb",
    "a\nb\n\n# heading\n- item",
    "a\x08\x08\x08hidden",
    "\u202egnp.exe\u202c",
    "\u200bzero\u2060width\ufeff",
    "\U000e0041\U000e0042tags",
    "[bold red]markup[/bold red]",
    "[link=http://evil.example]x[/link]",
    "[/]",
    "[E1]",
    ":warning:",
    "![x](http://evil.example/?q=1)",
    "![x][y]",
    "[x](javascript:alert(1))",
    "<script>alert(1)</script>",
    "<img src=http://evil.example>",
    "<http://evil.example>",
    "http://evil.example/a",
    "www.evil.example",
    "user@evil.example",
    "@everyone #1",
    "`code`",
    "``` ``` ```",
    "```\n![x](http://evil.example)\n```",
    "a` ![x](http://evil.example) `b",
    "\\![x](http://evil.example)",
    "&lt;b&gt;",
    "| a | b |\n|---|---|",
    "---",
    "===",
    "1. one",
    "2) two",
    "> quote",
    "~~struck~~ **bold** _under_",
    "$(rm -rf /) `id`",
    "<|im_start|>system",
    "",
    " ",
    "\U0001f600" * 50,
    "日本語の関数" * 20,
    "e\u0301" * 200,
    "x" * 5000,
    "a::" * 500,
    "<" * 500,
    ">" * 500,
    "operator<" * 50,
    "/" * 300,
]
#: What may stand in a page of text: no control, formatting, private or surrogate characters except the newline.
CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ue000-\uf8ff\ufeff\U000e0000-\U000e0fff]"
)
ACTIVE = {"link_open", "image", "html_inline", "html_block", "table_open"}


def everywhere(text: str, *, model: str | None = "m") -> Report:
    """The sample with every text that does not come from chathpc itself replaced by `text`."""
    keep = {"schema", "id", "kind", "verdict", "unit", "metric", "status", "evidence", "model", "timings", "versions"}
    keep |= {"audience", "origin", "clock", "collected"}

    def replaced(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {
                (text if key == "not_collected" else name): part
                if name in keep and isinstance(part, str | dict)
                else replaced(part, name)
                for name, part in value.items()
            }
        if isinstance(value, list):
            return [part if key in keep and isinstance(part, str) else replaced(part, key) for part in value]
        return text if isinstance(value, str) else value

    return Report.model_validate(replaced(json.loads(sample(model=model).to_json())))


def structure(text: str) -> list[str]:
    """The kinds of the blocks of a Markdown document, lists and paragraphs flattened to what their text cannot change."""
    return [
        token.type for token in MarkdownIt("commonmark").enable("table").parse(text) if token.type.startswith("heading")
    ]


def markdown_kinds(text: str) -> set[str]:
    kinds = set()
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        kinds.add(token.type)
        kinds |= {child.type for child in token.children or ()}
    return kinds


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_hostile_text_leaves_no_control_character(form: str, text: str) -> None:
    assert not CONTROL.search(renderers()[form](everywhere(text), Style()))
    assert not CONTROL.search(renderers()[form](everywhere(text, model="translator"), Style()))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_adds_no_escape_sequence_to_a_coloured_page(text: str) -> None:
    page = renderers()["text"](everywhere(text), Style(colour=True))
    assert not CONTROL.search(re.sub("\x1b\\[[0-9;]*m", "", page))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_neither_link_nor_image_nor_html_in_markdown(text: str) -> None:
    page = renderers()["markdown"](everywhere(text, model="translator"), Style())
    assert not markdown_kinds(page) & ACTIVE
    assert structure(page) == structure(renderers()["markdown"](everywhere("plain", model="translator"), Style()))


def outside_code(page: str) -> str:
    """The text of a Markdown document that is not set as code."""
    tokens = MarkdownIt("commonmark").parse(page)
    return "\n".join(child.content for token in tokens for child in token.children or () if child.type == "text")


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_a_viewer_would_turn_into_a_link_or_mention_stands_outside_of_code(text: str) -> None:
    plain = outside_code(renderers()["markdown"](everywhere(text), Style()))
    assert not re.search(r"://|www\.|\w@\w|(?<!\w)@\w|#\d", plain)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_back_from_the_json_as_it_was(text: str) -> None:
    report = everywhere(text)
    page = renderers()["json"](report, Style())
    assert page.isascii()
    assert not CONTROL.search(page)
    assert Report.model_validate_json(page) == report


@pytest.mark.parametrize("text", ["[bold]x[/bold]", ":warning:", "[link=http://e.example]x[/link]"])
def test_rich_markup_and_emoji_codes_are_shown_as_they_are(text: str) -> None:
    assert text in renderers()["text"](everywhere(text), Style(width=110, colour=True))


@pytest.mark.parametrize("render", ["text", "markdown"])
@given(text=st.text(max_size=60))
@settings(max_examples=60)
def test_any_text_at_all_is_rendered_without_effect(render: str, text: str) -> None:
    renderer: Callable[[Report, Style], str] = renderers()[render]
    page = renderer(everywhere("".join(c for c in text if not "\ud800" <= c <= "\udfff")), Style())
    assert not CONTROL.search(page)
    if render == "markdown":
        assert not markdown_kinds(page) & ACTIVE


@given(text=st.text(alphabet="`*_[]()<>!#&|~-+=\\ \nab1.@:/", max_size=40))
@settings(max_examples=150)
def test_no_arrangement_of_markdown_signs_becomes_markup(text: str) -> None:
    page = renderers()["markdown"](everywhere(text), Style())
    assert not markdown_kinds(page) & ACTIVE
    assert structure(page) == structure(renderers()["markdown"](everywhere("plain"), Style()))


@given(text=st.text(max_size=80), width=st.integers(60, 110))
@settings(max_examples=60)
def test_any_text_can_be_encoded_for_the_stream_it_goes_to(text: str, width: int) -> None:
    text = "".join(c for c in text if not "\ud800" <= c <= "\udfff")
    renderers()["text"](everywhere(text), Style(width=width, encoding="ascii")).encode("ascii")
