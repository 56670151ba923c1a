"""How good the answer to one case is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from chathpc.bench.case import HEALTHY, HOT_SPOT, INSUFFICIENT, SUSPECTED, Case, Label, Spot
from chathpc.bench.outcome import Answer, Outcome
from chathpc.bench.statistics import Stated
from chathpc.diagnosis.catalogue import cause as entry
from chathpc.diagnosis.catalogue import common, ids
from chathpc.diagnosis.facts import plain_name

#: Answers that an expert's label is compared with.
FIRST_TWO = 2
#: Answers among which a fault has to be for its place to be looked at.
FIRST_THREE = 3

#: What a model answers that suspects nothing, as far as labels have it.
_NO_FAULT = frozenset({HEALTHY, HOT_SPOT, "hot-compute", "library-call"})


@dataclass(frozen=True, slots=True)
class Floor:
    """What a floor says about the case: the rank of its first right answer, and whether the first place is right."""

    rank: int | None
    function: bool | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """A case, its outcome, and what is right and wrong about it.

    `answers` are what the report says, first things first; `rank` is the position (from 1) of the first right one. `stated`
    holds the confidence of each claim, a finding that is worth more than the verdict asks for, and whether its cause is right.
    `function` and `line` tell whether the place of the right finding is right, `first_function` whether that of the first finding
    is, whatever its cause; None where there is nothing to compare.
    `false` are the causes of claims about a healthy program, `unseen` of claims of a fault that the profile cannot show,
    `wrong` the causes that were told although the label rules them out.
    """

    case: Case
    outcome: Outcome
    answers: tuple[frozenset[str], ...]
    rank: int | None
    second_rank: int | None
    stated: tuple[Stated, ...]
    function: bool | None
    line: bool | None
    first_function: bool | None
    false: tuple[str, ...]
    unseen: tuple[str, ...]
    wrong: tuple[str, ...]
    abstains_rightly: bool
    biggest: Floor = field(default=Floor(None))
    read_rank: int | None = None  #: of the first right one among a model's hypotheses
    read_function: bool | None = None  #: whether the place of that one is right
    read_shown: int | None = None  #: its rank among those that a report prints
    read_false: tuple[str, ...] = ()  #: printed about a healthy program
    read_wrong: tuple[str, ...] = ()  #: printed although the label rules them out

    @property
    def good(self) -> bool:
        """True if nobody needs to look at this case: what `--show wrong` leaves out."""
        if self.outcome.failure or self.wrong or self.false or self.unseen or not self.abstains_rightly:
            return False
        if self.case.label == Label.TWIN:
            return True
        return self.rank == 1 and self.function is not False

    @property
    def experts_rule(self) -> bool:
        """The rule for applications: an expected or acceptable cause among the first two, none of the clearly wrong ones."""
        return self.rank is not None and self.rank <= FIRST_TWO and not self.wrong


def score(case: Case, outcome: Outcome) -> Score:
    """The score of one case; of a case without an answer nothing is right."""
    answers = answers_of(outcome)
    claims = [finding for finding in outcome.findings if finding.weight >= claimed_weight()]
    accepted = case.right | ({case.second} if case.second else set())
    told = [answer.cause for answer in (claims if case.label == Label.TWIN else outcome.findings)]
    said = {outcome.verdict, *told}
    fault = case.has_fault
    found = _place_of(case, outcome.findings) if fault else None
    return Score(
        case=case,
        outcome=outcome,
        answers=answers,
        rank=rank_of(answers, case.right),
        second_rank=None if case.second is None else rank_of(answers, frozenset({case.second})),
        stated=()
        if case.label == Label.TWIN
        else tuple(Stated(claim.confidence, claim.cause in accepted) for claim in claims),
        function=_function_right(case, found) if fault else None,
        line=_line_right(case, found) if fault else None,
        first_function=_function_right(case, next(iter(outcome.findings), None)) if fault else None,
        false=tuple(claim.cause for claim in claims if claim.cause not in case.right) if case.healthy else (),
        unseen=() if case.visible else tuple(claim.cause for claim in claims if claim.cause == case.cause),
        wrong=tuple(sorted(said & case.wrong)),
        abstains_rightly=_abstains_rightly(case, outcome),
        biggest=_biggest(case, outcome),
        **_read(case, outcome),
    )


def _read(case: Case, outcome: Outcome) -> dict[str, Any]:
    """What is right and wrong about a model's hypotheses."""
    if outcome.read is None:
        return {}
    said, shown = outcome.read.said, outcome.read.shown
    return {
        "read_rank": rank_of(read_answers(each.cause for each in said), case.right),
        "read_function": _function_right(case, _place_of(case, said)) if case.has_fault else None,
        "read_shown": rank_of(read_answers(each.cause for each in shown), case.right),
        "read_false": tuple(each.cause for each in shown if each.cause not in case.right) if case.healthy else (),
        "read_wrong": tuple(each.cause for each in shown if each.cause in case.wrong),
    }


def read_answers(suspected: Iterable[str]) -> list[frozenset[str]]:
    """The causes that a model suspects as answers, first things first; one that suspects none says that the program just computes."""
    return [frozenset({cause}) for cause in suspected] or [_NO_FAULT]


def answers_of(outcome: Outcome) -> tuple[frozenset[str], ...]:
    """What a report says, first things first, each cause once.

    A verdict that claims no cause stands before all findings. A finding of which nothing can go (hot-compute) is what such a
    run spends its time on: as first finding it is part of that verdict, not a second answer.
    """
    causes = list(dict.fromkeys(finding.cause for finding in outcome.findings))
    if outcome.failure:
        return ()
    if not _claims_nothing(outcome):
        return tuple(frozenset({cause}) for cause in causes)
    first = {outcome.verdict}
    if outcome.verdict != INSUFFICIENT and causes and _nothing_can_go(causes[0]):
        first.add(causes.pop(0))
    return (frozenset(first), *(frozenset({cause}) for cause in causes))


def _claims_nothing(outcome: Outcome) -> bool:
    """Whether the verdict blames no cause: a suspicion counts as none where only a hot place has it, with nothing that could go."""
    if outcome.verdict == SUSPECTED:
        return not outcome.findings or outcome.findings[0].weight < claimed_weight()
    return outcome.verdict in (HEALTHY, HOT_SPOT, INSUFFICIENT)


def _nothing_can_go(cause: str) -> bool:
    return cause in ids() and entry(cause).where_only


def rank_of(answers: Sequence[frozenset[str]], right: frozenset[str]) -> int | None:
    """Position (from 1) of the first answer that is right; None if none is."""
    return next((position for position, said in enumerate(answers, 1) if said & right), None)


def claimed_weight() -> float:
    """Cost × headroom from which a finding makes the verdict a bottleneck (catalogue: verdict_weight)."""
    return common()["verdict_weight"].value


def _abstains_rightly(case: Case, outcome: Outcome) -> bool:
    """Whether `insufficient-data` was said where the label says so, and not elsewhere.

    Of a fault that a profile cannot show, a hot spot or a mere suspicion is silence as well; to call the program healthy is not.
    """
    if outcome.failure:
        return False
    if case.cause == INSUFFICIENT:
        return outcome.verdict == INSUFFICIENT
    if not case.visible:
        return _claims_nothing(outcome) and outcome.verdict != HEALTHY
    return outcome.verdict != INSUFFICIENT or INSUFFICIENT in case.right


def _biggest(case: Case, outcome: Outcome) -> Floor:
    said = outcome.biggest
    rank = rank_of([frozenset({answer.cause}) for answer in said], case.right)
    function = _function_right(case, said[0] if said else None) if case.has_fault else None
    return Floor(rank, function)


# -- places ------------------------------------------------------------------------------------------------


def _place_of(case: Case, findings: Sequence[Answer]) -> Answer | None:
    """The first finding of a right cause among the first causes that are told."""
    causes = list(dict.fromkeys(finding.cause for finding in findings))[:FIRST_THREE]
    return next((each for each in findings if each.cause in case.right and each.cause in causes), None)


def _function_right(case: Case, found: Answer | None) -> bool | None:
    """Whether the function or kernel is one of the label's; None if the label names none."""
    wanted = {plain_name(spot.function) for spot in case.spots if spot.function}
    if not wanted:
        return None
    return found is not None and bool({plain_name(name) for name in (found.function, found.kernel) if name} & wanted)


def _line_right(case: Case, found: Answer | None) -> bool | None:
    """Whether file and line lie in one of the label's places; None if the label names no lines."""
    spots = [spot for spot in case.spots if spot.file and spot.first]
    if not spots:
        return None
    return found is not None and any(_within(spot, found) for spot in spots)


def _within(spot: Spot, found: Answer) -> bool:
    same = _base(found.file) == _base(spot.file)
    return same and found.line is not None and (spot.first or 0) <= found.line <= (spot.last or 0)


def _base(path: str | None) -> str:
    return (path or "").replace("\\", "/").rsplit("/", 1)[-1]
