"""Sentences as Markdown: code in them is one span, and what stands around it stays prose."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

import chathpc
from chathpc.fix.recipes.exact import exact_changes
from chathpc.reports import renderers
from chathpc.reports.html.data import PLAIN
from chathpc.reports.markdown import prose
from tests.chat.questions import EXAMPLES


@pytest.mark.parametrize(
    ("sentence", "markdown"),
    [
        ("get one with `chathpc models pull`.", "get one with `chathpc models pull`."),
        ("none is here (`chathpc models list` shows some)", "none is here (`chathpc models list` shows some)"),
        ("`a_b c_d`, `e`; or “`f g`”?", "`a_b c_d`, `e`; or “`f g`”?"),
        ("“The iterations are shared unevenly.”", "“The iterations are shared unevenly.”"),
        ("it’s slow…", "it’s slow…"),
        ("it waits [E1, heat_omp.c:47].", "it waits \\[E1, `heat_omp.c:47`\\]."),
        ("“waits in heat_omp.” [E1]", "“waits in `heat_omp`.” \\[E1\\]"),
        ("an array a[i_0] and f(x_0)", "an array `a[i_0]` and `f(x_0)`"),
        ("steps through g.k[i * g.ny + j] by g.ny", "steps through `g.k[i * g.ny + j]` by g.ny"),
        ("advect reads u(i, j) (twice)", "advect reads `u(i, j)` (twice)"),
        ("(see [E2])", "(see \\[E2\\])"),
    ],
)
def test_a_sentence_with_code_in_it_is_written_as_it_is(sentence: str, markdown: str) -> None:
    assert prose(sentence) == markdown


@pytest.mark.parametrize(
    ("sentence", "spans"),
    [
        ("a `chathpc models pull` b", ["chathpc models pull"]),
        ("`![x](http://evil.example) y` z", ["![x](http://evil.example) y"]),
        ("foo_bar`x y`baz_q", ["foo_bar`x", "y`baz_q"]),
        ("one ` alone, and `another", ["`another"]),
        ("`` two `` `", []),
        ("` ` `  `", []),
    ],
)
def test_a_viewer_shows_these_spans_of_code(sentence: str, spans: list[str]) -> None:
    tokens = MarkdownIt("commonmark").parse(prose(sentence))
    children = [child for token in tokens for child in token.children or ()]
    assert [child.content for child in children if child.type == "code_inline"] == spans
    assert {child.type for child in children} <= {"code_inline", "text", "text_special"}


def test_a_finding_has_its_change_as_lines_and_the_flat_profile_stands_before_the_tree() -> None:
    text = renderers()["markdown"](
        chathpc.explain(EXAMPLES / "omp-triangle" / "database", propose=exact_changes), PLAIN
    )
    before, lines, after = text.partition("- #pragma omp parallel for reduction(+ : total) schedule(static)\n+ #pragma")
    assert lines
    assert "stencil_omp.c:60" in before.rpartition("**Do**")[2]
    assert "schedule(dynamic, 16)" in after.partition("```")[0]
    assert text.count("- #pragma omp parallel for reduction(+ : total) schedule(static)") == 1, "said once"
    assert "- 43.4 % `work_item`" in text.partition("## Flat profile")[2].partition("## Where the time is")[0]
