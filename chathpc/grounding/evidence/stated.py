"""What single texts of a diagnosis state: their numbers as facts, their names, and what is said together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from chathpc.diagnosis.fact import Fact as Evidence
from chathpc.diagnosis.records import Diagnosis, Finding, Place
from chathpc.grounding.evidence.facts import Bundle, Fact
from chathpc.grounding.language.claims import Statement, group, read
from chathpc.grounding.language.quantities import IT, NONE, TOTAL, Keys, Quantity
from chathpc.grounding.language.tokens import is_code, normal_code, plain_code, tokenize
from chathpc.grounding.language.vocabulary import Vocabulary, stem

#: `gaps between kernels` are gaps.
_BETWEEN = re.compile(r" (?:between|behind|beside) .*\Z", re.DOTALL)
_PART_OF = re.compile(r"Of (?:these|them|it)\b")
#: Names of the critical path: `smooth 11.2 %, main 7.20 %`.
_ON_PATH = re.compile(r"[:,] ([A-Za-z_]\w{0,80}) [0-9.]{1,8} %")
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w{0,80}\Z")
COST: Keys = frozenset({"what:cost"})
KERNEL: Keys = frozenset({"what:kernel"})


class Reader:
    """Reads trusted texts with the names of one diagnosis."""

    def __init__(self, words: Vocabulary, plain: frozenset[str], short: Mapping[str, str]) -> None:
        self.words = words
        self._plain = plain
        self._short = short
        self._known: dict[str, Statement] = {}

    def read(self, text: str) -> Statement:
        """The text taken apart; each text once."""
        if text not in self._known:
            self._known[text] = read(tokenize(text[:2_000], self.words, self._plain, self._short), self.words)
        return self._known[text]


def place_names(place: Place | None) -> Keys:
    """The names that may be said of a place: function, kernel, file, line, with and without template arguments."""
    if place is None:
        return NONE
    files = {normal_code(place.file), place.short} if place.file else set()
    names = {n for n in (place.function, place.kernel) if n}
    return frozenset(names | {plain_code(n) for n in names} | files)


def plain_names(diagnosis: Diagnosis, words: Vocabulary) -> frozenset[str]:
    """Functions whose names look like words (`pow`, `advance`), unless they are words that the check needs for itself (`write`, `main`)."""
    places = [p for p in (*(f.where for f in diagnosis.findings), *(e.where for e in diagnosis.evidence)) if p]
    named = {n for p in places for n in (p.function, p.kernel, *p.path) if n}
    named |= {
        n for e in diagnosis.evidence if e.subject == "critical path" for n in _ON_PATH.findall(e.statement[:2_000])
    }
    subjects = {e.subject for e in diagnosis.evidence} - named
    return frozenset(
        n
        for n in named | subjects
        if _PLAIN_NAME.match(n)
        and not is_code(n)
        and stem(n) not in words.plain
        and all(n in named and key.startswith("what:") for key in words.subjects.at((stem(n),), 0)[1])
    )


def short_names(diagnosis: Diagnosis, words: Vocabulary) -> dict[str, str]:
    """The last parts of qualified names (`glaglagen` of `krobalan::glaglagen`) that no other name has and that are no words of the check."""
    places = [p for p in (*(f.where for f in diagnosis.findings), *(e.where for e in diagnosis.evidence)) if p]
    full = {plain_code(n) for p in places for n in (p.function, p.kernel) if n}
    full |= {plain_code(e.subject) for e in diagnosis.evidence if " " not in e.subject}
    owners: dict[str, set[str]] = {}
    for name in full:
        owners.setdefault(name.rsplit("::", 1)[-1], set()).add(name)
    return {
        last: next(iter(names))
        for last, names in owners.items()
        if len(names) == 1
        and last not in names
        and _PLAIN_NAME.match(last)
        and stem(last) not in words.neutral | words.remedies | words.counted | words.beside
        and not words.subjects.at((stem(last),), 0)[0]
    }


def evidence_facts(item: Evidence, statement: Statement, reader: Reader, bundle: frozenset[int]) -> Iterable[Fact]:
    """The numbers of an item of evidence, and its value where the statement does not print it."""
    subject = reader.read(_BETWEEN.sub("", item.subject))
    near = place_names(item.where) | subject.names
    kind = kind_of(item.where) | (KERNEL if (item.metric or "").startswith("gpu.kernel.") else NONE)
    dimension, factor = reader.words.evidence_units.get(item.unit, ("count", 1.0))
    about = frozenset(key for segment in subject.segments for key in segment.keys)
    found = following = False
    for fact in plain_facts(statement, item.statement, (item.id,), bundle, near, reader.words):
        fact = replace(fact, subjects=fact.subjects | kind, around=fact.around | about)
        if not group(fact.quantity.own, "what"):
            fact = replace(fact, subjects=fact.subjects | group(about, "what"))
        exact = _exact(item.value * factor, dimension, fact.quantity)
        if exact is None:
            if following and fact.quantity.dimension == "share" and not fact.quantity.own and not fact.quantity.names:
                # `Its hottest line is heat.c:12: 2.16 s, 58.5 % of the time`: the part of what the value is of.
                fact = replace(fact, subjects=fact.subjects | about, names=fact.names | subject.names)
            yield fact
            following = following and fact.quantity.is_base
            continue
        found = following = True
        keys = frozenset(key for segment in subject.segments for key in segment.keys)
        several = len(group(fact.quantity.own, "what") - COST) > 1
        needed = group(keys, "what") - COST if several else NONE
        names = fact.names | subject.names
        yield replace(fact, exact=exact, subjects=fact.subjects | keys, names=names, needed=needed)
    if not found and dimension != "ratio":
        keys = frozenset(key for segment in subject.segments for key in segment.keys)
        value = item.value * factor
        quantity = Quantity(value, (value, value), dimension, 0, 0, own=keys, names=subject.names)
        yield Fact(quantity, value, "", (item.id,), keys, subject.names, near, bundle)


def _exact(value: float, dimension: str, quantity: Quantity) -> float | None:
    """The record's value if the printed number is a rounding of it."""
    if quantity.dimension == "share" and dimension == "ratio":
        value *= 100
    elif quantity.dimension != dimension and not (dimension == "ratio" and quantity.dimension == "factor"):
        return None
    low, high = quantity.interval
    return value if low <= value <= high else None


def plain_facts(
    statement: Statement,
    text: str,
    evidence: tuple[str, ...],
    bundle: frozenset[int],
    near: Keys,
    words: Vocabulary,
) -> Iterable[Fact]:
    """The numbers of a text as they are printed."""
    around = frozenset(key for segment in statement.segments for key in segment.keys)
    before = ""
    for quantity in statement.quantities:
        if quantity.dimension == "share" and quantity.base is None and before == "bytes":
            quantity = replace(quantity, base=frozenset({"in:memory"}))  # `151 MB (7.39 %)` is no part of a time
        if quantity.dimension == "share" and quantity.base is None and _PART_OF.match(text):
            quantity = replace(quantity, base=IT)
        before = quantity.dimension
        yield Fact(
            _with_base(quantity, around, words),
            None,
            text[quantity.start : quantity.end],
            evidence,
            quantity.keys,
            quantity.names or quantity.inherited_names,
            near,
            bundle,
            around,
        )


def _with_base(quantity: Quantity, around: Keys, words: Vocabulary) -> Quantity:
    """A percentage without a base is a part of the whole, unless what it is about has a scale of its own (an occupancy).

    Where a statement takes an efficiency or the critical path apart, its percentages are of these.
    """
    if quantity.dimension != "share" or quantity.base or quantity.keys & words.own_scale or "what:efficiency" in around:
        return quantity
    return replace(quantity, base=frozenset({"what:path"}) if "what:path" in around else TOTAL)


def finding_facts(finding: Finding, index: int, words: Vocabulary, advised: Keys) -> Iterable[Fact]:
    """Seconds, share and bound of a finding; the bound may be said of what is `advised` as well."""
    cause = words.causes.get(finding.cause)
    keys = COST | (cause.reason if cause else NONE)
    near = place_names(finding.where)
    consequences = keys | cause.effect if cause else keys
    for value, dimension, own, text in (
        (finding.seconds, "time", keys, ""),
        (100 * finding.share, "share", keys, ""),
        (finding.speedup_bound, "factor", frozenset({"what:speedup"}), ""),
    ):
        if value is not None:
            base = TOTAL if dimension == "share" else None
            quantity = Quantity(value, (value, value), dimension, 0, 0, own=own, base=base)
            subjects = own | consequences if dimension == "factor" else own
            around = advised if dimension == "factor" else NONE
            yield Fact(quantity, value, text, finding.evidence, subjects, NONE, near, frozenset({index}), around)


#: Characters between a time, with its whole, and the percentage that it is: ` of 9.01 s (`.
_BEHIND = 20


def with_bases(facts: Sequence[Fact]) -> Iterable[Fact]:
    """The facts, where a percentage right behind a time is a part of the whole only if it is that time of one."""
    wholes = [fact.quantity for fact in facts if fact.quantity.is_base and fact.quantity.dimension == "time"]
    longest = max((whole.value for whole in wholes), default=0.0)
    parts = {f.quantity.value for f in facts if f.quantity.dimension == "time" and not f.quantity.is_base}
    before: Fact | None = None
    of: Quantity | None = None
    for fact in facts:
        quantity = fact.quantity
        if quantity.is_base:
            of = quantity
        elif quantity.base == TOTAL and of is not None and before is not None and before.evidence == fact.evidence:
            behind = 0 <= quantity.start - of.end <= _BEHIND and before.quantity.start < of.start
            if behind and of.value in parts and of.value < longest / 2:
                # `187 ms of 742 ms (25.2 %)` where 742 ms are a part themselves
                fact = replace(fact, quantity=replace(quantity, base=IT))
                quantity = fact.quantity
        if quantity.dimension == "share" and quantity.base == TOTAL and before is not None:
            part = before.exact if before.exact is not None else before.quantity.value
            low, high = quantity.interval
            of_one = any(w.interval[0] * low <= 100 * part * 1.01 and w.interval[1] * high >= 99 * part for w in wholes)
            near = quantity.start - before.quantity.end <= _BEHIND
            if near and before.evidence == fact.evidence and before.bundles == fact.bundles and wholes and not of_one:
                fact = replace(fact, quantity=replace(quantity, base=IT))
        before = (
            fact if quantity.dimension == "time" and not quantity.is_base else (before if quantity.is_base else None)
        )
        yield fact
        if (
            "what:path" not in fact.around
            and len({w.value for w in wholes}) == 1
            and fact.exact is not None
            and quantity.dimension == "time"
            and not quantity.is_base
        ):
            part = 100 * fact.exact / wholes[0].value if wholes[0].value else 0.0
            half = (
                part * (wholes[0].interval[1] - wholes[0].interval[0]) / wholes[0].value / 2 if wholes[0].value else 0.0
            )
            share = replace(quantity, value=part, interval=(part - half, part + half), dimension="share", base=TOTAL)
            if not fact.quantity.is_each and fact.quantity.per is None:
                yield replace(fact, quantity=share, exact=part, text="")


def with_costs(facts: Iterable[Fact], costs: Iterable[Fact]) -> Iterable[Fact]:
    """The facts, of which those that print the cost of their finding are about its cause as well, and the costs that nothing prints."""
    costs, printed = list(costs), set()
    for fact in facts:
        for number, cost in enumerate(costs):
            low, high = fact.quantity.interval
            same = fact.quantity.dimension == cost.quantity.dimension and fact.bundles & cost.bundles
            if not (same and fact.evidence and low <= cost.quantity.value <= high) or fact.quantity.is_base:
                continue
            printed.add(number)  # also where it is a part of something else: that is what the share is of
            if fact.quantity.base in (None, TOTAL):
                fact = replace(fact, subjects=fact.subjects | cost.subjects)
        yield fact
    yield from (cost for number, cost in enumerate(costs) if number not in printed)


def kind_of(place: Place | None) -> Keys:
    """A place in a kernel may be called a kernel."""
    return KERNEL if place and place.kernel else NONE


def collect(
    cause: str | None, statements: Iterable[Statement], evidence: tuple[str, ...], near: Keys, subjects: Keys = NONE
) -> Bundle:
    """What some statements may be said to be about together."""
    segments = [segment for statement in statements for segment in statement.segments]
    names = frozenset(n for s in segments for n in s.names) | near
    bases = frozenset(key for s in segments for q in s.quantities for key in q.base or NONE) - TOTAL
    return Bundle(cause, subjects | bases | frozenset(key for s in segments for key in s.keys), names, evidence)


def bundle_of(
    finding: Finding, statements: Iterable[Statement], words: Vocabulary, by_id: dict[str, Evidence]
) -> Bundle:
    """What may be said together of a finding: its texts, its evidence, and the words of its cause."""
    near = place_names(finding.where)
    for id in finding.evidence:
        near |= place_names(by_id[id].where) if id in by_id else NONE
    bundle = collect(finding.cause, statements, finding.evidence, near, kind_of(finding.where))
    cause = words.causes.get(finding.cause)
    more = (cause.reason | cause.effect | {"what:cost", "what:speedup"}) if cause else NONE
    return replace(bundle, subjects=bundle.subjects | more)
