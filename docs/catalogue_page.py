"""The catalogue as a page that a person reads: docs/catalogue.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from chathpc.diagnosis.catalogue import built_in, built_in_ids, common
from chathpc.diagnosis.catalogue.entry import FAMILIES, Advice, Cause, Threshold

_FENCE = {"c++": "cpp", "cuda": "cuda", "hip": "cpp"}

#: What Markdown would take for markup: code, emphasis (an underscore inside a word is none), a tag, a link, a table's border.
_MARKUP = re.compile(r"[\\`*<|\[\]]|(?<!\w)_+|_+(?!\w)")

_INTRODUCTION = """\
# Catalogue of performance problems

What chathpc knows about why programs are slow: how each cause is recognised, what speaks against it, the possible gain
and what to do. Findings are ranked by cost × headroom, where headroom is the share of the cost that can typically be saved.
A threshold is a share of the run's time over all threads unless its unit says otherwise; a share of sampled time counts as
above its threshold only if chance does not explain it (`sigma` in the [thresholds of all rules](#thresholds-of-all-rules)).

On the command line: `chathpc patterns list`, `chathpc patterns show ID`, `chathpc patterns search WORDS`. How to add entries
of your own: [patterns.md](patterns.md). How much the answers depend on each threshold: [thresholds.md](thresholds.md). This page
is made from the files in `chathpc/diagnosis/catalogue/` by `make docs`."""

#: What a family is about, for a reader who looks for the right one.
_ABOUT = {
    "host": "One thread or process by itself: what it computes, where its memory is, what it waits for, its files.",
    "openmp": "Threads that share loops: who waits for whom, and what starting, ending and locking cost.",
    "mpi": "Processes that exchange messages: late ranks, late messages, latency and volume.",
    "gpu-system": "The device from outside: copies, launches, idle time, several devices.",
    "gpu-kernel": "The device from inside: what a kernel's warps wait for, and which unit is at its limit.",
}

#: What a repair can remove at most, in words.
_BOUNDS = {
    "none": "not stated",
    "cost": "what the finding costs",
    "place": "the function's inclusive time",
}


def page() -> str:
    """A Markdown page with all built-in causes, grouped by family in the order of FAMILIES, a table of contents and the thresholds of all
    rules.
    """
    by_family: dict[str, list[Cause]] = {family: [] for family in FAMILIES}
    for cause in map(built_in, built_in_ids()):
        by_family[cause.family].append(cause)
    groups = [(FAMILIES[family], members) for family, members in by_family.items()]
    parts = [_INTRODUCTION, "## Contents", *(_contents(title, members) for title, members in groups)]
    for title, members in groups:
        parts += [f"## {title}", _ABOUT[members[0].family]]
        for cause in members:
            parts.extend(_entry(cause))
    parts += ["## Thresholds of all rules", thresholds_table(common())]
    return "\n\n".join(parts) + "\n"


def _contents(title: str, members: list[Cause]) -> str:
    """A table of the causes of a family: what is seen, and how much of the cost typically goes."""
    rows = [
        f"| [{cause.id}](#{cause.id}) | {_escape(cause.title)}{_mark(cause)} | {_escape(cause.meaning)} | {cause.headroom:.0%} |"
        for cause in members
    ]
    return "\n".join(
        [
            f"**{title}**: {_ABOUT[members[0].family]}",
            "",
            "| id | pattern | what happens | headroom |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def _mark(cause: Cause) -> str:
    return "" if cause.detected else " (no rule yet)"


def _entry(cause: Cause) -> Iterator[str]:
    # The id is the heading, so that its anchor is known and stable.
    yield f"### {cause.id}"
    yield f"**{_escape(cause.title)}**{_mark(cause)}"
    yield _escape(cause.what)
    yield _escape(cause.why)
    yield "Evidence:\n\n" + _list(cause.evidence)
    yield "Evidence against:\n\n" + _list(cause.speaks_against)
    if cause.refuted_by:
        yield "Ruled out by:\n\n" + _list(
            [f"`{row.measure}` below {row.below:g}: {row.source}" for row in cause.refuted_by]
        )
    yield f"Gain: {_escape(cause.gain)} Headroom {cause.headroom:.0%} ({_escape(cause.headroom_source)})."
    yield f"At most: {_BOUNDS[cause.bound]} ({_escape(cause.bound_source)})."
    if cause.thresholds:
        yield thresholds_table(cause.thresholds)
    yield "What to do:"
    for advice in cause.advice:
        yield from _advice(advice)
    yield f"Next measurement:\n\n```sh\n{cause.next_measurement.command.rstrip()}\n```"
    yield _escape(cause.next_measurement.tells)
    yield "References:\n\n" + _list(cause.references)


def thresholds_table(thresholds: Mapping[str, Threshold]) -> str:
    """A Markdown table of thresholds: name, value, unit, source."""
    rows = [_row(name, threshold) for name, threshold in thresholds.items()]
    return "\n".join(["| threshold | value | unit | source |", "|---|---|---|---|", *rows])


def _row(name: str, threshold: Threshold) -> str:
    return f"| {name} | {threshold.value:g} | {threshold.unit} | {_escape(threshold.source)} |"


def _advice(advice: Advice) -> Iterator[str]:
    yield f"- ({', '.join(advice.applies)}) {_escape(advice.do)}"
    if advice.example_language and advice.example_before and advice.example_after:
        fence = _FENCE.get(advice.example_language, advice.example_language)
        for title, code in (("Before", advice.example_before), ("After", advice.example_after)):
            block = "\n".join(["```" + fence, *code.rstrip().splitlines(), "```"])
            yield _indent(f"{title}:\n\n{block}")


def _indent(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {_escape(text)}" for text in texts)


def _escape(text: str) -> str:
    return _MARKUP.sub(lambda match: "".join("\\" + character for character in match[0]), text)
