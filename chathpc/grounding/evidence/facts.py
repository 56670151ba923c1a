"""What a diagnosis says, in the terms in which sentences are checked: facts, names, roles and who does what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from chathpc.grounding.evidence.measurements import Measurement, without_commands
from chathpc.grounding.evidence.queries import Queries
from chathpc.grounding.evidence.readings import Readings
from chathpc.grounding.language.claims import Segment
from chathpc.grounding.language.quantities import NONE, Keys, Quantity
from chathpc.grounding.language.quotation import Quotable, without_lead
from chathpc.grounding.language.vocabulary import Vocabulary

TEMPLATE = re.compile(r"([A-Za-z_][\w:]{0,80})<[\w ,:*&]{1,80}>")


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
    stems: frozenset[str] = frozenset()  #: of all words of its texts, and of what the catalogue says about its cause


@dataclass(frozen=True, slots=True)
class Assessment:
    """One finding's numbers; `stems` are the words of its title, cause and place, `near` the names of its place."""

    stems: frozenset[str]
    near: Keys
    confidence: float
    headroom: float
    bound: float | None
    reason: frozenset[str]  #: stems of what its confidence was computed from
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class World:
    """Everything that a sentence may rest on."""

    words: Vocabulary
    facts: tuple[Fact, ...]
    bundles: tuple[Bundle, ...]
    assessments: tuple[Assessment, ...]  #: of each finding, as the bundles that the findings begin
    segments: tuple[Segment, ...]
    plain_names: frozenset[str]
    short_names: Mapping[str, str]  #: last parts of qualified names, and these
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
    advised_words: tuple[frozenset[str], ...]  #: of each piece of advice the stems, names and numbers
    healthy: bool
    openers: frozenset[str]  #: stems of the words that begin the findings' advice: imperatives
    verbatim: Mapping[str, tuple[str, ...]]  #: trusted sentences, normalised, with their evidence
    quotable: tuple[Quotable, ...]  #: the same, clause by clause
    pairs: frozenset[tuple[str, str]]  #: words beside each other in them
    facts_told: tuple[Quotable, ...]  #: trusted sentences that are no advice
    told: frozenset[tuple[str, str]]  #: of these pairs those of texts that are no advice
    advised_pairs: frozenset[tuple[str, str]]  #: and those of advice
    hypothetical: frozenset[str]  #: words that stand only in what would be
    indices: Mapping[str, frozenset[str]]  #: words of clauses on `the loop over x`, and these indices
    advised: frozenset[str]  #: sentences of the findings' advice, normalised
    templates: frozenset[str]  #: names with their template arguments, without spaces
    lines_named: frozenset[str]  #: `heat.c:12` that a fact is about, not only near
    acts: frozenset[tuple[str, str]]  #: who of host and device waits or works
    awaited: frozenset[tuple[str, str]]  #: of host and device who waits for whom
    limiters: Keys  #: what trusted texts speak of where they speak of a limit
    callers: Keys  #: names that stand before `calls`
    limited: Keys  #: what trusted texts say is limited, where they say by what
    sized: frozenset[tuple[str, str]]  #: (big or small, the word behind it)
    measurements: tuple[Measurement, ...]  #: what the findings propose to measure next
    calls: tuple[str, ...]  #: calls of functions with their arguments that the findings advise
    queries: Queries
    uneven: bool  #: a finding or what an item of evidence is about is uneven work
    denied: frozenset[tuple[str, str]]  #: of these pairs those that only stand behind a negation
    undenied: frozenset[tuple[str, ...]]  #: clauses that deny, without their negations
    rarity: Mapping[str, float]  #: terms of facts: ln(1 + facts / facts that have it)
    said: frozenset[str]  #: stems of the words of trusted texts alone, without the catalogue
    absent: frozenset[str]  #: states that a finding excludes
    readings: Readings
    leading_share: float  #: of the run, of the first finding
    leading: Segment  #: what `this` and `it` are about where no sentence went before: the first finding

    def without_own(self, sentence: str) -> str:
        """What could be markup or a command in a sentence: nothing in our own advice, no template arguments of known names."""
        if normalised(without_lead(sentence)) in self.advised:
            return ""
        return self.without_templates(without_commands(sentence, self.measurements, self.calls))

    def without_templates(self, sentence: str) -> str:
        """The sentence with the template arguments of known names taken off: `f<float, 64>` is no markup."""
        return TEMPLATE.sub(lambda found: found[1] if unspaced(found[0]) in self.templates else found[0], sentence)

    def with_roles(self, keys: Keys) -> Keys:
        """`keys` and, for a thread or rank whose role is known, the role, and the other way round."""
        more = {role for one, role in self.roles if one in keys} | {one for one, role in self.roles if role in keys}
        return keys | more


def unspaced(name: str) -> str:
    """A name without spaces, for comparison."""
    return "".join(name.split())


def normalised(sentence: str) -> str:
    """A sentence for comparison word by word: case, spaces and the full stop do not count."""
    return " ".join(sentence.casefold().split()).rstrip(".")
