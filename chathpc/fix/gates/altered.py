"""Constants of code that a change leaves alone, altered on both sides alike: what is computed follows, what was written down does not.

The idea is that of metamorphic and differential testing (T. Y. Chen et al., Metamorphic testing: a new approach, 1998): nobody knows the
right answer of the altered program, but both sides must give the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from itertools import islice

import numpy as np

from chathpc.fix.gates.examination import Examination, Problem, slower_alone
from chathpc.fix.gates.text import code, value
from chathpc.fix.outputs import Difference, compare
from chathpc.fix.records import Verdict
from chathpc.fix.runner import Case
from chathpc.fix.thresholds import threshold
from chathpc.profile.languages import kind_of
from chathpc.profile.text import clean

_REAL = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eEdD][+-]?\d+)?(?![\w.])")
_COUNT = re.compile(r"(?<![\w.])\d{2,7}(?![\w.])")
#: Lines that say how much memory there is, or what a text looks like, are left alone.
_LEFT = re.compile(
    r"\[|alloc|new |dimension|\ballocatable\b|printf|format|#|write|print|include|pragma|!\$|static|parameter",
    re.IGNORECASE,
)
_STRING = re.compile(r"\"|'")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One constant altered on both sides: the whole texts of the files, and what was altered. In `everywhere` it is also altered in lines
    that the change brings, which may do what the altered line did; None where these do not have it.
    """

    original: Mapping[str, str]
    changed: Mapping[str, str]
    statement: str
    everywhere: Mapping[str, str] | None = None


def mutants(original: Mapping[str, str], changed: Mapping[str, str], random: np.random.Generator) -> Iterator[Mutant]:
    """Mutants in random order, those of real numbers first. `original` and `changed` are all files that may be edited."""
    sites = [
        site for path in sorted(original) if path in changed for site in _sites(path, original[path], changed[path])
    ]
    for real in (True, False):
        some = [site for site in sites if site[4] == real]
        for at in random.permutation(len(some)).tolist():
            path, mine, theirs, number, _ = some[at]
            altered = _altered(number, real, random)
            if altered is None:
                continue
            text = _put(changed[path], theirs, number, altered)
            everywhere = _put_in_new(original[path], text, number, altered)
            yield Mutant(
                {**original, path: _put(original[path], mine, number, altered)},
                {**changed, path: text},
                f"{path}: {number} becomes {altered}",
                None if everywhere == text else {**changed, path: everywhere},
            )


def _sites(path: str, original: str, changed: str) -> Iterator[tuple[str, tuple[int, int], tuple[int, int], str, bool]]:
    """Numbers of lines that are the same on both sides: file, (line, column) on either side, number, whether it is a real one."""
    if kind_of(path) is None:
        return
    mine, theirs = original.split("\n"), changed.split("\n")
    plain = code(path, original).plain.split("\n")
    for block in SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks():
        for row in range(block.size):
            at, to = block.a + row, block.b + row
            line = mine[at]
            if _STRING.search(line) or (at < len(plain) and len(plain) == len(mine) and not plain[at].strip()):
                continue
            comment = re.search(r"//|/\*|!", line)
            line = line[: comment.start()] if comment else line
            for pattern, real in ((_REAL, True), (_COUNT, False)):
                if not real and _LEFT.search(line):
                    continue
                for match in pattern.finditer(line):
                    if (value(match[0]) or 0) != 0:
                        yield path, (at, match.start()), (to, match.start()), match[0], real


def _altered(number: str, real: bool, random: np.random.Generator) -> str | None:
    if not real:
        count = int(number)
        return None if count < threshold("altered_count") else str(count - int(random.integers(1, max(2, count // 8))))
    mantissa, mark, exponent = re.match(r"([\d.]+)([eEdD]?)(.*)", number).groups()  # type: ignore[union-attr]
    digits = len(mantissa.partition(".")[2]) + 3
    factor = random.uniform(threshold("altered_least"), threshold("altered_most"))
    altered = f"{float(mantissa) * factor:.{digits}f}"
    return f"{altered}{mark}{exponent}"


def _put(text: str, place: tuple[int, int], old: str, new: str) -> str:
    rows = text.split("\n")
    row, column = place
    rows[row] = rows[row][:column] + new + rows[row][column + len(old) :]
    return "\n".join(rows)


def _put_in_new(original: str, changed: str, old: str, new: str) -> str:
    """`changed` with a number altered in all lines that the original does not have."""
    known = {line.strip() for line in original.split("\n")}
    number = re.compile(rf"(?<![\w.]){re.escape(old)}(?![\w.])")
    rows = changed.split("\n")
    return "\n".join(row if row.strip() in known else number.sub(new, row) for row in rows)


_KNOWN = "It is fast only with the numbers that it knows"


def constants(examined: Examination) -> Problem | None:
    """Constants altered on both sides: first with the run that is timed, for that one gains from being known."""
    told: list[Problem] = []
    useful = followed = 0
    for case in dict.fromkeys((examined.reference.timed(), examined.reference.quickest())):
        altered = mutants(examined.original_texts, examined.texts, examined.random)
        for mutant in islice(altered, int(threshold("altered_tries"))):
            examined.tell(f"checking with a constant altered on both sides: {clean(mutant.statement)}")
            found = _mutated(examined, mutant, case)
            if found is None:
                continue
            useful += 1
            verdict, said = found
            said = f"{said} with a constant altered on both sides ({clean(mutant.statement)})."
            if verdict is None:
                followed += 1
                break
            if said.startswith(_KNOWN):
                return verdict, said
            # One constant alone may mean something else in a change that has replaced it; what is not computed follows none.
            told.append((verdict, said))
    if told and not followed:
        return max(told, key=lambda each: each[0] == Verdict.CHEATED)
    if useful:
        examined.tried.append(f"{useful} constant{'s' if useful != 1 else ''} altered on both sides")
    else:
        examined.left_out.append("altered constants: none was conclusive")
    return None


def _mutated(examined: Examination, mutant: Mutant, case: Case) -> tuple[Verdict | None, str] | None:
    """What a mutant tells: a verdict and why, (None, "") for nothing wrong; None if the original does not feel it."""
    runner = examined.runner
    check = runner.project.check
    plain = examined.reference.run(case)
    limit = plain.seconds * threshold("longer_altered") + threshold("longer_seconds")
    mine, theirs = runner.lanes.builds(
        [partial(runner.build, mutant.original, None), partial(runner.build, mutant.changed, examined.changed.flags)]
    )
    if not mine.completed.succeeded or not theirs.completed.succeeded:
        return None
    first = runner.run(mine, case, seconds=limit)
    if not first.completed.succeeded or not _reacts(compare(plain.outputs, first.outputs, check)):
        return None
    run = partial(runner.run, case=case, seconds=limit)
    second, answered = runner.lanes.runs([partial(run, theirs), partial(run, examined.changed)])
    examined.cases += 1
    found = compare(first.outputs, second.outputs, check)
    if found.same:
        if slower_alone((plain, first), (answered, second), lambda: runner.run(theirs, case, seconds=limit)):
            return Verdict.CHEATED, f"{_KNOWN}, and not"
        return None, ""
    if mutant.everywhere is not None:
        # The line that was altered may have a successor, and be of no use any more.
        there = runner.build(mutant.everywhere, examined.changed.flags)
        if (
            there.completed.succeeded
            and compare(first.outputs, runner.run(there, case, seconds=limit).outputs, check).same
        ):
            return None, ""
    if compare(answered.outputs, second.outputs, check).same:
        return Verdict.CHEATED, "The output is not computed: it stays the same"
    return Verdict.WRONG_ANSWER, f"The output differs ({found.statement})"


def _reacts(found: Difference) -> bool:
    """The answer is another, and still an answer."""
    return found.kind in ("number", "text")
