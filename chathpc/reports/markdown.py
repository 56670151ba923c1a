"""The report as Markdown (CommonMark, GitHub's dialect included), safe to show whatever names a profile holds.

A word that could mean something in Markdown is set as code, where no link, image, mention or HTML can hide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.report import FindingRecord, Report
from chathpc.reports import wording
from chathpc.reports.calltree import largest, legend, tree_lines
from chathpc.reports.style import Style

#: Words of these characters mean nothing in Markdown except at the beginning of a line.
_INERT = re.compile(r"[\w.,;:?!%'\"/()×±µ=+−–…“”‘’-]+")
#: Code within a sentence, and what may stand between it and the blanks around it.
_SPAN = re.compile(r"(?<!\S)([(\"'“‘]*)`([^`]+)`([.,;:?!)\"'”’]*)(?!\S)")
#: Words that some dialects turn into links although no character in them is special.
_LINK = re.compile(r"//|www\.|@|#|_|^https?:|^mailto:", re.IGNORECASE)
#: A line that begins like this would become a list or a heading.
_LINE_START = re.compile(r"^(\d+)([.)])(?=\s|$)|^([-+=~>#*])")
#: Brackets and quotation marks, and how many marks around a word are looked at.
#: A word; an index or a call with blanks in it (`a[i * n + j]`, `f(x, y)`) is one.
_EXPRESSION = re.compile(r"\w[\w.:>-]*(?:[\[(][^\[\]()`]{1,80}[\])])+\S*|\S+")
_PAIRS = {"(": ")", "[": "]", "“": "”", "‘": "’"}
_OPENED = {closing: opening for opening, closing in _PAIRS.items()}
_STOPS = ".,;:?!"
_MOST_AROUND = 4
_CITATION = re.compile(r"\[[A-Za-z0-9]+\]")
_BRACKETS, _ESCAPED = re.compile(r"[\[\]]"), r"\\\g<0>"
_TREE_WIDTH = 100
_NAME_WIDTH = 120


def render(report: Report, style: Style) -> str:
    """The whole report; lines are not wrapped, for Markdown viewers do that."""
    blocks = [
        f"# {prose(report.profile.title or 'Profile')}",
        " · ".join(prose(word) for word in wording.run_line(report)[1:]),
        f"**{wording.VERDICTS[report.verdict].capitalize()}.** {prose(wording.headline(report))}",
        *_explanation(report),
    ]
    examined = listed(prose(line) for line in wording.examined(report)) if wording.examined(report) else ""
    if wording.looked_first(report):
        blocks.append(examined)
    several = wording.several_tools(report)
    evidence = {record.id: wording.statement(record, several) for record in report.evidence}
    for number, finding in enumerate(report.findings, start=1):
        blocks += [
            f"## {number}. {prose(finding.title)}",
            *_finding(finding, report.headline, evidence, mends=wording.mends(report)),
        ]
    blocks += _suspected(report)
    uncited = wording.uncited(report)
    if uncited:
        blocks += ["## Measured", listed(f"**{prose(key)}** {prose(evidence[key])}" for key in uncited)]
    if style.statements:
        said = wording.fates(report)
        blocks += ["## Statements", listed(map(prose, said)) if said else "No model contributed."]
    blocks += [*_flat(report), *_tree(report)]
    if report.profile.caveats or report.notes:
        blocks += ["## Bear in mind", listed(prose(text) for text in (*report.profile.caveats, *report.notes))]
    if report.profile.not_collected:
        missing = (f"{prose(what)}: {_command(how)}" for what, how in report.profile.not_collected.items())
        blocks += ["## Not collected", listed(missing)]
    if not wording.looked_first(report):
        blocks.append(examined)
    if report.evidence:
        sources = (f"**{prose(record.id)}** {prose(record.source)}" for record in report.evidence)
        blocks += ["## Where the evidence comes from", listed(sources)]
    blocks.append(f"---\n\n{prose(wording.checked(report))}")
    return style.fit("\n\n".join(block for block in blocks if block) + "\n")


def _command(text: str) -> str:
    """`command (what it tells)`, of which the command can be copied by itself."""
    tells = wording.purpose_of(text)
    return code(wording.command_of(text)) + (f" ({prose(tells)})" if tells else "")


def _finding(finding: FindingRecord, headline: str, evidence: dict[str, str], *, mends: bool) -> list[str]:
    name = finding.where.kernel or finding.where.function
    place = wording.place(finding.where)
    where = " at ".join(code(shorten(text, _NAME_WIDTH)) for text in (name, place) if text)
    rows = [f"**{prose(key)}** {prose(evidence[key])}" for key in finding.evidence if key in evidence]
    if len(finding.where.path) > 1:
        rows.append("**Path** " + " → ".join(code(shorten(name, _NAME_WIDTH)) for name in finding.where.path))
    if finding.source:
        rows.append("**Code** " + code(finding.source))
    doing, lines = wording.doing(finding) if mends else ([], [])
    rows += [f"**Gain** {prose(wording.gain(finding))}"] if mends else []
    rows += [f"**{'Do' if number == 0 else 'Or'}** {prose(text)}" for number, text in enumerate(doing)]
    rows.append(f"**Confidence** {prose(wording.sure(finding))}")
    if finding.next_measurement:
        rows.append(f"**Next** {_command(finding.next_measurement)}")
    change = fenced("\n".join(lines)) if lines else ""
    return [where, prose(wording.summary(finding, headline)), listed(rows), change]


def _suspected(report: Report) -> list[str]:
    """What a model suspects, under its name, and what else it read."""
    blocks = []
    if report.suspected:
        blocks += ["## Suspected", f"*{prose(wording.readers(report).capitalize())}.*"]
    for each in report.suspected:
        names = [name for name in (each.where.kernel or each.where.function, wording.place(each.where)) if name]
        rows = [f"**Confidence** {prose(wording.standing(each))}"]
        rows += [f"**Against** {prose(against)}" for against in each.against]
        if each.measurement:
            rows.append(f"**Trial** {_command(each.measurement)}")
        blocks += [
            f"### {each.id}. {prose(each.name)}",
            " at ".join(code(shorten(name, _NAME_WIDTH)) for name in names),
            f"> {prose(wording.mechanism(each))}",
            listed(rows),
        ]
        if each.change:
            blocks += ["Proposed, not tried:", fenced("\n".join(wording.change_lines(each)))]
    cited = [
        (each, f" ({', '.join(map(prose, each.cites))})" if each.cites else "") for each in wording.statements(report)
    ]
    if cited:
        blocks += ["## Read in the source", listed(f"{prose(each.text)}{cites}" for each, cites in cited)]
    return blocks


def _explanation(report: Report) -> list[str]:
    explanation = report.explanation
    sentences = []
    for one in wording.told(report):
        cited = f" ({', '.join(prose(key) for key in one.cites)})" if one.cites else ""
        sentences.append(f"{prose(wording.words(one))}{cited}")
    note = f"*{prose(explanation.note)}*" if explanation.note else ""
    if not sentences:
        return [note]
    label = wording.author(report)
    label = f"*{prose(label[0].upper() + label[1:])}.*" if label else ""
    return ["## In short", label, " ".join(sentences), note]


def _flat(report: Report) -> list[str]:
    if not report.flat or report.verdict == "insufficient-data":
        return []
    rows = (f"{numbers.percent(row.share)} {code(shorten(row.name, _NAME_WIDTH))}" for row in report.flat)
    return ["## Flat profile", listed(rows)]


def _tree(report: Report) -> list[str]:
    if report.tree is None or not report.tree.rows:
        return []
    plain = Style(width=_TREE_WIDTH)
    tree = largest(report.tree)
    lines = [line.plain.rstrip() for line in tree_lines(tree, plain)]
    return [
        "## Where the time is" if report.tree.unit == "s" else "## Where it is",
        prose(f"{wording.coverage(report, len(tree.rows))}."),
        fenced("\n".join([*lines, legend(plain)])),
    ]


def prose(text: str) -> str:
    """A sentence as Markdown that shows exactly this sentence; what stands between two backticks is one code span."""
    text = clean(" ".join(text.split()))
    parts = []
    end = 0
    for span in _SPAN.finditer(text):
        if span[2].strip():
            parts += [*_words(text[end : span.start()]), f"{span[1]}{code(span[2])}{span[3]}"]
            end = span.end()
    return _LINE_START.sub(_escape_start, " ".join([*parts, *_words(text[end:])]))


def _words(text: str) -> list[str]:
    return [_word(word) for word in _EXPRESSION.findall(text)]


def _escape_start(match: re.Match[str]) -> str:
    return f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}"


def _word(word: str) -> str:
    if _INERT.fullmatch(word) and not _LINK.search(word):
        return word
    if not any(character.isalnum() for character in word):
        return "".join(f"\\{c}" if c.isascii() else c for c in word)
    start, core, end = _taken_apart(word)
    inert = _INERT.fullmatch(core) and not _LINK.search(core)
    return f"{_BRACKETS.sub(_ESCAPED, start)}{core if inert else code(core)}{_BRACKETS.sub(_ESCAPED, end)}"


def _taken_apart(word: str) -> tuple[str, str, str]:
    """A word between what belongs to the sentence: brackets and quotation marks that are not closed or opened in the word, and stops."""
    first, last = 0, len(word)
    for _ in range(_MOST_AROUND):
        if _CITATION.fullmatch(word, first, last):
            return word[: first + 1], word[first + 1 : last - 1], word[last - 1 :]
        if word[first] in _PAIRS and word.count(word[first], first, last) > word.count(
            _PAIRS[word[first]], first, last
        ):
            first += 1
        end = word[last - 1]
        opener = _OPENED.get(end)
        if end in _STOPS or (opener and word.count(end, first, last) > word.count(opener, first, last)):
            last -= 1
    return word[:first], word[first:last], word[last:]


def code(text: str) -> str:
    """`text` as a code span, in which nothing is markup: its fence is longer than any run of backticks inside."""
    text = clean(" ".join(text.split()))
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def fenced(text: str) -> str:
    """Lines as a code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; empty without rows. A bar would end a cell, also inside of code."""
    if not rows:
        return ""
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in (header, ["---"] * len(header), *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in escaped)


def listed(rows: Iterable[str]) -> str:
    """A list of items that are Markdown already."""
    return "\n".join(f"- {row}" for row in rows)
