"""How reports, profiles, trees, comparisons and answers are shown by IPython: as HTML, as Markdown, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chathpc.chat.record import Answer
    from chathpc.chat.tools import Result
    from chathpc.comparison.record import Diff
    from chathpc.profile.profile import Profile
    from chathpc.report import Report, TreeRecord
    from chathpc.reports.blocks import Blocks
    from chathpc.reports.style import Style

Shown = Callable[[Any], str]


def register(display_formatter: Any) -> None:
    """Tell IPython's display formatter what our types look like; the types are known by name, and imported by whoever has one."""
    for form, mime in (("html", "text/html"), ("markdown", "text/markdown")):
        for (module, name), function in _FORMS[form].items():
            display_formatter.formatters[mime].for_type_by_name(module, name, function)
    for (module, name), function in _FORMS["text"].items():
        display_formatter.formatters["text/plain"].for_type_by_name(module, name, partial(_pretty, function))


def unregister(display_formatter: Any) -> None:
    """Take back what `register` told."""
    for form, mime in (("html", "text/html"), ("markdown", "text/markdown"), ("text", "text/plain")):
        formatter = display_formatter.formatters[mime]
        for module, name in _FORMS[form]:
            formatter.pop(f"{module}.{name}", None)


def _pretty(function: Shown, shown: Any, printer: Any, cycle: bool) -> None:
    printer.text(function(shown).rstrip("\n"))


def _style() -> Style:
    from chathpc.reports.style import Style

    return Style()


# -- reports, comparisons, trees -----------------------------------------------------------------------------


def _page(kind: str, shown: Report | Diff) -> str:
    """The page in a frame where there is what a page draws (`explain(…, view=True)`), else static parts.

    The frame may run the page's script and nothing else: it has no origin, so it reaches nothing of the notebook.
    """
    if shown.view is None:
        from chathpc.reports import fragment

        return fragment(kind, shown)
    from html import escape

    page = escape(_rendered(kind, "html", shown))
    return f'<iframe title="chathpc" sandbox="allow-scripts" style="width:100%;height:46rem;border:0" srcdoc="{page}"></iframe>'


def _rendered(kind: str, form: str, shown: Report | Diff) -> str:
    from chathpc.reports import renderers

    text: str = renderers(kind)[form](shown, _style())
    return text


def _tree_html(shown: TreeRecord) -> str:
    from chathpc.reports.fragments import tree

    return str(tree(shown))


def _tree_text(shown: TreeRecord) -> str:
    from chathpc.reports.calltree import tree_lines

    return "\n".join(line.plain.rstrip() for line in tree_lines(shown, _style()))


# -- profiles ------------------------------------------------------------------------------------------------


def _profile_words(shown: Profile) -> list[str]:
    from chathpc.profile import numbers
    from chathpc.profile.run import run_facts, run_words

    contexts = numbers.quantity(len(shown.tree), "contexts")
    return [word for word in (shown.title, shown.format, *run_words(run_facts(shown)), contexts) if word]


def _totals(shown: Profile) -> list[tuple[str, str, str]]:
    """Id, total and meaning of each metric that adds up."""
    from chathpc.profile import numbers
    from chathpc.profile.metric import Aggregation

    return [
        (one.id, numbers.quantity(shown.total(one.id), one.unit.value), one.description)
        for one in shown.metrics.values()
        if one.has_values and not one.hidden and one.aggregation != Aggregation.DERIVED
    ]


def _profile(page: Blocks, shown: Profile) -> None:
    page.paragraph([(" · ".join(_profile_words(shown)), "strong")], indent=0)
    if shown.helpers.sentence:
        page.paragraph(shown.helpers.sentence, indent=0)
    page.table(("metric", "total", "meaning"), _totals(shown), right="total")


# -- answers of the tools ------------------------------------------------------------------------------------


def _answer(page: Blocks, shown: Answer) -> None:
    from chathpc.chat.asker import NOTEBOOK
    from chathpc.chat.render import build

    build(page, shown, NOTEBOOK)


def _answer_markdown(shown: Answer) -> str:
    from chathpc.chat.asker import NOTEBOOK
    from chathpc.chat.render import markdown

    return markdown(shown, _style(), NOTEBOOK)


def _result(page: Blocks, shown: Result) -> None:
    from chathpc.chat.render import build_step

    build_step(page, shown)


def _written(build: Callable[[Any, Any], None], form: str, shown: Any) -> str:
    from chathpc.reports import written

    return written(build, form, shown, _style())


_REPORT = ("chathpc.report", "Report")
_TREE = ("chathpc.report", "TreeRecord")
_DIFF = ("chathpc.comparison.record", "Diff")
_PROFILE = ("chathpc.profile.profile", "Profile")
_ANSWER = ("chathpc.chat.record", "Answer")
_RESULT = ("chathpc.chat.tools.record", "Result")
#: For each form, module and name of a type → the function that writes it.
_FORMS: Mapping[str, Mapping[tuple[str, str], Shown]] = MappingProxyType(
    {
        "html": {
            _REPORT: partial(_page, "report"), _TREE: _tree_html, _DIFF: partial(_page, "diff"), _PROFILE: partial(_written, _profile, "fragment"),
            _ANSWER: partial(_written, _answer, "fragment"), _RESULT: partial(_written, _result, "fragment"),
        },
        "markdown": {
            _REPORT: partial(_rendered, "report", "markdown"), _DIFF: partial(_rendered, "diff", "markdown"), _ANSWER: _answer_markdown,
        },
        "text": {
            _REPORT: partial(_rendered, "report", "text"), _TREE: _tree_text, _DIFF: partial(_rendered, "diff", "text"),
            _PROFILE: partial(_written, _profile, "text"), _ANSWER: partial(_written, _answer, "text"), _RESULT: partial(_written, _result, "text"),
        },
    }
)  # fmt: skip
