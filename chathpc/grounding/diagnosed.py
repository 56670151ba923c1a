"""A diagnosis read as a whole: the World that sentences are compared with."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from math import log

from chathpc.diagnosis import catalogue
from chathpc.diagnosis.phrasing import meaning
from chathpc.diagnosis.records import Diagnosis, Finding, Place, Verdict
from chathpc.grounding.denials.hypotheses import hypothetical
from chathpc.grounding.evidence.assessed import assessment
from chathpc.grounding.evidence.facts import TEMPLATE, Fact, World, normalised, unspaced
from chathpc.grounding.evidence.levels import leveled
from chathpc.grounding.evidence.measurements import calls, measurements
from chathpc.grounding.evidence.mechanisms import mechanism
from chathpc.grounding.evidence.queries import NoQueries, Queries
from chathpc.grounding.evidence.readings import readings
from chathpc.grounding.evidence.stated import (
    KERNEL,
    Reader,
    bundle_of,
    collect,
    evidence_facts,
    finding_facts,
    kind_of,
    place_names,
    plain_facts,
    plain_names,
    short_names,
    with_bases,
    with_costs,
)
from chathpc.grounding.language.claims import Mark, Segment, Statement, agent, group
from chathpc.grounding.language.quantities import NONE, Keys
from chathpc.grounding.language.quotation import denied, pairs, quotable
from chathpc.grounding.language.sentences import split
from chathpc.grounding.language.tokens import tokenize, word_stems
from chathpc.grounding.language.undenied import undenied
from chathpc.grounding.language.vocabulary import Vocabulary, stem
from chathpc.grounding.numbers.match import ACTS, SIDES
from chathpc.grounding.relations.indices import owners
from chathpc.grounding.relations.related import callers as called_by
from chathpc.grounding.relations.waiting import awaited

_INSTANCES = frozenset(map(stem, ("rank", "thread", "process", "gpu", "device")))
NOWHERE: frozenset[int] = frozenset()
#: A statement that leans on the one before it: `f calls usleep for 2.49 s of it`.
_POINTS = re.compile(r"\b(?:of (?:it|these|them)|[Oo]f these|these|Its|Meanwhile)\b")
_LINE = re.compile(r":[0-9]+\Z")


def world(diagnosis: Diagnosis, words: Vocabulary, queries: Queries | None = None) -> World:
    """Read a diagnosis. Linear in the length of its texts."""
    plain = plain_names(diagnosis, words)
    short = short_names(diagnosis, words)
    reader = Reader(words, plain, short)
    by_id = {item.id: item for item in diagnosis.evidence}
    cited: dict[str, set[int]] = {}
    for index, finding in enumerate(diagnosis.findings):
        for id in finding.evidence:
            cited.setdefault(id, set()).add(index)
    facts: list[Fact] = []
    costs: list[Fact] = []
    statements: list[Statement] = []
    advised: dict[int, Keys] = {}
    of_bundle: list[list[Statement]] = [[] for _ in diagnosis.findings]
    before: Keys = NONE
    for item in diagnosis.evidence:
        bundle = frozenset(cited.get(item.id, ()))
        statement = reader.read(item.statement)
        meant = before if _POINTS.search(item.statement) else NONE
        facts += (replace(fact, around=fact.around | meant) for fact in evidence_facts(item, statement, reader, bundle))
        before = meant | frozenset(key for segment in statement.segments for key in segment.keys)
        statements.append(statement)
        for index in bundle:
            of_bundle[index] += [statement, reader.read(item.subject)]
    for index, finding in enumerate(diagnosis.findings):
        for text in (finding.summary, *finding.against):
            statement = reader.read(text)
            facts += plain_facts(
                statement, text, finding.evidence, frozenset({index}), place_names(finding.where), words
            )
            statements.append(statement)
            of_bundle[index].append(statement)
        remedies = frozenset(k for text in finding.advice for s in reader.read(text).segments for k in s.keys)
        costs += finding_facts(finding, index, words, frozenset(k for k in remedies if not k.startswith("word:")))
        of_bundle[index] += [reader.read(finding.title), reader.read(finding.confidence_reason)]
    first = frozenset({0} if diagnosis.findings else ())
    for text in (diagnosis.headline, *diagnosis.notes):
        statement = reader.read(text)
        leading = diagnosis.findings[0].evidence if len(diagnosis.findings) == 1 else ()
        facts += plain_facts(statement, text, leading, first if text is diagnosis.headline else NOWHERE, NONE, words)
        statements.append(statement)
        if text is diagnosis.headline and len(diagnosis.findings) == 1:
            of_bundle[0].append(statement)
    facts = list(with_costs(with_bases(facts), costs))
    for index, finding in enumerate(diagnosis.findings):
        advised[index] = frozenset(
            key
            for text in finding.advice
            for s in reader.read(text).segments
            for key in s.keys
            if key.startswith("word:")
        )
    bundles = [bundle_of(f, of_bundle[i], words, by_id) for i, f in enumerate(diagnosis.findings)]
    bundles = [
        replace(b, subjects=b.subjects | advised[i] | told.keys, stems=told.stems | _stems_of(f))
        for i, (f, b) in enumerate(zip(diagnosis.findings, bundles, strict=True))
        for told in (mechanism(f.cause, reader),)
    ]
    for item in diagnosis.evidence:
        parts = [reader.read(item.statement), reader.read(item.subject)]
        kind = kind_of(item.where) | (KERNEL if (item.metric or "").startswith("gpu.kernel.") else NONE)
        own = collect(None, parts, (item.id,), place_names(item.where), kind)
        bundles.append(replace(own, stems=word_stems(f"{item.statement} {item.subject}")))
    if len(diagnosis.findings) != 1:
        own = collect(None, [reader.read(diagnosis.headline)], (), NONE)
        bundles.append(replace(own, stems=word_stems(diagnosis.headline)))
    bundles += [replace(collect(None, [reader.read(n)], (), NONE), stems=word_stems(n)) for n in diagnosis.notes]
    titles = [reader.read(finding.title) for finding in diagnosis.findings]
    segments = tuple(segment for statement in (*statements, *titles) for segment in statement.segments)
    roles = frozenset(_roles(statements)) | frozenset(_pair(statements))
    trusted = [
        diagnosis.headline,
        *diagnosis.notes,
        *(e.statement for e in diagnosis.evidence),
        *(e.subject for e in diagnosis.evidence),
        *(text for f in diagnosis.findings for text in (f.title, f.summary, *f.against)),
    ]
    advice = [text for f in diagnosis.findings for text in (*f.advice, f.next_measurement or "")]
    advice_statements = [reader.read(text) for text in advice]
    verbatim = _verbatim(diagnosis)
    causes = frozenset(finding.cause for finding in diagnosis.findings)
    places = [p for p in (*(f.where for f in diagnosis.findings), *(e.where for e in diagnosis.evidence)) if p]
    names = frozenset(n for s in statements for n in s.names) | frozenset(n for p in places for n in place_names(p))
    names |= frozenset(n for f in diagnosis.findings for n in reader.read(f.title).names)
    means = [entry.what + " " + entry.why for c in causes if c in catalogue.ids() for entry in (catalogue.cause(c),)]
    stated = frozenset(
        phrase
        for text in (*trusted, *means)
        for _, found in words.phrases.found(reader.read(text).stems)
        for phrase in found
    )
    uneven = _is_uneven(diagnosis, causes, reader)
    stated |= {cause for cause, entry in words.causes.items() if uneven and "what:imbalance" in entry.reason}
    quotes = tuple(quotable(tokenize(text, words, plain, short), words, ids) for text, ids in verbatim.items())
    advised_texts = frozenset(normalised(one) for text in advice for one in split(text[:2_000], whole=True))
    facts_told = [q for text, q in zip(verbatim, quotes, strict=True) if normalised(text) not in advised_texts]
    return World(
        words=words,
        facts=tuple(replace(f, subjects=f.subjects | _roles_of(f.subjects, roles)) for f in facts),
        bundles=tuple(bundles),
        assessments=tuple(assessment(f, i, place_names(f.where)) for i, f in enumerate(diagnosis.findings)),
        segments=segments,
        plain_names=plain,
        short_names=short,
        names=names,
        advice_names=frozenset(n for s in advice_statements for n in s.names),
        lines=frozenset(p.line for p in places if p.line)
        | frozenset(n for s in (*statements, *advice_statements) for n in s.lines),
        roles=roles,
        levels=_levels(causes, [*statements, *(reader.read(f.title) for f in diagnosis.findings)], words),
        causes=causes,
        stated=stated if diagnosis.blames or diagnosis.verdict == Verdict.INSUFFICIENT else NONE,
        stems=frozenset().union(*(word_stems(text) for text in trusted), *(b.stems for b in bundles)),
        advice_stems=frozenset().union(*(word_stems(text) for text in (*advice, *_remedies(causes)))),
        advice_numbers=frozenset(q.value for s in advice_statements for q in s.quantities),
        advised_words=tuple(map(_words_of, advice_statements, advice)),
        healthy=not diagnosis.blames and diagnosis.verdict != Verdict.INSUFFICIENT,
        openers=frozenset(
            stem(text.split()[0].strip(",.:;")) for text in (*advice, *_remedies(causes)) if text.split()
        ),
        verbatim={normalised(text): ids for text, ids in verbatim.items()},
        quotable=quotes,
        pairs=pairs(quotes, words),
        uneven=uneven,
        denied=denied(quotes, words),
        undenied=undenied(quotes, words),
        facts_told=tuple(facts_told),
        told=pairs(facts_told, words),
        advised_pairs=pairs(
            [q for text, q in zip(verbatim, quotes, strict=True) if normalised(text) in advised_texts], words
        ),
        hypothetical=hypothetical(facts_told),
        indices=owners(statements),
        advised=advised_texts,
        templates=frozenset(
            unspaced(found[0])
            for text in (*trusted, *(n for p in places for n in (p.function, p.kernel) if n))
            for found in TEMPLATE.finditer(text[:2_000])
        ),
        lines_named=frozenset(name for fact in facts for name in fact.names if _LINE.search(name)),
        acts=frozenset(_acts(statements)),
        awaited=frozenset(pair for statement in (*statements, *titles) for pair in awaited(statement)),
        limiters=frozenset(
            key
            for statement in statements
            for segment in statement.segments
            if "limit" in statement.stems[segment.first : segment.last]
            for key in segment.keys
        ),
        callers=frozenset(n for st in statements for s in st.segments for n in called_by(s, st.tokens)),
        limited=_limited(diagnosis, words)
        | frozenset(
            key
            for st in statements
            for s in st.segments
            if words.limits.found(st.stems[s.first : s.last])
            for key in frozenset(k for other in st.segments for k in other.keys)
        ),
        sized=frozenset(
            ("big" if words.levels[one] in ("big", "high") else "small", other)
            for q in quotes
            for clause in q.clauses
            for one, other in pairwise(clause)
            if one in words.levels
        ),
        measurements=measurements([(f, place_names(f.where)) for f in diagnosis.findings], words),
        calls=calls(text for f in diagnosis.findings for text in f.advice),
        queries=queries or NoQueries(),
        rarity=_rarity(facts),
        said=frozenset().union(*(word_stems(text) for text in trusted)),
        absent=_absent(causes, facts, words),
        readings=readings(facts_told, statements, advice_statements, (*trusted, *advice, *means), names, words),
        leading_share=diagnosis.findings[0].share if diagnosis.findings else 0.0,
        leading=_leading(diagnosis, words),
    )


def _absent(causes: frozenset[str], facts: Iterable[Fact], words: Vocabulary) -> frozenset[str]:
    """States that a cause excludes; work is not uneven where none of the causes is, and a balance is measured and good."""
    found = frozenset(state for cause in causes if cause in words.causes for state in words.causes[cause].absent)
    uneven = any("what:imbalance" in words.causes[c].reason for c in causes if c in words.causes)
    good = any(
        fact.quantity.dimension == "share"
        and "what:balance" in fact.quantity.own
        and fact.quantity.value >= _GOOD_BALANCE
        for fact in facts
    )
    return found | {"uneven"} if good and not uneven else found


#: Percent; POP calls an efficiency above 80 % acceptable, what is left of that for the balance alone is half of it.
_GOOD_BALANCE = 90.0


def _rarity(facts: Iterable[Fact]) -> dict[str, float]:
    """How much a term tells about which fact is meant."""
    owners: dict[str, set[float]] = {}
    values: set[float] = set()
    for fact in facts:
        values.add(fact.quantity.value)
        for term in fact.subjects | fact.names | fact.quantity.names:
            owners.setdefault(term, set()).add(fact.quantity.value)
    return {term: log(1 + len(values) / len(having)) for term, having in owners.items()}


def _is_uneven(diagnosis: Diagnosis, causes: frozenset[str], reader: Reader) -> bool:
    """True if a finding or what an item of evidence is about is uneven work."""
    known = reader.words.causes
    return any("what:imbalance" in known[c].reason for c in causes if c in known) or any(
        "what:imbalance" in s.keys for e in diagnosis.evidence for s in reader.read(e.subject).segments
    )


def _limited(diagnosis: Diagnosis, words: Vocabulary) -> Keys:
    """What a finding is about whose summary says what limits it."""
    found = [
        f
        for f in diagnosis.findings
        if words.limits.found([stem(w) for w in f.summary.split()]) and f.cause in words.causes
    ]
    return frozenset(key for f in found for key in words.causes[f.cause].effect)


def _stems_of(finding: Finding) -> frozenset[str]:
    return word_stems(" ".join((finding.title, finding.summary, finding.confidence_reason, *finding.against)))


def _words_of(statement: Statement, text: str) -> frozenset[str]:
    numbers = {f"={t.value:g}" for t in statement.tokens if t.kind == "number"}
    letters = {t.text.lower() for t in statement.tokens if t.kind == "word" and len(t.text) == 1}
    letters |= set(_INDEX.findall(text))
    return word_stems(text) | statement.names | numbers | letters


#: `a[i][j]` speaks of i and j.
_INDEX = re.compile(r"\[([a-z])\]")


def _remedies(causes: Iterable[str]) -> Iterable[str]:
    """All that the catalogue advises under some causes, for any language."""
    known = catalogue.ids()
    return (advice.do for cause in causes if cause in known for advice in catalogue.cause(cause).advice)


def _leading(diagnosis: Diagnosis, words: Vocabulary) -> Segment:
    """The first finding as a clause: its place and what it is the cause of."""
    if not diagnosis.findings:
        return Segment(0, 0, "", (), ())
    first = diagnosis.findings[0]
    cause = words.causes.get(first.cause)
    keys = frozenset(key for key in cause.reason if key.startswith("what:")) if cause else NONE
    names = place_names(first.where)
    return Segment(0, 0, "", (Mark(0, keys, names),), ())


def _verbatim(diagnosis: Diagnosis) -> dict[str, tuple[str, ...]]:
    """What the diagnosis says itself, its advice, and what its causes mean by the catalogue, sentence by sentence; no commands."""
    texts = [
        (diagnosis.headline, diagnosis.findings[0].evidence if diagnosis.findings else ()),
        *((n, ()) for n in diagnosis.notes),
    ]
    for finding in diagnosis.findings:
        texts += [(text, ()) for text in finding.advice]
        own = (finding.summary, _placed(finding.summary, finding.where), *finding.against)
        texts += [(text, finding.evidence) for text in own]
        if not finding.title.endswith("."):
            texts.append((f"{finding.title}.", finding.evidence))
        if finding.cause in catalogue.ids():
            texts += [(text, ()) for text in (catalogue.cause(finding.cause).meaning, meaning(finding.cause))]
    texts += [(item.statement, (item.id,)) for item in diagnosis.evidence]
    return {sentence: rests_on for text, rests_on in texts for sentence in split(text[:2_000], whole=True)}


def _roles(statements: Iterable[Statement]) -> Iterable[tuple[str, str]]:
    """Which thread or rank is the busiest: said so (`Thread 3 is the busiest`), or above the idlest and the mean in one statement."""
    for statement in statements:
        values: dict[str, float] = {}
        for segment in statement.segments:
            who = group(segment.keys, "who")
            instances = sorted(key for key in who if key[-1].isdigit())
            roles = who & {"who:busiest", "who:idlest"}
            if len(instances) == 1 and len(roles) == 1:
                yield instances[0], next(iter(roles))
            for quantity in segment.quantities:
                if quantity.dimension == "time" and len(who) == 1 and not quantity.is_base:
                    values.setdefault(next(iter(who)), quantity.value)
        compared = [values[key] for key in ("who:idlest", "who:mean") if key in values]
        for key, value in values.items():
            if key[-1].isdigit() and len(compared) == 2 and value > max(compared):
                yield key, "who:busiest"


def _acts(statements: Iterable[Statement]) -> Iterable[tuple[str, str]]:
    for statement in statements:
        for segment in statement.segments:
            for quantity in segment.quantities:  # `92.6 % of the device's busy time`
                base = quantity.base or NONE
                yield from ((side, act) for side in base & SIDES for act in base & ACTS)
            for mark in segment.marks:
                for act in mark.keys & frozenset({"act:wait", "act:work"}):
                    who = agent(segment, statement.tokens[mark.position].end, statement.tokens)
                    if who is not None:
                        yield who, act


def _pair(statements: Iterable[Statement]) -> Iterable[tuple[str, str]]:
    """Of two ranks or threads the other one is the idlest, and has the other number."""
    statements = list(statements)
    counts = {q.value for s in statements for q in s.quantities if q.noun in _INSTANCES and q.dimension == "count"}
    if counts != {2.0}:
        return
    yield "who:others", "who:idlest"
    named = {k for s in statements for part in s.segments for k in group(part.keys, "who") if k[-1].isdigit()}
    if len(named) == 1:
        kind, _, number = next(iter(named)).rpartition(" ")
        if number in ("0", "1"):
            other = f"{kind} {1 - int(number)}"
            yield other, "who:others"
            yield other, "who:idlest"


def _roles_of(keys: Keys, roles: frozenset[tuple[str, str]]) -> Keys:
    return frozenset({role for one, role in roles if one in keys} | {one for one, role in roles if role in keys})


def _levels(causes: Keys, statements: Iterable[Statement], words: Vocabulary) -> frozenset[tuple[str, str]]:
    found = {
        (key, level) for cause in causes if cause in words.causes for key, level in words.causes[cause].levels.items()
    }
    for statement in statements:
        found |= set(leveled(statement, words))
    return frozenset(found)


def _placed(summary: str, where: Place) -> str:
    """`summary` with file and line behind the name of the function, unless it says where that is."""
    name, file = where.function, where.short.partition(":")[0]
    if not name or not file or file in summary:
        return summary
    return re.sub(
        rf"(?<![\w:]){re.escape(name)}(?= |:|\.$)", lambda found: f"{found[0]} ({where.short})", summary, count=1
    )
