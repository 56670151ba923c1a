"""Whether the words of a sentence are those of the diagnosis: its clauses, names, causes, and what no vocabulary has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from chathpc.grounding.denials.promises import assesses
from chathpc.grounding.evidence.assessed import ASSESSING
from chathpc.grounding.evidence.facts import Bundle, World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import DETERMINERS, NONE, Keys
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.match import EVENNESS, Support
from chathpc.grounding.relations.topmost import is_line, listed

#: What any clause may speak of: that something works, and is called.
_ANYWHERE: Keys = frozenset({"act:work", "what:calls"})


def clause(segment: Segment, statement: Statement, world: World) -> Support:
    """Support of what a clause is about: all its subjects and names must occur together in one finding or item of evidence."""
    free = free_words(statement, world)

    def told(bundle: Bundle) -> frozenset[str]:
        return NONE if statement.quantities else bundle.stems

    keys = frozenset(k for k in segment.keys if not k.startswith("who:")) - _ANYWHERE
    if not keys | segment.names:
        return Support(())
    used: tuple[str, ...] = ()
    # Of several names each has its own item of evidence: `f and g compute`.
    places = listed(segment, statement)
    if not places and not is_line(segment.names):
        places = [frozenset({name}) for name in sorted(segment.names)]
    for names in places or [segment.names]:
        bundle = next(
            (b for b in _by_fit(world.bundles, keys | names) if _holds(b, keys, names, world, free | told(b))), None
        )
        if bundle is None:
            return Support((), "subject")
        used += _narrow(bundle, keys | names, world)
    return Support(tuple(dict.fromkeys(used)))


def _holds(bundle: Bundle, keys: Keys, names: Keys, world: World, free: frozenset[str]) -> bool:
    known = bundle.subjects | (EVENNESS if bundle.subjects & EVENNESS else NONE)
    words = frozenset(key for key in keys - known if key.startswith("word:"))
    told = frozenset(f"word:{s}" for s in free)
    own = {key.partition(":")[2] for key in keys if key.startswith("word:")}
    retold = bundle.cause and len(own & bundle.stems) >= max(_LEAST_RETOLD, _MOSTLY * len(own))
    if retold:  # the catalogue's own words for it: `the linear search`
        told |= {f"word:{s}" for s in bundle.stems | world.words.neutral | world.words.beside}
    if _LOOP in known:
        keys -= {"in:iteration"}
    if any("." in name for name in bundle.names):
        keys -= {"in:file"}
    return keys - words <= known and words <= told and names <= bundle.names


_LOOP = "in:loop"


def _by_fit(bundles: Sequence[Bundle], known: Keys) -> Sequence[Bundle]:
    """Single items of evidence before whole findings."""
    return sorted(bundles, key=lambda bundle: len(bundle.evidence) or len(known) + 99)


def _narrow(bundle: Bundle, known: Keys, world: World) -> tuple[str, ...]:
    """Of a finding's evidence the items that share a subject; at most the first three."""
    if len(bundle.evidence) <= 1:
        return bundle.evidence
    singles = {b.evidence[0]: b for b in world.bundles if b.cause is None and len(b.evidence) == 1}
    fitting = [id for id in bundle.evidence if id in singles and known & (singles[id].subjects | singles[id].names)]
    return tuple(fitting[:3] or bundle.evidence[:1])


def names(statement: Statement, world: World, *, advice: bool) -> str | None:
    """The first name in a sentence that the diagnosis does not know; None if it knows all."""
    known = world.names | (world.advice_names if advice else NONE) | world.plain_names
    for name in sorted(
        one.removeprefix("std::") if one.removeprefix("std::") in known else one for one in statement.names
    ):
        if name not in known and (not advice or name not in world.advice_names) and not _is_measured(name, world):
            return name
    if "main" not in known | world.said and _names_main(statement):
        return "main"
    misnamed = _respelt(statement, world) or _file_as_function(statement)
    if misnamed:
        return misnamed
    lines = [line for line in statement.lines if line not in world.lines]
    return f"line {lines[0]}" if lines else None


def _respelt(statement: Statement, world: World) -> str:
    """A function that is written as the program does not (`Gaussian` for `gaussian`), where no sentence begins; empty if none is."""
    for token in statement.tokens[1:]:
        text = token.text
        if (
            text[:1].isupper()
            and not text.isupper()
            and text not in world.plain_names
            and text.lower() in world.plain_names
        ):
            return text
    return ""


def _file_as_function(statement: Statement) -> str:
    """The place of `the function align.c:25 calls itself`, where a name should be; empty if there is none."""
    return next((b.text for a, b in pairwise(statement.tokens) if b.kind == "file" and a.stem in _CALLABLE), "")


_CALLABLE = frozenset(map(stem, ("function", "kernel", "routine", "procedure", "subroutine")))


def _names_main(statement: Statement) -> bool:
    """True for the function of `happen in main` and `main calls f`; not for `the main cost`."""
    for position, token in enumerate(statement.tokens):
        before = statement.stems[position - 1] if position else ""
        following = statement.tokens[position + 1] if position + 1 < len(statement.tokens) else None
        if token.text != "main" or before in DETERMINERS:
            continue
        ends = following is None or following.kind != "word" or following.text in _FINITE
        if ends and (position == 0 or before in _PLACES):
            return True
    return False


_PLACES = frozenset(map(stem, ("in", "of", "by", "from", "inside", "within", "below", "and", "function", "that")))
#: What follows the name of a function, and no adjective.
_FINITE = frozenset(
    ("is", "was", "has", "calls", "takes", "spends", "touches", "computes", "allocates", "waits", "copies", "does", "and", "or", "with", "at", "for",
     "itself", "alone", "where", "which")
)  # fmt: skip


def _is_measured(name: str, world: World) -> bool:
    return world.queries.time_of(name) is not None or world.queries.time_of_line(name) is not None


def cause(statement: Statement, world: World) -> Support:
    """Support of the causes that a sentence speaks of: each must be among the findings."""
    used: tuple[str, ...] = ()
    for position, meanings in world.words.phrases.found(statement.stems):
        if world.words.negations & set(statement.stems[max(0, position - _DENIED) : position]):
            continue  # `conditions.negation` sees whether that may be denied
        if not meanings & (world.causes | world.stated):
            return Support((), "cause")
        for bundle in world.bundles:
            if bundle.cause in meanings:
                used = used or bundle.evidence[:1]
    return Support(used)


#: Words between a negation and the cause that it denies: `not because of the imbalance`.
_DENIED = 4


def free_words(statement: Statement, world: World) -> frozenset[str]:
    """Words that may stand in a sentence: beside a number all of everyday English, in what retells a finding as well, else fewer."""
    everyday = world.words.neutral | world.words.beside
    if ASSESSING & set(statement.stems) and assesses(statement, world):
        return world.said | everyday | ASSESSING
    if statement.quantities:
        return world.said | everyday
    return everyday if _is_retold(statement, world) else world.words.telling


def _is_retold(statement: Statement, world: World) -> bool:
    """True if most of what a sentence says is in the texts of one finding, those of the catalogue about its cause among them."""
    own = {t.stem for t in statement.tokens if t.kind == "word"} - world.words.plain
    return any(len(own & bundle.stems) >= max(1, _MOSTLY * len(own)) for bundle in world.bundles if bundle.cause)


_LEAST_RETOLD, _MOSTLY = 2, 0.5
#: Words that share their first letters are of one family: recursion, recursive, recursively.
_FAMILY = 6


def unknown_words(statement: Statement, world: World, *, advice: bool) -> Iterable[str]:
    """Words that neither the diagnosis nor the vocabulary has: a sentence that needs them says something new."""
    words = world.words
    # A sentence without a number says what it says by its words alone.
    free = statement.quantities or advice or _is_retold(statement, world)
    general = words.neutral if free else words.plain | words.telling
    if free:
        general |= words.beside
    known = world.stems | words.counted
    if advice:
        known |= world.advice_stems | words.remedies
    if ASSESSING & set(statement.stems) and assesses(statement, world):
        known |= ASSESSING
    families = frozenset(stem[:_FAMILY] for stem in known if len(stem) >= _FAMILY)
    known |= general
    position, stems = 0, statement.stems
    while position < len(stems):
        token = statement.tokens[position]
        length = max(words.subjects.at(stems, position)[0], words.phrases.at(stems, position)[0])
        if length:
            position += length
            continue
        if token.kind == "word" and not (
            token.stem in known
            or (len(token.stem) >= _FAMILY and token.stem[:_FAMILY] in families)
            or words.states.at(stems, position)[0]
            or token.stem in words.levels
            or token.stem in words.number_words
            or token.stem in words.fractions
            or token.stem in words.changes
            or token.stem in words.negations
            or words.comparisons.at(stems, position)[0]
            or words.approximations.at(stems, position)[0]
            or (advice and (token.stem in words.advice or token.stem in words.modal))
            or (len(token.text) == 1 and token.text.isalpha())
        ):
            yield token.text
        position += 1
