"""The strategy `recipes`: what applies at the places that the diagnosis names, the most promising first."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from chathpc.diagnosis.records import Verdict as Health
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.expansion import changes
from chathpc.fix.recipes.analysis.program import Program, Spot, program
from chathpc.fix.recipes.flags import other_flags
from chathpc.fix.recipes.recipe import Change, Context, Recipe, edited, is_shared
from chathpc.fix.recipes.spots import spots
from chathpc.fix.recipes.table import recipes
from chathpc.fix.records import Attempt, Candidate, Problem, Verdict, identity

#: More candidates are not tried in one round: each is built, checked and timed.
MOST = 12
#: A recipe at a finding of another cause is so much less promising.
_OTHER_CAUSE = 0.25
_TOGETHER = 0.15
#: So many recipes are tried together, and told in the title.
_PARTS, _TOLD = 8, 2
#: What promises less than this part of the best candidate is left for a later round, when that one was tried.
_LEAST = 0.02
#: So many neighbours of an edit are looked at for one that says the same in the same place.
_NEAR = 8
_DIRECTIVE = re.compile(rb"[ \t]*(?:#\s*pragma\s+|!\$)?(omp|schedule|collapse|if|nowait)\b")


@dataclass(frozen=True, slots=True)
class Found:
    """All places of one function where a recipe applies, and how promising that is."""

    recipe: Recipe
    spot: Spot
    changes: tuple[Change, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Recipes:
    """Transformations of the catalogue, applied to the source without a model."""

    recipes: tuple[Recipe, ...] = field(default_factory=recipes)
    most: int = MOST

    @property
    def name(self) -> str:
        """The strategy's name."""
        return "recipes"

    @property
    def learns(self) -> bool:
        """All that is worth trying is said at once."""
        return False

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterable[Candidate]:
        """At most `most` candidates that were not tried before; none where the diagnosis finds nothing.

        A profile may tell no more than where the time goes, and so call a program healthy: what applies there is tried all the
        same, for recipes look for a fault in the source. Only the compiler's flags are left as they are then. Changes are put together
        once `history`, which may grow meanwhile, tells how each fared by itself.
        """
        if not problem.diagnosis.findings:
            return
        context = Context(program(problem.sources), problem.project)
        tried = {attempt.candidate.id for attempt in history}
        parent = next((attempt.candidate.id for attempt in reversed(history) if attempt.verdict == "accepted"), None)
        found = sorted(_found_in(context, problem, self.recipes), key=lambda one: -one.score)
        scored = list(_scored(context, found, parent))
        # What promises less is tried later, and is no part.
        parts = [one for one in found[:_PARTS] if one.score > found[0].score * _TOGETHER]
        together = _together(context.program, parts, parent)
        if together is not None:
            scored.append((found[0].score * _TOGETHER, together))
        if problem.diagnosis.blames or problem.diagnosis.verdict == Health.HOT_SPOT:
            scored += _with_flags(context, problem, parent)
        unique: dict[str, tuple[float, Candidate]] = {}
        for score, candidate in scored:
            if candidate.id not in tried and (candidate.id not in unique or unique[candidate.id][0] < score):
                unique[candidate.id] = score, candidate
        ordered = sorted(unique.values(), key=lambda pair: -pair[0])
        ordered = [pair for pair in ordered if pair[0] >= _LEAST * ordered[0][0] or pair[1].flags is not None]
        for _, candidate in ordered[: self.most]:
            proven: Candidate | None = candidate
            if candidate is together:
                proven = _together(context.program, _not_refused(context.program, parts, history, parent), parent)
            if proven is not None and proven.id not in tried:
                yield proven


def _found_in(context: Context, problem: Problem, recipes: Sequence[Recipe]) -> list[Found]:
    """Where each recipe applies, in no order; a function is looked at once for each recipe, at its most worthwhile finding."""
    found: list[Found] = []
    seen: set[tuple[str, int]] = set()
    ranked = [
        (spot.weight * recipe.promise * (1.0 if spot.cause in recipe.causes else _OTHER_CAUSE), recipe, spot)
        for spot in spots(context.program, problem.diagnosis, problem.profile)
        for recipe in recipes
        if spot.source.language in recipe.languages and (recipe.everywhere or spot.cause in recipe.causes)
    ]
    for score, recipe, spot in sorted(ranked, key=lambda each: -each[0]):
        key = recipe.name, id(spot.procedure)
        if key in seen:
            continue
        listed = tuple(sorted(changes(recipe, context, spot), key=lambda change: abs(change.line - spot.line)))
        if listed:
            seen.add(key)
            found.append(Found(recipe, spot, listed, score))
    return found


def _scored(context: Context, found: Sequence[Found], parent: str | None) -> Iterator[tuple[float, Candidate]]:
    for one in found:
        kept = compatible(one.changes)
        candidate = _candidate(context.program, one, kept, parent)
        if candidate is not None:
            yield one.score, candidate
        if len(kept) > 1:
            alone = _candidate(context.program, one, kept[:1], parent)
            if alone is not None:
                yield one.score * 0.5, alone


def compatible(changes: Sequence[Change]) -> list[Change]:
    """The changes that can be made at once, the first first."""
    kept: list[Change] = []
    taken: Taken = {}
    for change in changes:
        if _fits(change, taken):
            kept.append(change)
    return kept


#: Edits by path that are to be made at once, in their order.
Taken = dict[str, list[Edit]]


def _fits(change: Change, taken: Taken) -> bool:
    """True if the change meets none of those that are taken, whose edits it then joins."""
    joining: list[tuple[str, Edit]] = []
    for path, each in change.edits.items():
        known = taken.setdefault(path, [])
        for one in each:
            at = bisect_left(known, one)
            if at < len(known) and known[at] == one:
                if not is_shared(one):
                    return False
                continue
            joining.append((path, one))
    for path in change.edits:
        known = taken[path]
        mine = sorted(one for where, one in joining if where == path)
        if any(first.end > second.start for first, second in pairwise(mine)):
            return False
        for one in mine:
            at = bisect_left(known, (one.start, one.end), key=lambda edit: (edit.start, edit.end))
            if (at and known[at - 1].end > one.start) or (at < len(known) and known[at].start < one.end):
                return False
            if any(_says_the_same(one, each) for each in known[max(at - _NEAR, 0) : at + _NEAR]):
                return False
    for path, one in joining:
        insort(taken[path], one)
    return True


def _says_the_same(one: Edit, other: Edit) -> bool:
    """True for two clauses of one kind that would be put at the same directive, or two directives in front of the same loop."""
    if one.start != other.start or one.end != other.end or one.start != one.end or one == other:
        return False
    words = [_DIRECTIVE.match(each.new) for each in (one, other)]
    return words[0] is not None and words[1] is not None and words[0][1] == words[1][1]


def _candidate(program: Program, one: Found, changes: Sequence[Change], parent: str | None) -> Candidate | None:
    texts = edited(program, changes)
    if not texts or all(texts[path] == program.sources[path].text.decode("utf-8", "surrogateescape") for path in texts):
        return None
    return Candidate(
        identity(texts, None),
        "recipes",
        _title(program, one, changes),
        texts,
        None,
        one.spot.finding,
        one.recipe.name,
        parent,
    )


def _title(program: Program, one: Found, changes: Sequence[Change]) -> str:
    """Where and what; a change for the time of one function may be made in another that it calls."""
    first, place = changes[0], one.spot.procedure
    inside = [
        each
        for path, edits in first.edits.items()
        for each in program.sources[path].procedures
        if each.model.first <= first.line <= each.model.last
        and any(each.node.start_byte <= edit.start < each.node.end_byte for edit in edits)
    ]
    if inside and not any(each.node.id == place.node.id for each in inside):
        place = inside[0]
    more = f" (and {len(changes) - 1} more)" if len(changes) > 1 else ""
    return f"{place.model.name} ({place.source.path}:{first.line}): {first.did}{more}"


def _not_refused(
    program: Program, found: Sequence[Found], history: Sequence[Attempt], parent: str | None
) -> Sequence[Found]:
    """Once any of the changes passed by itself, those that were not refused; before, all."""
    verdicts = {attempt.candidate.id: attempt.verdict for attempt in history}
    alone = [_candidate(program, one, compatible(one.changes), parent) for one in found]
    fates = [None if each is None else verdicts.get(each.id) for each in alone]
    if Verdict.ACCEPTED not in fates:
        return found
    return [one for one, fate in zip(found, fates, strict=True) if fate in (None, Verdict.ACCEPTED)]


def _together(program: Program, found: Sequence[Found], parent: str | None) -> Candidate | None:
    """The best changes of different recipes at once."""
    kept: list[Change] = []
    names: list[str] = []
    titles: list[str] = []
    taken: Taken = {}
    for one in found:
        fitting = [change for change in one.changes if _fits(change, taken)]
        kept += fitting
        if fitting:
            titles.append(_title(program, one, fitting))
        if fitting and one.recipe.name not in names:
            names.append(one.recipe.name)
    texts = edited(program, kept) if len(names) > 1 else None
    if not texts:
        return None
    more = f"; {len(titles) - _TOLD} more" if len(titles) > _TOLD else ""
    title = f"{'; '.join(titles[:_TOLD])}{more}"
    return Candidate(
        identity(texts, None), "recipes", title, texts, None, found[0].spot.finding, "+".join(names), parent
    )


def _with_flags(context: Context, problem: Problem, parent: str | None) -> Iterator[tuple[float, Candidate]]:
    causes = {finding.cause: finding for finding in reversed(problem.diagnosis.findings)}
    finding = causes.get("unoptimised-build")
    device = problem.project.gpu or any(source.language == "cuda" for source in context.program.sources.values())
    for flags, did, promise in other_flags(problem.project, may_round=context.may_round, native=not device):
        score = promise * (max(finding.weight, 0.05) * 2 if finding is not None else 0.5 if promise > 0.5 else 0.02)
        yield score, Candidate(identity({}, flags), "recipes", did, {}, flags, finding, "compiler-flags", parent)
