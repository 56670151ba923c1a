"""What a model that reads is asked: the run, the facts, what rules found, the places, the source, the tree and the causes that fit.

The places are those of findings and facts, and the hottest of the program, each with its share of the run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chathpc.diagnosis.catalogue import Cause, causes
from chathpc.diagnosis.diagnose import models_of
from chathpc.diagnosis.fact import Fact, amount
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Diagnosis, Place
from chathpc.diagnosis.refutation import refuting
from chathpc.diagnosis.source.hot import Hot
from chathpc.profile import numbers
from chathpc.profile.languages import kind_of
from chathpc.profile.profile import RANKS_ADDED, THREADS_ADDED, Profile
from chathpc.profile.run import run_facts, run_words
from chathpc.profile.text import CHARACTERS_PER_TOKEN, estimate_tokens
from chathpc.profile.tree import NodeKind, is_one_of
from chathpc.prompts.loader import Audience, Template, template
from chathpc.prompts.untrusted import block, marker_of, quote
from chathpc.pruners.source import NOTHING, Shown, shown
from chathpc.reading.retelling import amounts, speaks
from chathpc.reading.wording import Vocabulary

_LINES = re.compile(r"(?P<file>[^:\s]+):(?P<first>[1-9]\d{0,6})(?:[-–](?P<last>[1-9]\d{0,6}))?")
_PROFILE = re.compile(r"^<<(?:measured facts|places|call tree) (\w+)>>\n(.*?)\n<<end \1>>", re.DOTALL | re.MULTILINE)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: Of the question's tokens so many are for source; what it does not use the tree may have.
_SOURCE_TOKENS = 4200
_LONGEST_FACT = 300
#: Languages that a program compiles while it runs: only these have such a cause.
_COMPILED_LATE = frozenset({"python", "julia"})
_OF_SEVERAL_DEVICES = frozenset({"nccl-bound", "multi-gpu-imbalance"})
_OF_SEVERAL = frozenset({"lock-contention", "oversubscription", "io-imbalance", "io-independent"})
_DEVICES = frozenset({"cuda", "hip", "sycl", "openacc", "openmp-target"})


@dataclass(frozen=True, slots=False, eq=False)
class Question:
    """What is sent, and what of it an answer may refer to. All texts are of the user; placeholders are another's matter."""

    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, object]
    listed: tuple[Listed, ...]
    causes: tuple[str, ...]
    shown: Shown
    facts: Mapping[str, Fact]  #: by their ids
    refuted: Mapping[str, tuple[str, ...]]  #: what was measured that excludes a cause, by its id
    found: frozenset[str] = frozenset()  #: the causes that rules found

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What sentences of the answer may use."""
        named = {name for word in self._of_profile for name in _IDENTIFIER.findall(word)}
        names, numbers = self.shown.names() | named, self.shown.numbers()
        return Vocabulary(self.stands_for, names, numbers, amounts(self.facts.values()))

    @cached_property
    def _of_profile(self) -> frozenset[str]:
        """The words of the facts, the places and the call tree as the question has them: a reader sees these names without any source."""
        return frozenset(word.strip(".,()") for found in _PROFILE.finditer(self.user) for word in found[2].split())

    def place(self, id: str) -> Listed | None:
        """The listed place with that id."""
        return next((each for each in self.listed if each.id == id), None)

    def stands_for(self, slot: str) -> str | None:
        """What a slot or citation stands for: a fact's value, a place's name, a shown line; None for what was not shown."""
        if slot in self.facts:
            return amount(self.facts[slot])
        place = self.place(slot)
        return self._line(slot) if place is None else place.said

    def _line(self, text: str) -> str | None:
        """A shown line, or lines, by file and number: `heat.c:12`, `heat.c:12-20`; or one of a fact, a place or the tree."""
        if text in self._of_profile and _LINES.fullmatch(text):
            return text
        found = _LINES.fullmatch(text)
        name = None if found is None else self.shown.file_called(found["file"])
        if found is None or name is None:
            return None
        ends = {int(found["first"]), int(found["last"] or found["first"])}
        return text if ends <= self.shown.lines[name] else None


def question(
    profile: Profile,
    facts: Facts,
    diagnosis: Diagnosis,
    outline: str,
    *,
    audience: Audience = "expert",
    source: bool = True,
    most_tokens: int | None = None,
) -> Question:
    """The question about a diagnosis with the `outline` of its tree; without `source` the user's source stays where it is."""
    form = template("reading", audience)
    most = min(most_tokens or form.max_prompt_tokens, form.max_prompt_tokens)
    listed = places(facts, diagnosis)
    fit = _fitting(facts, diagnosis, listed)
    told = [
        ("run", _run(profile, facts)),
        (
            "measured facts",
            [f"{item.id}: {quote(item.statement, longest=_LONGEST_FACT)}" for item in diagnosis.evidence],
        ),
        ("what the rules found", _found(diagnosis, listed)),
        ("places", [place_line(each) for each in listed]),
        ("not measured", [quote(what, longest=_LONGEST_FACT) for what in diagnosis.not_collected]),
        ("causes", [cause_line(each) for each in fit]),
    ]
    fixed = estimate_tokens(form.system) + sum(estimate_tokens("\n".join(lines)) + 20 for _, lines in told)
    room = max(0, most - fixed - 200)
    view = NOTHING
    if source:
        view = shown_at(profile, facts, listed, int(min(room, _SOURCE_TOKENS) * CHARACTERS_PER_TOKEN))
    code = [as_written(line) for line in view.block()]
    room -= estimate_tokens("\n".join(code))
    tree = _within([quote_tree(line) for line in outline.split("\n") if line], room)
    parts = [*told[:4], ("source", code), ("call tree", tree), *told[4:]]
    told_facts = {item.id: item for item in diagnosis.evidence}
    excluded = {each.id: tuple(fact.statement for fact in refuting(facts, each.id)) for each in fit}
    refuted = {id: told for id, told in excluded.items() if told}
    found = frozenset(finding.cause for finding in diagnosis.findings)
    return assembled(form, parts, listed, tuple(each.id for each in fit), view, told_facts, refuted, found)


def assembled(
    form: Template,
    parts: Sequence[tuple[str, Sequence[str]]],
    listed: tuple[Listed, ...],
    fit: tuple[str, ...],
    view: Shown,
    values: Mapping[str, Fact],
    refuted: Mapping[str, tuple[str, ...]],
    found: frozenset[str] = frozenset(),
) -> Question:
    """The question in `form`: its `parts` by their names, and what an answer may refer to."""
    kept = [(name, list(lines)) for name, lines in parts if lines]
    marker = marker_of(line for _, lines in kept for line in lines)
    return Question(
        system=form.system,
        user="\n\n".join([*(block(name, lines, marker) for name, lines in kept), form.task]),
        max_tokens=form.max_output_tokens,
        schema=form.schema or {},
        listed=listed,
        causes=fit,
        shown=view,
        facts=values,
        refuted=refuted,
        found=found,
    )


def _run(profile: Profile, facts: Facts) -> list[str]:
    # What is told of ranks that are added up stays as it was asked when the answers were recorded.
    kept = {key: value for key, value in profile.run.items() if key not in (RANKS_ADDED, THREADS_ADDED)}
    profile = profile if len(kept) == len(profile.run) else replace(profile, run=kept)
    words = [profile.format, *run_words(run_facts(profile, facts.samples if facts.has_host_time else None))]
    told = [" · ".join(quote(word) for word in words if word)]
    told += [quote(f"{key}: {value}") for key, value in list(profile.hardware.items())[:6]]
    if profile.build is not None and profile.build.records:
        told.append(f"Compilers left {numbers.count(len(profile.build.records))} remarks.")
    return told


def _found(diagnosis: Diagnosis, listed: Sequence[Listed]) -> list[str]:
    ids = {each.place: each.id for each in listed}
    told = [f"{diagnosis.verdict.value}: {quote(diagnosis.headline, longest=_LONGEST_FACT)}"]
    for finding in diagnosis.findings:
        at = ids.get(finding.where, "")
        against = f" Against it: {quote(finding.against[0], longest=_LONGEST_FACT)}" if finding.against else ""
        told.append(
            f"{finding.cause} at {at or 'the program as a whole'} ({finding.status}, {numbers.percent(finding.share)} of the run, "
            f"{', '.join(finding.evidence)}).{against}"
        )
    return told


def cause_line(each: Cause) -> str:
    """A cause as it stands in a question."""
    return f"{each.id}: {quote(each.meaning, longest=_LONGEST_FACT)}"


def place_line(each: Listed) -> str:
    """A place as it stands in a question."""
    shares = []
    if each.share:
        shares.append(f"{numbers.percent(each.share)} of the run")
    if each.below:
        shares.append(f"with all that it calls {numbers.percent(each.below)}")
    return f"{each.id}: {quote(each.name)}" + (f", {', '.join(shares)}" if shares else "")


def quote_tree(line: str) -> str:
    """A line of the outline with its indentation."""
    return line[: len(line) - len(line.lstrip(" "))] + quote(line)


def as_written(line: str) -> str:
    """A line of source as it leaves: no control characters, no tokens of chat templates, of bounded length."""
    from chathpc.llm.backend import strip_template_tokens
    from chathpc.profile.text import clean

    return strip_template_tokens(clean(line))[:300]


def _within(lines: list[str], tokens: int) -> list[str]:
    """As many of the lines as fit."""
    kept, used = [], 0
    for line in lines:
        used += estimate_tokens(line)
        if used > tokens:
            break
        kept.append(line)
    return kept


def _fitting(facts: Facts, diagnosis: Diagnosis, listed: Sequence[Listed]) -> list[Cause]:
    """The causes that the program can have, by its languages and programming models."""
    models = {model for each in listed for model in models_of(facts, each.place.file or "")} | {*models_of(facts)}
    shape = facts.profile.counts
    names = {finding.cause for finding in diagnosis.findings}
    device = (
        bool(models & _DEVICES) or bool(facts.profile.devices) or any("gpu" in each for each in facts.profile.metrics)
    )
    fits = {
        "host": facts.has_host_time or not device,
        "openmp": facts.has_host_time and ("openmp" in models or shape.threads > 1),
        "mpi": "mpi" in models or shape.ranks > 1,
        "gpu-system": device,
        "gpu-kernel": device,
    }
    return [
        each
        for each in causes()
        if each.id in names
        or (
            fits.get(each.family, True)
            and not each.where_only
            and (each.id != "jit-compilation" or models & _COMPILED_LATE)
            and (each.id not in _OF_SEVERAL_DEVICES or len(facts.profile.devices) > 1)
            and (each.id not in _OF_SEVERAL or shape.threads > 1 or shape.ranks > 1)
        )
    ]


#: So many functions of the program are listed by their own time, and so many by what they call.
_BY_TIME, _BY_CALLS = 8, 5
#: Below such shares of the time a place is not worth a reader's.
_LEAST, _LEAST_CALLS = 0.02, 0.10
#: So many hot lines decide what source is shown.
_HOT_LINES = 16


@dataclass(frozen=True, slots=True)
class Listed:
    """A place by its id (P1, …): `share` of the run at the place itself, `below` with all that it calls; None where not known."""

    id: str
    place: Place
    share: float | None
    below: float | None = None

    @property
    def name(self) -> str:
        """`gather (mesh.c:31)`: the place as it stands in a sentence."""
        named = self.place.kernel or self.place.function or ""
        where = self.place.short
        return f"{named} ({where})" if named and where else named or where or "the program"

    @property
    def said(self) -> str:
        """The place as a model may say it: a name that reads like a sentence is none of its words."""
        return self.place.short or "that place" if speaks(self.place.kernel or self.place.function or "") else self.name


def places(facts: Facts, diagnosis: Diagnosis) -> tuple[Listed, ...]:
    """The places of a diagnosis, the most important first."""
    found: dict[tuple[str | None, str | None, int | None], tuple[Place, float | None, float | None]] = {}

    def add(place: Place, share: float | None, below: float | None = None) -> None:
        key = (place.kernel or place.function, place.file, place.line)
        if any(key) and key not in found:
            found[key] = (place, share, below)

    for finding in diagnosis.findings:
        add(finding.where, finding.share)
    if facts.has_host_time:
        for place, share, below in _hottest(facts):
            add(place, share, below)
    for item in diagnosis.evidence:
        if item.where is not None and (item.where.kernel or item.where.line):
            add(item.where, item.share)
    listed = list(found.values()) or [(Place(), None, None)]  # the program as a whole
    return tuple(Listed(f"P{number}", *each) for number, each in enumerate(listed, 1))


def _hottest(facts: Facts) -> list[tuple[Place, float, float]]:
    """Functions of the program by the time at their own lines, library calls included, then by all that they call."""
    tree, hot = facts.profile.tree, Hot(facts)
    label, _ = tree.function_labels
    by_function: dict[int, tuple[float, int]] = {}
    for line in hot.lines:
        function = int(tree.function[line.node])
        if function < 0:
            continue
        mine = int(label[function])
        seconds, node = by_function.get(mine, (0.0, line.node))
        by_function[mine] = (seconds + line.time, node)
    ranked = sorted(by_function.items(), key=lambda item: -item[1][0])[:_BY_TIME]
    found = [
        (facts.place(node), seconds / facts.total, _below(facts, mine))
        for mine, (seconds, node) in ranked
        if seconds >= _LEAST * facts.total
    ]
    return [*found, *((facts.place(node), 0.0, share) for node, share in _call_sites(facts)[:_BY_CALLS])]


def _call_sites(facts: Facts) -> list[tuple[int, float]]:
    """Places of the program's own calls, by the part of the time that they have with all below: the node of each, and that part."""
    tree = facts.profile.tree
    readable = tree.where_file(lambda path: kind_of(path) is not None)
    own = is_one_of(tree.kind, (NodeKind.FUNCTION, NodeKind.INLINED)) & (facts.activities.call < 0) & readable
    nodes = np.flatnonzero(own & (facts.inclusive >= _LEAST_CALLS * facts.total) & (tree.parent >= 0))
    sites: dict[tuple[int, int], tuple[int, list[int]]] = {}
    for node in nodes.tolist():
        at = int(tree.parent[node])
        while at >= 0 and not (tree.line[at] > 0 and readable[at]):  # an inlined call has no line of its own
            at = int(tree.parent[at])
        if at >= 0:
            sites.setdefault((int(tree.file[at]), int(tree.line[at])), (at, []))[1].append(node)
    shares = []
    for at, called in sites.values():
        outermost = tree.outermost(np.array(called, dtype=np.int32))
        shares.append((at, float(facts.inclusive[outermost].sum()) / facts.total))
    return sorted(shares, key=lambda each: -each[1])


def _below(facts: Facts, label: int) -> float:
    """The part of the time that functions of a name have with all that they call, recursion counted once."""
    tree = facts.profile.tree
    labels, _ = tree.function_labels
    nodes = np.flatnonzero((labels == label) & is_one_of(tree.kind, (NodeKind.FUNCTION, NodeKind.INLINED))).astype(
        np.int32
    )
    return float(facts.inclusive[tree.outermost(nodes)].sum()) / facts.total


def shown_at(profile: Profile, facts: Facts, listed: tuple[Listed, ...], most: int) -> Shown:
    """The source of the hottest lines and of the listed places, in about `most` characters."""
    hot: list[tuple[str, int]] = []
    callers: list[tuple[str, int]] = []
    if facts.has_host_time:
        tree, found = profile.tree, Hot(facts)
        hot += [(tree.files[line.file], line.line) for line in found.lines[:_HOT_LINES]]
        callers += [(tree.files[tree.file[at]], int(tree.line[at])) for at, _ in _call_sites(facts)]
    hot += [(each.place.file, each.place.line) for each in listed if each.place.file and each.place.line]
    return shown(profile.read_source, list(dict.fromkeys(hot)), list(dict.fromkeys(callers)), most) if hot else NOTHING
