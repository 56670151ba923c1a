"""`chathpc models test`: what a model reads in pieces of source with known faults and in their healthy twins, and what it retells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import chain
from typing import Any

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.records import Place
from chathpc.llm.backend import Backend, Request
from chathpc.llm.fitness import Fitness, Reads, Retells
from chathpc.llm.timed import Timed
from chathpc.profile import numbers
from chathpc.prompts.loader import template
from chathpc.prompts.untrusted import MARK, block, marker_of
from chathpc.pruners.source import Shown, SourceText
from chathpc.reading.answer import read
from chathpc.reading.question import Listed, Question, as_written, assembled, cause_line, place_line
from chathpc.reading.retelling import retold, sentences

#: Seconds for the test of a model on this machine, and of one at a server; what has not been asked by then is left out.
LIMIT, LIMIT_SERVER = 300.0, 900.0
#: A model all of whose first answers are late is too slow here; more of them would not tell more.
MOST_LATE = 4
#: Who cites more lines at once has not said where the fault is.
_LONGEST_CITED = 20
_LINES = re.compile(r":(\d+)(?:[-–](\d+))?$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of source with its question; `causes` are the right ones, best first, and `right` the lines; none of a healthy one."""

    name: str
    question: Question
    causes: tuple[str, ...] = ()
    right: frozenset[int] = frozenset()

    def judged(self, answer: str) -> tuple[bool, bool]:
        """Whether a report would print a hypothesis of `answer`, and whether the first of these is right."""
        first = next((each for each in read(answer, self.question, "").hypotheses if each.is_shown), None)
        if first is None:
            return False, False
        cited = [range(int(at[1]), int(at[2] or at[1]) + 1) for each in first.cites if (at := _LINES.search(each))]
        lines = {first.where.line, *chain.from_iterable(each for each in cited if len(each) <= _LONGEST_CITED)}
        return True, first.cause in self.causes and bool(self.right & lines)


def examine(
    backend: Backend, *, deadline: float, limit: float = LIMIT, note: Callable[[str], None] = lambda _text: None
) -> Fitness:
    """What `backend` can: facts to retell, then faulty and healthy pieces in turn, until the outcome is certain or `limit` seconds are over.

    `deadline` is that of a real report, in seconds; an answer that is not there by then counts as wrong. `note` is told how far it is.
    Raises ModelUnavailableError if the model cannot be asked at all.
    """
    timed = Timed(backend, limit)
    loaded = timed.load()
    told, found, order = Retells(), Reads(), pieces()
    if timed.left > 0:
        told = _retells(timed, deadline)
    for number, piece in enumerate(order):
        faulty = sum(bool(each.causes) for each in order[number:])
        left = timed.left
        too_slow = found.late >= MOST_LATE and found.late == number
        if left <= 0 or too_slow or found.settled(faulty, len(order) - number - faulty):
            break
        note(f"piece {number + 1} of {len(order)}")
        sent = piece.question
        answer = timed.ask(Request(sent.system, sent.user, sent.max_tokens, json_schema=sent.schema, deadline=deadline))
        late = answer is None or answer.finish_reason == "deadline"
        if late and left < deadline:
            break  # the test's time was up, not the model's
        found = replace(found, late=found.late + late)
        printed, right = piece.judged("" if answer is None or late else answer.text)
        if piece.causes:
            found = replace(found, right=found.right + right, asked=found.asked + 1)
        else:
            found = replace(found, blamed=found.blamed + printed, twins=found.twins + 1)
    return Fitness(
        backend.name if loaded is None else loaded.model,
        tokens_per_second=timed.tokens_per_second,
        first_token=timed.first_token,
        read_speed=timed.read_speed,
        seconds=timed.seconds,
        reads=found,
        retells=told,
    )


def _retells(timed: Timed, deadline: float) -> Retells:
    """The facts in plain words: each needs a sentence that is true to it."""
    form, facts = template("prose"), [each.statement for each in _facts(_loaded("facts.yaml")["facts"])]
    lines = [f"{number}. {each}" for number, each in enumerate(facts, 1)]
    user = f"{block('facts', lines, marker_of(lines))}\n\n{form.task}"
    answer = timed.ask(Request(form.system, user, form.max_output_tokens, deadline=deadline))
    # Who repeats the question, marks and all, has not answered it.
    text = "" if answer is None or MARK in answer.text else answer.text
    said = sentences(text)
    return Retells(sum(any(each and not retold(each, fact) for each in said) for fact in facts), len(facts))


def _loaded(name: str) -> dict[str, Any]:
    from chathpc.packaged import table

    found: dict[str, Any] = table("chathpc.reading", f"pieces/{name}")
    return found


def _facts(told: list[dict[str, Any]], first: int = 1) -> list[Fact]:
    return [
        Fact(
            f"E{number}",
            Kind(each["kind"]),
            each["subject"],
            each["value"],
            each["unit"],
            source="",
            whole=Quantity(**each["whole"]) if "whole" in each else None,
            parts=tuple(Part(**part) for part in each.get("parts", ())),
            form=Form(each.get("form", Form.ONE)),
        )
        for number, each in enumerate(told, first)
    ]


@cache
def pieces() -> tuple[Piece, ...]:
    """All pieces, in the order in which they are asked: faulty and healthy in turn, a piece and its twin far from each other."""
    sets = [_loaded(f"{name}.yaml") for name in ("host", "openmp", "mpi", "gpu")]
    known = sorted(
        ((each, of) for of in sets for each in of["pieces"]), key=lambda item: sha256(item[0]["name"].encode()).digest()
    )
    half = len(known) // 2
    turns = zip(known, known[half:] + known[:half], strict=True)
    return tuple(_piece(*each, kind) for turn in turns for each, kind in zip(turn, ("", "twin_"), strict=True))


def _piece(told: dict[str, Any], of: dict[str, Any], kind: str) -> Piece:
    code, file = told["source"], told["file"]
    for old, new in told["twin"] if kind else ():
        code = code.replace(old, new)
    times, calls = told[f"{kind}times"], told.get(f"{kind}calls", {})
    total = sum(row[2] for row in times)
    by_function: dict[str, list[tuple[float, int, str]]] = {}
    for function, text, seconds, *library in times:
        by_function.setdefault(function, []).append((seconds, _line(code, text), library[0] if library else function))
    listed, facts, tree = list[Listed](), list[Fact](), list[str]()
    for function, rows in by_function.items():
        own = sum(row[0] for row in rows)
        place, whole = Place(function, file, max(rows)[1]), min(1.0, max(own, calls.get(function, 0.0)) / total)
        # As in places.places: below 2 % its own time is not what a function is listed for.
        listed.append(Listed(f"P{len(listed) + 1}", place, own / total if own >= 0.02 * total else 0.0, whole))
        if own:
            fact = Fact(f"E{len(facts) + 1}", Kind.AMOUNT, function, own, "s", "", Quantity(total, "s"), form=Form.NAME)
            facts.append(fact)
        tree.append(f"{whole:.1%} {function} {file}")
        tree += [f"  {row[0] / total:.1%} {row[2]} {file}:{row[1]}" for row in rows if row[0]]
    facts += _facts(told.get(f"{kind}facts", []), len(facts) + 1)
    lines = code.splitlines()
    view = Shown({file: SourceText(file, lines)}, {file: frozenset(range(1, len(lines) + 1))}, {file: file})
    most = max(listed, key=lambda each: each.share or 0.0).place.function
    parts = [
        ("run", [f"{told.get('about', of['about']).format(**told)} · {numbers.quantity(total, 's')}"]),
        ("measured facts", [f"{each.id}: {each.statement}" for each in facts]),
        ("what the rules found", [f"hot-spot: Most of the time is in {most}; no cause was found."]),
        ("places", [place_line(each) for each in listed]),
        ("source", [as_written(line) for line in view.block()]),
        ("call tree", tree),
        ("causes", [cause_line(cause(each)) for each in of["causes"]]),
    ]
    values = {each.id: each for each in facts}
    asked = assembled(template("reading"), parts, tuple(listed), tuple(of["causes"]), view, values, {})
    if kind:
        return Piece(f"{told['name']}, healthy", asked)
    return Piece(told["name"], asked, tuple(told["is"]), frozenset(_spans(code, told["right"])))


def _line(code: str, text: str, after: int = 0) -> int:
    return code[: code.index(text, after)].count("\n") + 1


def _spans(code: str, ends: list[str]) -> Iterator[int]:
    """The lines from each first text to the next one that follows it."""
    for first, last in zip(ends[::2], ends[1::2], strict=True):
        yield from range(_line(code, first), _line(code, last, code.index(first)) + 1)
