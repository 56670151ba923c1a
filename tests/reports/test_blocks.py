"""The same blocks as text, as Markdown and as HTML: all say the same, each in its own way, and names act in none."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from chathpc.reports.blocks import Blocks, named
from chathpc.reports.fragments import Fragment
from chathpc.reports.markdown import Markdown
from chathpc.reports.page import Page
from chathpc.reports.style import Style
from tests.reports.test_hostile import HOSTILE
from tests.reports.test_markup import safe


def written(page: Blocks, name: str) -> str:
    page.head(["heat", [(name, "name")]])
    page.verdict("slower", "red", ["It is slow in ", *named(name), "."])
    page.heading("Places", "of most time", fold=True)
    page.titled("1", "A title", (name, "heat.c:12"))
    page.paragraph("It waits.", label="cause")
    page.paragraph(["Run ", (name, "code")], label="Do")
    page.item(["The last one", ("E1", "strong")])
    page.table(("what", "time"), [(named(name), "1.0 s"), ([("total", "strong")], "+2.0 s")], right="time")
    page.code("a  b\n  c")
    page.notes(["One note."])
    page.foot("Made here.")
    return page.text()


def test_a_terminal_has_columns() -> None:
    text = written(Page(Style(width=60)), "f<int>")
    assert text.splitlines()[:3] == ["heat · f<int>", "", "SLOWER  It is slow in f<int>."]
    assert f"\n{'1  A title':<43}f<int>  heat.c:12\n" in text
    assert "\n   cause      It waits.\n   Do         Run f<int>\n" in text
    assert "\nwhat      time\nf<int>   1.0 s\ntotal   +2.0 s\n" in text


def test_markdown_has_headings_lists_and_tables() -> None:
    assert written(Markdown(Style()), "f<int>").split("\n\n") == [
        "# heat", "`f<int>`", "**Slower.** It is slow in `f<int>`.", "## Places", "*Of most time.*", "## 1. A title", "`f<int>` at `heat.c:12`",
        "- **Cause** It waits.\n- **Do** Run `f<int>`\n- The last one**E1**",
        "| what | time |\n| --- | ---: |\n| `f<int>` | 1.0 s |\n| **total** | +2.0 s |",
        "```text\na  b\n  c\n```", "Notes:", "- One note.", "---", "Made here.\n",
    ]  # fmt: skip


def test_html_has_elements_and_folds_a_section_up_to_the_next_title() -> None:
    page = written(Fragment(Style()), "f<int>")
    assert (
        '<details><summary>Places</summary><p style="opacity:0.7">Of most time.</p></details><h4>1. A title</h4>'
        in page
    )
    assert "<ul><li><b>Cause</b> It waits.</li><li><b>Do</b> Run <code>f&lt;int&gt;</code></li>" in page
    assert '<td style="text-align:right;white-space:pre;' in page, "a number stays with its unit"
    assert "<pre>a  b\n  c</pre>" in page


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_text_in_each_kind_of_block(name: str) -> None:
    safe(written(Fragment(Style()), name))
    tokens = MarkdownIt("gfm-like", {"linkify": False}).enable("table").parse(written(Markdown(Style()), name))
    kinds = {child.type for token in tokens for child in (token.children or [])} | {token.type for token in tokens}
    assert not kinds & {"html_inline", "html_block", "link_open", "image"}
    assert all(each == "\n" or each.isprintable() for each in written(Page(Style()), name))
