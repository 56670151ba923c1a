from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import combinations

import pytest

from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.llm.backend import Completion, OnToken, Request
from chathpc.llm.scripted import ScriptedBackend
from chathpc.prompts.build import build_prose
from chathpc.trial import examine, packets

EVIDENCE = re.compile(r"^E\d+: (.*?)(?: \{E\d+\} stands for .*)?$", re.MULTILINE)
NUMBERED = re.compile(r"^\d+\. (?!What |Without |Beside )(.*\d.*)$", re.MULTILINE)


def measured(prompt: str) -> list[str]:
    """The measured facts in a prompt, as they stand there."""
    return EVIDENCE.findall(prompt) or NUMBERED.findall(prompt)


def facts(request: Request) -> list[str]:
    """The measured facts that a request tells."""
    return measured(request.user)


def model(prose: Callable[[list[str]], str], sentences: Callable[[list[str]], object]) -> ScriptedBackend:
    def script(request: Request) -> Iterator[str]:
        text = json.dumps(sentences(facts(request))) if request.json_schema is not None else prose(facts(request))
        return iter(re.findall(r"\s*\S+", text))

    return ScriptedBackend(script)


def cited(texts: list[str]) -> dict[str, object]:
    return {"sentences": [{"text": text, "evidence": [f"E{number}"]} for number, text in enumerate(texts, 1)]}


TRUE = " ".join
FALSE = lambda texts: "It waits 99.9 s. The GPU copies 77 TB. " * len(texts)  # noqa: E731


@pytest.mark.parametrize(
    ("prose", "sentences", "forms"),
    [
        (TRUE, cited, ("structured", "prose")),
        (TRUE, lambda _texts: {}, ("prose",)),
        (TRUE, lambda texts: cited([FALSE(texts)]), ("prose",)),
        (FALSE, cited, ("structured",)),
        (FALSE, lambda _texts: {}, ()),
        # Two true sentences of five are too few, four of five enough.
        (
            lambda texts: " ".join([*texts[:2], *(f"Rank 9{n} sleeps {n}.{n}{n} s." for n in (7, 8, 9))]),
            cited,
            ("structured",),
        ),
        (lambda texts: " ".join([*texts, *texts, "Rank 99 sleeps 1.11 s."]), cited, ("structured", "prose")),
    ],
)
def test_a_model_is_fit_for_what_it_has_shown(
    prose: Callable[[list[str]], str], sentences: Callable[[list[str]], object], forms: tuple[str, ...]
) -> None:
    result = examine(model(prose, sentences), deadline=10.0)
    assert result.forms == forms
    assert result.prose.answers == result.structured.answers == len(packets())


def test_a_model_that_copies_has_all_its_sentences_kept() -> None:
    result = examine(model(TRUE, cited), deadline=10.0)
    told = sum(len(measured(build_prose(packet).user)) for packet in packets())
    assert result.prose.kept == result.prose.sentences == told > len(packets())
    assert result.structured.kept == result.structured.sentences == 2 * len(packets())
    assert result.tokens_per_second is not None
    assert result.first_token is not None


@pytest.mark.parametrize("script", ["liar", "puppet", "silent", "endless", "echo"])
def test_the_worst_models_fail(script: str) -> None:
    assert examine(ScriptedBackend(script), deadline=5.0).forms == ()


class Late(ScriptedBackend):
    """Loads, and then says nothing in time."""

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        if not facts(request):
            return super().complete(request, on_token=on_token)
        raise BudgetSpentError("late")


def test_a_model_that_is_never_in_time_is_fit_for_nothing() -> None:
    result = examine(Late("silent"), deadline=1.0)
    assert (result.forms, result.first_token, result.tokens_per_second) == ((), None, None)
    assert (result.prose.answers, result.prose.formed) == (len(packets()), 0)


def test_what_the_time_does_not_allow_is_not_asked() -> None:
    result = examine(model(TRUE, cited), deadline=10.0, limit=0.0)
    assert result.prose.answers == result.structured.answers == 0
    assert result.forms == ()


def test_a_model_that_cannot_be_asked_is_no_result() -> None:
    class Gone(ScriptedBackend):
        def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
            raise ModelUnavailableError("gone")

    with pytest.raises(ModelUnavailableError):
        examine(Gone("silent"), deadline=1.0)


def numbers_in(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def test_no_number_of_a_packet_follows_from_two_others() -> None:
    """Else a sum or a ratio that a model made up could pass for a measured number. Shares are the exception: they are ratios."""
    for diagnosis in packets():
        found = sorted(
            {number for item in diagnosis.evidence for number in numbers_in(re.sub(r"\([^)]*%\)", "", item.statement))}
        )
        for first, second in combinations(found, 2):
            for made in (first + second, second - first, first * second, second / first):
                assert not any(abs(made - other) <= 0.004 * other for other in found), (
                    first,
                    second,
                    diagnosis.headline,
                )


def test_the_statements_of_a_packet_hold_its_values() -> None:
    scale = {"s": (1.0,), "bytes": (1.0, 1e9), "bytes/s": (1e9,)}
    for diagnosis in packets():
        for item in diagnosis.evidence:
            said = numbers_in(item.statement)
            assert any(item.value == pytest.approx(number * factor) for number in said for factor in scale[item.unit])
        (finding,) = diagnosis.findings
        assert f"({100 * finding.share:.1f} %)" in diagnosis.evidence[0].statement
        seconds, whole = numbers_in(diagnosis.evidence[0].statement)[:2]
        assert seconds / whole == pytest.approx(finding.share, abs=0.002)
