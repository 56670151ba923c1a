"""One sentence is judged: supported, repaired or struck, with its claims and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from chathpc.grounding import wording
from chathpc.grounding.advice import advised, proposed
from chathpc.grounding.denials import conditions
from chathpc.grounding.denials.foretold import denies_state, foretells
from chathpc.grounding.denials.hypotheses import only_hypothetical, other_runs
from chathpc.grounding.denials.left_out import counts_in
from chathpc.grounding.denials.promises import rests_rightly
from chathpc.grounding.denials.retold import drops_denial
from chathpc.grounding.evidence.assessed import ASSESSED
from chathpc.grounding.evidence.facts import Fact, World, normalised
from chathpc.grounding.evidence.ways import is_turned, ways
from chathpc.grounding.itemised import DIAGNOSIS, Claim, Status, itemised
from chathpc.grounding.language import sentences
from chathpc.grounding.language.claims import Statement, read
from chathpc.grounding.language.quantities import NONE, Quantity
from chathpc.grounding.language.quotation import quoted, without_lead
from chathpc.grounding.language.tokens import tokenize
from chathpc.grounding.numbers import derived, match, repair, sums, within
from chathpc.grounding.numbers.asking import asked
from chathpc.grounding.numbers.kinds import told
from chathpc.grounding.numbers.parts import parts, ranges
from chathpc.grounding.numbers.proportions import fit_together
from chathpc.grounding.numbers.rounding import equals
from chathpc.grounding.numbers.sought import completed, pointed, points_back
from chathpc.grounding.numbers.won import as_assessed, assessed, is_of_another
from chathpc.grounding.relations import related, waiting
from chathpc.grounding.relations.comparisons import comparisons, is_limit
from chathpc.grounding.relations.indices import right_index
from chathpc.grounding.relations.ranked import ranked
from chathpc.grounding.relations.reversals import turned_round, unknown_member
from chathpc.grounding.relations.slight_losses import is_told
from chathpc.grounding.relations.states import contrary, states
from chathpc.grounding.relations.superlatives import mostly, slight, superlatives
from chathpc.grounding.relations.topmost import topmost

#: Words of advice that also tell what is: `4 would hold 32 floats`.
_PERHAPS = frozenset({"could", "would"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence after the check. `reason` says why it was struck or what was repaired; `details` are its claims one by one."""

    text: str
    evidence: tuple[str, ...]
    status: Status
    reason: str = ""
    claims: int = 0
    repairs: int = 0
    details: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """What a number rests on: evidence or a query; `fact` where it is wrong and must become that."""

    quantity: Quantity
    evidence: tuple[str, ...] = ()
    query: str = ""
    fact: Fact | None = None


def check_sentence(sentence: str, known: World) -> Sentence:
    """Check one sentence."""
    if len(sentence) > sentences.LONGEST_SENTENCE:
        return strike(sentence, "too long")
    if sentences.has_controls(sentence):
        return strike(sentence, "control characters")
    if sentences.foreign(known.without_own(sentence)):
        return strike(sentence, "markup or command")
    statement = read(tokenize(sentence, known.words, known.plain_names, known.short_names), known.words)
    if known.assessments:  # without findings a gain is what a tool has computed
        statement = told(statement, known.words)
    details = itemised(sentence, statement, known)
    evidence = _quotation(sentence, known)
    if evidence is not None:
        details = details or (Claim("quotation", sentence),)
        return Sentence(sentence, evidence, "supported", "", len(details), 0, _resting(details, evidence))
    if not details:
        return strike(sentence, "no claim")
    measurement = proposed.retold(statement, known)
    if measurement is not None:
        return Sentence(
            sentence, measurement.evidence, "supported", "", len(details), 0, _resting(details, measurement.evidence)
        )
    if proposed.contrary(statement, known):
        return strike(sentence, "direction", details)
    problem = _unsupported_words(statement, known)
    member = unknown_member(sentence, known)
    if problem or member:
        return strike(sentence, problem or f"name {member}", details)
    advising = advised.is_advice(statement, known)
    if not conditions.numerals(statement, known, advice=advising):
        return strike(sentence, "number", details)
    if (advising and not other_runs(statement, known)) or foretells(statement, known):
        return strike(sentence, "prediction", details)
    if advising and denies_state(statement, known):
        return strike(sentence, "negation", details)
    if advising and (is_turned(ways(statement, known.words), known.readings.ways) or _wrong_index(statement, known)):
        return strike(sentence, "direction", details)
    if advising:
        problem = advised.supported(statement, known)
        if not problem:
            return Sentence(sentence, (), "supported", "", len(details), 0, _resting(details, ()))
        # `Fixing this would make the run 1.35x faster` is no advice but a number.
        perhaps = bool(_PERHAPS & set(statement.stems)) and problem in ("advice", "negation", "number")
        if not perhaps and not (problem == "advice" and statement.quantities):
            return strike(sentence, problem, details)
    problem = _direction(statement, known)
    if problem:
        return strike(sentence, problem, details)
    return _with_numbers(sentence, statement, known, details)


def strike(text: str, reason: str, details: tuple[Claim, ...] = ()) -> Sentence:
    """A sentence that is not shown; all its claims count as struck."""
    short = text if len(text) <= sentences.LONGEST_SENTENCE else text[: sentences.LONGEST_SENTENCE] + "…"
    struck = tuple(replace(claim, status="struck") for claim in details)
    return Sentence(short, (), "struck", reason, len(details), 0, struck)


def _resting(details: tuple[Claim, ...], evidence: tuple[str, ...]) -> tuple[Claim, ...]:
    """The claims with what they rest on: evidence, or where there is none, the diagnosis with its advice and what its causes mean."""
    return tuple(replace(claim, evidence=evidence, query="evidence" if evidence else DIAGNOSIS) for claim in details)


def _quotation(sentence: str, known: World) -> tuple[str, ...] | None:
    """The evidence of a sentence that a trusted text holds word by word, or clause by clause."""
    said = without_lead(sentence)
    verbatim = known.verbatim.get(normalised(said))
    if verbatim is not None:
        return verbatim
    return quoted(tokenize(said, known.words, known.plain_names, known.short_names), known.words, known.quotable)


def _unsupported_words(statement: Statement, known: World) -> str:
    """What is wrong with a sentence's words whatever it says: a name, a cause or a word that is nowhere in the diagnosis."""
    advising = advised.is_advice(statement, known)
    name = wording.names(statement, known, advice=advising)
    if name is not None:
        return f"name {name}"
    if not advising and wording.cause(statement, known).problem:
        return "cause"
    word = next(iter(wording.unknown_words(statement, known, advice=advising)), None)
    return f"word {word}" if word else ""


def _wrong_index(statement: Statement, known: World) -> bool:
    """True if what one loop would do is said of another; which one should be the innermost is another matter."""
    return "should" not in statement.stems and "would" in statement.stems and not right_index(statement, known)


def _direction(statement: Statement, known: World) -> str:
    """What is wrong with the relations in a statement: negation, roles, waiting, comparisons, levels, limits, cause and effect."""
    problem = conditions.negation(statement, known) or conditions.prediction(statement, known)
    problem = problem or conditions.promise(statement)
    if problem:
        return problem
    if not all(waiting.roles(s, statement, known) and waiting.waits(s, statement, known) for s in statement.segments):
        return "subject"
    if waiting.does_nothing(statement, known):
        return "subject"
    for test, problem in (
        (comparisons, "comparison"),
        (superlatives, "comparison"),
        (topmost, "comparison"),
        (slight, "level"),
        (mostly, "number"),
        (lambda s, k: not contrary(s, k), "state"),
        (lambda s, k: not turned_round(s, k), "subject"),
        (fit_together, "number"),
        (waiting.in_order, "subject"),
        (right_index, "subject"),
        (rests_rightly, "reason"),
        (other_runs, "prediction"),
        (lambda s, k: not only_hypothetical(s, k), "prediction"),
        (related.near_peak, "level"),
        (related.taken, "subject"),
        (related.acts, "subject"),
        (related.calls, "subject"),
        (related.limiters, "limit"),
        (related.uneven, "subject"),
        (conditions.affirmed, "negation"),
        (lambda s, k: not drops_denial(s, k), "negation"),
        (conditions.growth, "prediction"),
        (states, "state"),
        (related.levels, "level"),
        (related.limits, "limit"),
        (related.slows, "limit"),
        (lambda s, k: not counts_in(s, k), "number"),
        (related.reasons, "reason"),
    ):
        if not test(statement, known):
            return problem
    return ""


def _with_numbers(sentence: str, statement: Statement, known: World, details: tuple[Claim, ...]) -> Sentence:
    found = _all_found(statement, known)
    if found is None:
        return strike(sentence, "number", details)
    wrong = [(one.quantity, one.fact) for one in found if one.fact is not None]
    if len(wrong) > 1:  # two wrong numbers are no slip
        return strike(sentence, "number", details)
    used = [id for one in found for id in one.evidence]
    apart = {one.quantity.start for one in found if one.query != "evidence"}
    calls: list[str] = []
    compared = {p for p, _ in known.words.comparisons.found(statement.stems)} | ranked(statement, known).keys()
    for segment in statement.segments:
        # What is computed or compared has its subjects in several items of evidence.
        if any(q.start in apart for q in segment.quantities) or compared & set(range(segment.first, segment.last)):
            continue
        if related.called(segment, statement, known):
            calls += sorted(segment.names)
            continue
        if is_told(segment, statement, known):
            continue
        support = wording.clause(pointed(segment, statement), statement, known)
        if support.problem:
            return strike(sentence, "subject", details)
        used += support.evidence[: 0 if used else 2]
    evidence = tuple(dict.fromkeys(used))
    details = _with_sources(sentence, details, found, evidence)
    details = tuple(
        replace(c, evidence=(), query="callers of") if c.kind == "name" and c.text in calls else c for c in details
    )
    if not wrong:
        if not parts(statement, known) or not ranges(sentence):
            return strike(sentence, "number", details)
        return Sentence(sentence, evidence, "supported", "", len(details), 0, details)
    text = repair.replaced(sentence, wrong)
    # The repaired sentence must pass by itself: a number can be right by its own subject and still belong to another one.
    if check_sentence(text, known).status != "supported":
        return strike(sentence, "number", details)
    return Sentence(text, evidence, "repaired", "number", len(details), len(wrong), details)


def _all_found(statement: Statement, known: World) -> list[_Found] | None:
    """What each number rests on: itself, one step from others of the sentence, or one item with all of them; None where one has nothing."""
    limits = [q for q in statement.quantities if is_limit(q, statement, known)]
    found = [(q, _found(q, statement, known)) for q in statement.quantities if q not in limits]
    settled = [one for _, one in found if one is not None and one.fact is None]
    pending = [(q, one) for q, one in found if one is None or one.fact is not None]
    changed = True
    while pending and changed:
        changed = False
        for pair in tuple(pending):
            step = within.follows(pair[0], statement, [one.quantity for one in settled] + limits, known)
            if step:
                used = tuple(dict.fromkeys(id for one in settled for id in one.evidence))
                settled.append(_Found(pair[0], used, step))
                pending.remove(pair)
                changed = True
    for quantity, one in pending:
        alike = _of_one_item(statement, known) if one is None else ()
        if one is None and not alike:
            return None
        settled.append(one or _Found(quantity, alike, "evidence"))
    return sorted(settled, key=lambda one: one.quantity.start)


def _found(quantity: Quantity, statement: Statement, known: World) -> _Found | None:
    """What one number rests on: a fact, a computation, the profile itself; a fact that it must have meant; None for nothing."""
    if _counts_names(quantity, statement, known):
        return _Found(quantity, (), "count")
    as_told = as_assessed(quantity)
    own = assessed(as_told, statement, known) if as_told else None
    if quantity.dimension == ASSESSED:
        return _Found(quantity, own.evidence, own.query) if own else None
    if is_of_another(quantity, statement, known):
        return None
    sought = completed(quantity, statement, known)
    support = match.number(sought, known)
    if support.problem and quantity.is_base:
        parts = (match.number(part, known) for part in _as_part(sought, statement))
        support = next((one for one in parts if not one.problem), support)
    cue = derived.has_cue(quantity, statement, known)
    if cue or support.problem:
        again = derived.recomputed(quantity, statement, known)
        if again is not None:
            return _Found(quantity, again.evidence, again.query)
        if cue and (support.problem or not _is_printed_factor(sought, known)):
            return None
    if not support.problem:
        return _Found(quantity, support.evidence, "evidence")
    if own is not None:
        return _Found(quantity, own.evidence, own.query)
    question = asked(sought, known)
    if question:
        return _Found(quantity, (), question)
    fact = repair.candidate(sought, known)
    return None if fact is None else _Found(quantity, fact.evidence[:1], "evidence", fact)


def _is_printed_factor(quantity: Quantity, known: World) -> bool:
    """True for a ratio that the evidence has itself: one of the kind that is claimed, a speed-up or none."""
    gain = "what:speedup" in quantity.keys
    return quantity.dimension == "factor" and any(
        ("what:speedup" in fact.quantity.own) == gain
        and equals(quantity, fact)
        and match.same_subject(quantity, fact, known)
        for fact in known.facts
    )


def _as_part(quantity: Quantity, statement: Statement) -> Iterable[Quantity]:
    """The whole of `1.84 s of the 3.21 s that memory management costs`: what stands behind it, or `its` before it, says what it is itself."""
    apart = replace(quantity, own=NONE, names=NONE, inherited=NONE, inherited_names=NONE, is_base=False)
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), 0)
    if "its" in statement.stems[max(0, position - 2) : position] and quantity.dimension == "time":
        if quantity.names:
            yield replace(apart, names=quantity.names)  # `2.1 s of its 5.5 s`
        if quantity.inherited:
            yield replace(apart, own=quantity.inherited)
        return
    segments = [s for s in statement.segments if s.last > 0 and statement.tokens[s.last - 1].start >= quantity.start]
    for around in (segments[:1], segments[:2]):
        marks = [m for s in around for m in s.marks if m.position > position]
        keys = frozenset(key for mark in marks for key in mark.keys)
        names = frozenset(name for mark in marks for name in mark.names)
        end = next((i for i, t in enumerate(statement.tokens) if t.start >= quantity.end), 0)
        if quantity.dimension == "time" and statement.stems[end : end + 1] in (("in",), ("of",)):
            placed = frozenset(n for mark in marks if end < mark.position <= end + 2 for n in mark.names)
            if placed:  # `5.19 s of the 9.14 s in f`
                yield replace(apart, names=placed)
                return
        if quantity.dimension == "time" and keys - {"what:cost", "who:total"}:
            yield replace(apart, own=keys, names=names)
            return


def _counts_names(quantity: Quantity, statement: Statement, known: World) -> bool:
    """True for the `two` of `the two functions f and g`, and of `the two functions` where two findings are."""
    of_things = quantity.dimension == "count" and quantity.noun in sums.COUNTED_THINGS
    costs = [index for index, bundle in enumerate(known.bundles) if bundle.cause is not None]
    timed = sum(any(index in f.bundles and f.quantity.dimension == "time" for f in known.facts) for index in costs)
    return of_things and quantity.value in ({len(statement.names)} if statement.names else {len(costs), timed})


def _of_one_item(statement: Statement, known: World) -> tuple[str, ...]:
    """The item of evidence that has all numbers of a sentence without a subject: `80 MB were moved at 35.6 MB a second`."""
    subjects = [k for s in statement.segments for k in s.keys] or points_back(statement)
    exact = all(q.exactness == "exact" and not q.in_words for q in statement.quantities)
    if subjects or statement.names or len(statement.quantities) < _SEVERAL or not exact:
        return ()
    for item in dict.fromkeys(f.evidence for f in known.facts if len(f.evidence) == 1):
        facts = [f for f in known.facts if f.evidence == item]
        if all(any(match.same_measure(q, f) and equals(q, f) for f in facts) for q in statement.quantities):
            return item
    return ()


#: Two numbers that agree are no chance.
_SEVERAL = 2


def _with_sources(
    sentence: str, details: tuple[Claim, ...], found: list[_Found], evidence: tuple[str, ...]
) -> tuple[Claim, ...]:
    """The claims with what they rest on: each number with its own source, the rest with the sentence's."""
    sources = [(sentence[one.quantity.start : one.quantity.end], one) for one in found]
    items = []
    for claim in details:
        own = next((one for text, one in sources if claim.kind == "number" and text == claim.text), None)
        if own is None:
            items.append(replace(claim, evidence=evidence[:1], query="evidence" if evidence else ""))
        else:
            items.append(
                replace(claim, evidence=own.evidence, query=own.query, status="repaired" if own.fact else "supported")
            )
    return tuple(items)
