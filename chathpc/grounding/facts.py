"""What a diagnosis says, in the terms in which sentences are checked: facts, names, roles and who does what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from chathpc.diagnosis.records import Diagnosis, Evidence, Finding, Place, Verdict
from chathpc.grounding.claims import Mark, Segment, Statement, agent, group, read
from chathpc.grounding.quantities import NONE, TOTAL, Keys, Quantity
from chathpc.grounding.queries import NoQueries, Queries
from chathpc.grounding.quotation import Quotable, denied, pairs, quotable
from chathpc.grounding.sentences import split
from chathpc.grounding.tokens import is_code, normal_code, plain_code, tokenize, word_stems
from chathpc.grounding.vocabulary import Vocabulary, stem

_INSTANCES = frozenset(map(stem, ("rank", "thread", "process", "gpu", "device")))
_LINE = re.compile(r":[0-9]+\Z")
COST: Keys = frozenset({"what:cost"})
KERNEL: Keys = frozenset({"what:kernel"})
_TEMPLATE = re.compile(r"([A-Za-z_][\w:]{0,80})<[\w ,:*&]{1,80}>")
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w{0,80}\Z")


@dataclass(frozen=True, slots=True)
class Fact:
    """A number that is known: `exact` where the record holds it unrounded; `text` as printed.

    `subjects` are all that it may be said to be about, `near` the names of its place; `bundles` the findings it belongs to.
    """

    quantity: Quantity
    exact: float | None
    text: str
    evidence: tuple[str, ...]
    subjects: Keys
    names: Keys
    near: Keys
    bundles: frozenset[int]
    around: Keys = NONE  #: what else its sentence is about
    needed: Keys = NONE  #: of several things in its clause the one that it is the value of


@dataclass(frozen=True, slots=True)
class Bundle:
    """A finding with its evidence, or one item of evidence: what may be said together."""

    cause: str | None
    subjects: Keys
    names: Keys
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class World:
    """Everything that a sentence may rest on."""

    words: Vocabulary
    facts: tuple[Fact, ...]
    bundles: tuple[Bundle, ...]
    segments: tuple[Segment, ...]
    plain_names: frozenset[str]
    names: Keys
    advice_names: Keys
    lines: frozenset[int]
    roles: frozenset[tuple[str, str]]  #: (who:thread 3, who:busiest)
    levels: frozenset[tuple[str, str]]  #: (what:occupancy, low)
    causes: frozenset[str]
    stated: frozenset[str]  #: cause phrases that a trusted text uses itself, as causes
    stems: frozenset[str]
    advice_stems: frozenset[str]
    advice_numbers: frozenset[float]
    healthy: bool
    openers: frozenset[str]  #: stems of the words that begin the findings' advice: imperatives
    verbatim: Mapping[str, tuple[str, ...]]  #: trusted sentences, normalised, with their evidence
    quotable: tuple[Quotable, ...]  #: the same, clause by clause
    pairs: frozenset[tuple[str, str]]  #: words beside each other in them
    templates: frozenset[str]  #: names with their template arguments, without spaces
    lines_named: frozenset[str]  #: `heat.c:12` that a fact is about, not only near
    acts: frozenset[tuple[str, str]]  #: who of host and device waits or works
    limiters: Keys  #: what trusted texts speak of where they speak of a limit
    queries: Queries
    uneven: bool  #: a finding or what an item of evidence is about is uneven work
    denied: frozenset[tuple[str, str]]  #: of these pairs those that only stand behind a negation
    leading_share: float  #: of the run, of the first finding
    leading: Segment  #: what `this` and `it` are about where no sentence went before: the first finding

    def without_templates(self, sentence: str) -> str:
        """The sentence with the template arguments of known names taken off: `f<float, 64>` is no markup."""
        return _TEMPLATE.sub(lambda found: found[1] if _unspaced(found[0]) in self.templates else found[0], sentence)

    def with_roles(self, keys: Keys) -> Keys:
        """`keys` and, for a thread or rank whose role is known, the role, and the other way round."""
        more = {role for one, role in self.roles if one in keys} | {one for one, role in self.roles if role in keys}
        return keys | more


def world(diagnosis: Diagnosis, words: Vocabulary, queries: Queries | None = None) -> World:
    """Read a diagnosis. Linear in the length of its texts."""
    plain = _plain_names(diagnosis, words)
    reader = _Reader(words, plain)
    by_id = {item.id: item for item in diagnosis.evidence}
    cited = {id: index for index, finding in enumerate(diagnosis.findings) for id in finding.evidence}
    facts: list[Fact] = []
    statements: list[Statement] = []
    advised: dict[int, Keys] = {}
    of_bundle: list[list[Statement]] = [[] for _ in diagnosis.findings]
    for item in diagnosis.evidence:
        bundle = frozenset({cited[item.id]}) if item.id in cited else frozenset()
        statement = reader.read(item.statement)
        facts += _evidence_facts(item, statement, reader, bundle)
        statements.append(statement)
        for index in bundle:
            of_bundle[index] += [statement, reader.read(item.subject)]
    for index, finding in enumerate(diagnosis.findings):
        for text in (finding.summary, *finding.against):
            statement = reader.read(text)
            facts += _plain_facts(
                statement, text, finding.evidence, frozenset({index}), _place_names(finding.where), words
            )
            statements.append(statement)
            of_bundle[index].append(statement)
        facts += _finding_facts(finding, index, words)
        of_bundle[index].append(reader.read(finding.title))
    everything = frozenset(range(len(diagnosis.findings)))
    for text in (diagnosis.headline, *diagnosis.notes):
        statement = reader.read(text)
        leading = diagnosis.findings[0].evidence if len(diagnosis.findings) == 1 else ()
        facts += _plain_facts(statement, text, leading, everything, NONE, words)
        statements.append(statement)
        if text is diagnosis.headline and len(diagnosis.findings) == 1:
            of_bundle[0].append(statement)
    for index, finding in enumerate(diagnosis.findings):
        advised[index] = frozenset(
            key
            for text in finding.advice
            for s in reader.read(text).segments
            for key in s.keys
            if key.startswith("word:")
        )
    bundles = [_bundle(f, of_bundle[i], words, by_id) for i, f in enumerate(diagnosis.findings)]
    bundles = [replace(b, subjects=b.subjects | advised[i]) for i, b in enumerate(bundles)]
    for item in diagnosis.evidence:
        parts = [reader.read(item.statement), reader.read(item.subject)]
        kind = _kind(item.where) | (KERNEL if (item.metric or "").startswith("gpu.kernel.") else NONE)
        bundles.append(_collect(None, parts, (item.id,), _place_names(item.where), kind))
    if len(diagnosis.findings) != 1:
        bundles.append(_collect(None, [reader.read(diagnosis.headline)], (), NONE))
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
    names = frozenset(n for s in statements for n in s.names) | frozenset(n for p in places for n in _place_names(p))
    names |= frozenset(n for f in diagnosis.findings for n in reader.read(f.title).names)
    stated = frozenset(
        phrase for text in trusted for _, found in words.phrases.found(reader.read(text).stems) for phrase in found
    )
    quotes = tuple(quotable(tokenize(text, words, plain), words, ids) for text, ids in verbatim.items())
    return World(
        words=words,
        facts=tuple(replace(f, subjects=f.subjects | _roles_of(f.subjects, roles)) for f in facts),
        bundles=tuple(bundles),
        segments=segments,
        plain_names=plain,
        names=names,
        advice_names=frozenset(n for s in advice_statements for n in s.names),
        lines=frozenset(p.line for p in places if p.line)
        | frozenset(n for s in (*statements, *advice_statements) for n in s.lines),
        roles=roles,
        levels=_levels(causes, [*statements, *(reader.read(f.title) for f in diagnosis.findings)], words),
        causes=causes,
        stated=stated if diagnosis.verdict != Verdict.HEALTHY else NONE,
        stems=frozenset().union(*(word_stems(text) for text in trusted)),
        advice_stems=frozenset().union(*(word_stems(text) for text in advice)),
        advice_numbers=frozenset(q.value for s in advice_statements for q in s.quantities),
        healthy=diagnosis.verdict == Verdict.HEALTHY,
        openers=frozenset(stem(text.split()[0].strip(",.:;")) for text in advice if text.split()),
        verbatim={normalised(text): ids for text, ids in verbatim.items()},
        quotable=quotes,
        pairs=pairs(quotes, words),
        uneven=any("what:imbalance" in words.causes[c].reason for c in causes if c in words.causes)
        or any("what:imbalance" in s.keys for e in diagnosis.evidence for s in reader.read(e.subject).segments),
        denied=denied(quotes, words),
        templates=frozenset(
            _unspaced(found[0])
            for text in (*trusted, *(n for p in places for n in (p.function, p.kernel) if n))
            for found in _TEMPLATE.finditer(text[:2_000])
        ),
        lines_named=frozenset(name for fact in facts for name in fact.names if _LINE.search(name)),
        acts=frozenset(_acts(statements)),
        limiters=frozenset(
            key
            for statement in statements
            for segment in statement.segments
            if "limit" in statement.stems[segment.first : segment.last]
            for key in segment.keys
        ),
        queries=queries or NoQueries(),
        leading_share=diagnosis.findings[0].share if diagnosis.findings else 0.0,
        leading=_leading(diagnosis, words),
    )


def _leading(diagnosis: Diagnosis, words: Vocabulary) -> Segment:
    """The first finding as a clause: its place and what it is the cause of."""
    if not diagnosis.findings:
        return Segment(0, 0, "", (), ())
    first = diagnosis.findings[0]
    cause = words.causes.get(first.cause)
    keys = frozenset(key for key in cause.reason if key.startswith("what:")) if cause else NONE
    names = _place_names(first.where)
    return Segment(0, 0, "", (Mark(0, keys, names),), ())


def _unspaced(name: str) -> str:
    return "".join(name.split())


def normalised(sentence: str) -> str:
    """A sentence for comparison word by word: case, spaces and the full stop do not count."""
    return " ".join(sentence.casefold().split()).rstrip(".")


def _verbatim(diagnosis: Diagnosis) -> dict[str, tuple[str, ...]]:
    """What the diagnosis says itself, and its advice, sentence by sentence. Commands (`next_measurement`) are left out."""
    texts = [
        (diagnosis.headline, diagnosis.findings[0].evidence[:1] if diagnosis.findings else ()),
        *((n, ()) for n in diagnosis.notes),
    ]
    for finding in diagnosis.findings:
        texts += [(text, finding.evidence[:1]) for text in (finding.summary, *finding.against, *finding.advice)]
        if not finding.title.endswith("."):
            texts.append((f"{finding.title}.", finding.evidence[:1]))
    texts += [(item.statement, (item.id,)) for item in diagnosis.evidence]
    return {sentence: ids for text, ids in texts for sentence in split(text[:2_000], whole=True)}


class _Reader:
    """Reads trusted texts with the names of one diagnosis."""

    def __init__(self, words: Vocabulary, plain: frozenset[str]) -> None:
        self.words = words
        self._plain = plain
        self._known: dict[str, Statement] = {}

    def read(self, text: str) -> Statement:
        if text not in self._known:
            self._known[text] = read(tokenize(text[:2_000], self.words, self._plain), self.words)
        return self._known[text]


def _place_names(place: Place | None) -> Keys:
    if place is None:
        return NONE
    files = {normal_code(place.file), place.short} if place.file else set()
    names = {n for n in (place.function, place.kernel) if n}
    return frozenset(names | {plain_code(n) for n in names} | files)


def _plain_names(diagnosis: Diagnosis, words: Vocabulary) -> frozenset[str]:
    """Functions whose names look like words (`pow`, `advance`), unless they are words that the check needs for itself (`write`, `main`)."""
    places = [p for p in (*(f.where for f in diagnosis.findings), *(e.where for e in diagnosis.evidence)) if p]
    named = {n for p in places for n in (p.function, p.kernel, *p.path) if n}
    subjects = {e.subject for e in diagnosis.evidence} - named
    return frozenset(
        n
        for n in named | subjects
        if _PLAIN_NAME.match(n)
        and not is_code(n)
        and stem(n) not in words.neutral
        and all(n in named and key.startswith("what:") for key in words.subjects.at((stem(n),), 0)[1])
    )


def _evidence_facts(item: Evidence, statement: Statement, reader: _Reader, bundle: frozenset[int]) -> Iterable[Fact]:
    subject = reader.read(item.subject)
    near = _place_names(item.where) | subject.names
    kind = _kind(item.where) | (KERNEL if (item.metric or "").startswith("gpu.kernel.") else NONE)
    dimension, factor = reader.words.evidence_units.get(item.unit, ("count", 1.0))
    about = frozenset(key for segment in subject.segments for key in segment.keys)
    found = False
    for fact in _plain_facts(statement, item.statement, (item.id,), bundle, near, reader.words):
        fact = replace(fact, subjects=fact.subjects | kind, around=fact.around | about)
        if not group(fact.quantity.own, "what"):
            fact = replace(fact, subjects=fact.subjects | group(about, "what"))
        exact = _exact(item.value * factor, dimension, fact.quantity)
        if exact is None:
            yield fact
            continue
        found = True
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


def _plain_facts(
    statement: Statement,
    text: str,
    evidence: tuple[str, ...],
    bundle: frozenset[int],
    near: Keys,
    words: Vocabulary,
) -> Iterable[Fact]:
    around = frozenset(key for segment in statement.segments for key in segment.keys)
    before = ""
    for quantity in statement.quantities:
        if quantity.dimension == "share" and quantity.base is None and before == "bytes":
            quantity = replace(quantity, base=frozenset({"in:memory"}))  # `151 MB (7.39 %)` is no part of a time
        before = quantity.dimension
        yield Fact(
            _with_base(quantity, around, words),
            None,
            text[quantity.start : quantity.end],
            evidence,
            quantity.keys,
            quantity.names | quantity.inherited_names,
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


def _finding_facts(finding: Finding, index: int, words: Vocabulary) -> Iterable[Fact]:
    cause = words.causes.get(finding.cause)
    keys = frozenset({"what:cost"}) | (cause.reason if cause else NONE)
    near = _place_names(finding.where)
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
            yield Fact(quantity, value, text, finding.evidence, subjects, NONE, near, frozenset({index}))


def _kind(place: Place | None) -> Keys:
    """A place in a kernel may be called a kernel."""
    return KERNEL if place and place.kernel else NONE


def _collect(
    cause: str | None, statements: Iterable[Statement], evidence: tuple[str, ...], near: Keys, subjects: Keys = NONE
) -> Bundle:
    segments = [segment for statement in statements for segment in statement.segments]
    names = frozenset(n for s in segments for n in s.names) | near
    bases = frozenset(key for s in segments for q in s.quantities for key in q.base or NONE) - TOTAL
    return Bundle(cause, subjects | bases | frozenset(key for s in segments for key in s.keys), names, evidence)


def _bundle(finding: Finding, statements: Iterable[Statement], words: Vocabulary, by_id: dict[str, Evidence]) -> Bundle:
    near = _place_names(finding.where)
    for id in finding.evidence:
        near |= _place_names(by_id[id].where) if id in by_id else NONE
    bundle = _collect(finding.cause, statements, finding.evidence, near, _kind(finding.where))
    cause = words.causes.get(finding.cause)
    more = (cause.reason | cause.effect | {"what:cost", "what:speedup"}) if cause else NONE
    return replace(bundle, subjects=bundle.subjects | more)


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
            for mark in segment.marks:
                for act in mark.keys & frozenset({"act:wait", "act:work"}):
                    who = agent(segment, statement.tokens[mark.position].end, statement.tokens)
                    if who is not None:
                        yield who, act


def _pair(statements: Iterable[Statement]) -> Iterable[tuple[str, str]]:
    """Of two ranks or threads the other one is the idlest."""
    counts = {q.value for s in statements for q in s.quantities if q.noun in _INSTANCES and q.dimension == "count"}
    if counts == {2.0}:
        yield "who:others", "who:idlest"


def _roles_of(keys: Keys, roles: frozenset[tuple[str, str]]) -> Keys:
    return frozenset({role for one, role in roles if one in keys} | {one for one, role in roles if role in keys})


def _levels(causes: Keys, statements: Iterable[Statement], words: Vocabulary) -> frozenset[tuple[str, str]]:
    found = {
        (key, level) for cause in causes if cause in words.causes for key, level in words.causes[cause].levels.items()
    }
    for statement in statements:
        found |= set(leveled(statement, words))
    return frozenset(found)


def leveled(statement: Statement, words: Vocabulary) -> Iterable[tuple[str, str]]:
    """The subjects that a sentence calls high or low: (subject, level), all candidates of a level word under its own position."""
    for _, level, subjects in level_claims(statement, words):
        for subject in subjects:
            yield subject, level


def level_claims(statement: Statement, words: Vocabulary) -> Iterable[tuple[int, str, Keys]]:
    """Each level word: its position, `high` or `low`, and the subjects it may belong to: those of its noun phrase, else the nearest before it."""
    for segment in statement.segments:
        for position in range(segment.first, segment.last):
            level = words.levels.get(statement.tokens[position].stem)
            equal = position > 0 and statement.tokens[position - 1].stem == "as"  # `as long as`
            follower = statement.tokens[position + 1].stem if position + 1 < len(statement.tokens) else ""
            if level is None or equal or follower in _COMPARED or statement.tokens[position].kind != "word":
                continue
            after = [
                m
                for m in segment.marks
                if position < m.position <= position + 4 and m.keys and not _stopped(statement, position, m.position)
            ]
            before = [m for m in segment.marks if m.position < position and m.keys]
            chosen = after or before[-1:]
            keys = frozenset(key for mark in chosen for key in mark.keys if not key.startswith("who:"))
            if not keys and before:
                keys = frozenset(key for mark in before for key in mark.keys if not key.startswith("who:"))
            yield position, level, keys


#: A level word before one of these belongs to a comparison: `much more than`.
_COMPARED = frozenset(map(stem, ("more", "less", "longer", "higher", "lower", "larger", "smaller", "shorter")))
_PHRASE_ENDS = frozenset(map(stem, ("in", "at", "for", "by", "to", "is", "are", "because", "from", "than")))


def _stopped(statement: Statement, first: int, last: int) -> bool:
    return any(
        statement.tokens[p].stem in _PHRASE_ENDS or statement.tokens[p].kind == "punctuation"
        for p in range(first + 1, last)
    )
