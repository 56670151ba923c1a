"""The test of models: hidden pieces of source that are what they claim to be, and fakes whose ability is known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest

from chathpc.diagnosis.catalogue import cause, ids
from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.llm.backend import Completion, OnToken, Request
from chathpc.llm.fitness import Fitness
from chathpc.profile.text import estimate_tokens
from chathpc.reading.trial import Piece, examine, pieces
from tests.llm.scripted import ScriptedBackend

FAULTY = [piece for piece in pieces() if piece.causes]
HEALTHY = [piece for piece in pieces() if not piece.causes]
BY_QUESTION = {piece.question.user: piece for piece in pieces()}

Reader = Callable[[Piece], object]


def hypothesis(cause: str, place: str, confidence: str = "likely", cites: tuple[str, ...] = ()) -> dict[str, object]:
    return {"cause": cause, "name": "", "place": place, "confidence": confidence, "mechanism": "", "cites": [*cites], "against": "", "change": []}  # fmt: skip


def answer(*hypotheses: object) -> dict[str, object]:
    return {"hypotheses": list(hypotheses), "statements": []}


def right(piece: Piece) -> dict[str, object]:
    """The best answer to a piece: its cause at a place that a report prints, with its first line cited."""
    if not piece.causes:
        return answer()
    shown = next(each for each in piece.question.listed if (each.share or each.below or 0) >= 0.05)
    file = shown.place.file
    return answer(hypothesis(piece.causes[0], shown.id, cites=(f"{file}:{min(piece.right)}",)))


def liar(piece: Piece) -> dict[str, object]:
    return answer(*(hypothesis(each, "P1") for each in piece.question.causes[:3]))


def retelling(request: Request) -> str:
    return "\n".join(re.findall(r"^\d+\. (.*)$", request.user, re.MULTILINE))


def reader(of: Reader, prose: Callable[[Request], str] = retelling) -> ScriptedBackend:
    def script(request: Request) -> Iterator[str]:
        piece = BY_QUESTION.get(request.user)
        text = prose(request) if piece is None else json.dumps(of(piece))
        return iter(re.findall(r"\s*\S+", text))

    return ScriptedBackend(script)


def silence(_: Request) -> str:
    return ""


def ability_of(of: Reader, prose: Callable[[Request], str] = retelling) -> Fitness:
    return examine(reader(of, prose), deadline=10.0)


def test_who_knows_all_reads_and_is_not_asked_more_than_it_takes_to_know_that() -> None:
    shown = ability_of(right)
    assert shown.ability == "reads"
    assert shown.forms == ("structured", "prose")
    assert (shown.reads.right, shown.reads.blamed) == (shown.reads.asked, 0)
    # 18 of 25 are 72 %; of the twins at most 5 may be blamed, so 20 must have been asked.
    assert (shown.reads.asked, shown.reads.twins) == (20, 20)
    assert (shown.retells.told, shown.retells.asked) == (5, 5)


def test_who_blames_everything_does_not_read() -> None:
    shown = ability_of(liar)
    assert shown.ability == "retells"
    assert shown.reads.blamed == shown.reads.twins == 6  # more than 20 % of 25
    assert shown.reads.asked <= 8


def test_who_blames_nothing_does_not_read() -> None:
    shown = ability_of(lambda _piece: answer())
    assert not shown.reads.passed
    assert (shown.reads.right, shown.reads.asked, shown.reads.blamed) == (0, 8, 0)  # 17 of 25 would be 68 %


def test_a_right_cause_at_a_wrong_place_is_not_right() -> None:
    def elsewhere(piece: Piece) -> object:
        far = [each for each in piece.question.listed if each.place.line not in piece.right]
        return answer(hypothesis(piece.causes[0], far[0].id)) if piece.causes and far else answer()

    assert not ability_of(elsewhere).reads.passed


def test_who_cites_the_whole_file_has_not_named_a_line() -> None:
    piece = next(each for each in FAULTY if each.name == "layers")
    shown = piece.question.place("P2")
    assert shown is not None
    assert shown.place.line not in piece.right
    last = max(piece.question.shown.lines[piece.question.shown.file_called("layers.f90") or ""])
    whole = answer(hypothesis(piece.causes[0], "P1", cites=(f"layers.f90:1-{last}",)))
    assert piece.judged(json.dumps(whole)) == (True, True)  # P1 itself is right
    assert piece.judged(json.dumps(answer(hypothesis(piece.causes[0], "P2", cites=(f"layers.f90:1-{last}",))))) in (
        (False, False),  # the place has less than 5 % of the run
        (True, False),
    )


def test_what_a_report_would_not_print_is_neither_right_nor_blame() -> None:
    for piece in pieces():
        said = answer(*(hypothesis(each, "P1", "unlikely") for each in piece.question.causes[:3]))
        assert piece.judged(json.dumps(said)) == (False, False)


def test_who_is_right_in_two_of_three_does_not_read() -> None:
    wrong = {piece.name for piece in FAULTY[::3]}
    assert not ability_of(lambda piece: answer() if piece.name in wrong else right(piece)).reads.passed
    wrong = {piece.name for piece in FAULTY[::4]}
    assert ability_of(lambda piece: answer() if piece.name in wrong else right(piece)).reads.passed


@pytest.mark.parametrize("script", ["liar", "puppet", "silent", "endless", "echo"])
def test_the_worst_models_can_nothing(script: str) -> None:
    shown = examine(ScriptedBackend(script), deadline=0.5, limit=30.0)
    assert (shown.ability, shown.forms) == ("none", ())


@pytest.mark.parametrize(
    "told",
    [
        lambda text: text.replace("37.2", "38.2").replace("512", "513").replace("16.3", "16.4"),
        lambda text: text.replace("advect_scalar", "advect_vector").replace("gather_moments", "scatter_moments"),
        lambda text: " ".join(text.split("\n")).replace(". ", ", and ").lower(),
        lambda text: f"<<facts 1>>\n{text}\n<<end 1>>",
    ],
)
def test_a_sentence_with_another_number_or_name_retells_nothing(told: Callable[[str], str]) -> None:
    shown = ability_of(lambda _piece: answer(), lambda request: told(retelling(request)))
    assert not shown.retells.passed


def test_a_model_that_never_says_anything_is_fit_for_nothing() -> None:
    shown = ability_of(lambda _piece: {}, silence)
    assert (shown.ability, shown.retells.told) == ("none", 0)


class Late(ScriptedBackend):
    """Loads, and then says nothing in time."""

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        if request.max_tokens == 4:
            return super().complete(request, on_token=on_token)
        raise BudgetSpentError("late")


def test_a_model_that_is_never_in_time_is_fit_for_nothing_and_soon_left_alone() -> None:
    shown = examine(Late("silent"), deadline=1.0)
    assert (shown.ability, shown.first_token, shown.tokens_per_second) == ("none", None, None)
    assert (shown.reads.right, shown.reads.asked, shown.reads.twins, shown.reads.late) == (0, 2, 2, 4)


def test_what_the_time_does_not_allow_is_not_asked_and_not_counted() -> None:
    shown = examine(reader(right), deadline=10.0, limit=0.0)
    assert (shown.reads.asked, shown.reads.twins, shown.retells.asked, shown.ability) == (0, 0, 0, "none")
    shown = examine(Late("silent"), deadline=60.0, limit=30.0)
    assert shown.reads.asked == 0  # it was late for the test, not for a report


def test_a_model_that_cannot_be_asked_is_no_result() -> None:
    class Gone(ScriptedBackend):
        def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
            raise ModelUnavailableError("gone")

    with pytest.raises(ModelUnavailableError):
        examine(Gone("silent"), deadline=1.0)


# -- the pieces --------------------------------------------------------------------------------------------------


def test_there_are_enough_pieces_and_each_has_its_twin() -> None:
    assert len(FAULTY) >= 24
    assert {f"{piece.name}, healthy" for piece in FAULTY} == {piece.name for piece in HEALTHY}
    assert len({piece.causes[0] for piece in FAULTY}) >= 20
    assert {id for piece in FAULTY for id in piece.causes} <= {*ids()}
    assert len(BY_QUESTION) == len(pieces())


def test_faulty_and_healthy_take_turns_and_a_piece_is_far_from_its_twin() -> None:
    order = [piece.name for piece in pieces()]
    assert all(bool(piece.causes) == (at % 2 == 0) for at, piece in enumerate(pieces()))
    assert all(abs(order.index(each.name) - order.index(f"{each.name}, healthy")) > 10 for each in FAULTY)


@pytest.mark.parametrize("piece", pieces(), ids=lambda piece: piece.name)
def test_a_piece_is_small_and_parses(piece: Piece) -> None:
    asked = piece.question
    assert estimate_tokens(asked.user) <= 1500
    (text,) = asked.shown.files.values()
    assert text.has_tree
    tree = text._file
    assert tree is not None
    # The grammar of CUDA does not know <<<…, …>>> in all places.
    assert not tree.tree.root_node.has_error or text.name.endswith(".cu")
    assert 25 <= len(text.raw.split("\n")) <= 80
    assert all(each.place.line and text.lines[each.place.line - 1].strip() for each in asked.listed)
    assert piece.right <= set(range(1, len(text.lines) + 1))
    assert {*piece.causes} <= {*asked.causes}
    assert bool(piece.right) == bool(piece.causes)


@pytest.mark.parametrize("piece", FAULTY, ids=lambda piece: piece.name)
def test_the_best_answer_to_a_piece_can_be_given(piece: Piece) -> None:
    assert piece.judged(json.dumps(right(piece))) == (True, True)


#: Words of titles that any program has.
COMMON = {"with", "that", "work", "loop", "data", "memory", "many", "time", "without", "function", "device", "host", "access", "small", "from", "rank"}  # fmt: skip # noqa: E501


@pytest.mark.parametrize("piece", pieces(), ids=lambda piece: piece.name)
def test_no_name_in_a_piece_gives_its_cause_away(piece: Piece) -> None:
    told = next(each for each in FAULTY if each.name == piece.name.removesuffix(", healthy"))
    titles = {word for id in told.causes for word in re.findall(r"[a-z]{4,}", f"{cause(id).title} {id}".lower())}
    (text,) = piece.question.shown.files.values()
    public = re.compile(r"^(omp|mpi|cuda|gomp|pthread|lock_guard)_?", re.IGNORECASE)
    names = {name for name in piece.question.shown.names() if not public.match(name)}
    words = {word.lower() for name in names for word in re.findall(r"[A-Z]?[a-z]{3,}", name)}
    own = words - {"atomicadd", "atomic", "critical", "barrier", "parallel"}  # of languages and directives
    assert not own & (titles - COMMON)
    assert not re.search(r"//|/\*|^\s*![^$]", text.raw, re.MULTILINE)
