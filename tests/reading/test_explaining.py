"""The model stage: what a model says stands under its name, as far as it holds by construction, and nothing else depends on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

import chathpc
from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Verdict
from chathpc.errors import BudgetSpentError, ModelUnavailableError, UsageError
from chathpc.llm.backend import Completion, OnToken, Request
from chathpc.llm.price import Price
from chathpc.llm.settings import Settings
from chathpc.llm.spec import Choice
from chathpc.profile.profile import Profile
from chathpc.prompts.loader import Audience
from chathpc.reading.explaining import explain_in_words, from_catalogue
from chathpc.reading.retelling import CATALOGUE, narrate
from chathpc.report import ExplanationRecord, Report
from chathpc.reports.wording import author, checked
from tests.llm.scripted import Script, ScriptedBackend

DATABASE = Path(__file__).parents[2] / "examples" / "omp-triangle" / "database"


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings, weights or keys of the machine that the tests run on."""
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "tests.llm.scripted")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CHATHPC_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def profile() -> Profile:
    return chathpc.load(DATABASE)


def explained(profile: Profile, llm: str) -> Report:
    return chathpc.explain(profile, llm=llm)


def says(monkeypatch: pytest.MonkeyPatch, text: str, *, form: str = "prose") -> list[ScriptedBackend]:
    """Make every SPEC mean a model that answers `text`; the list holds the back end after the call."""
    made: list[ScriptedBackend] = []

    def script(_request: Request) -> Iterator[str]:
        yield text

    def choices(*_arguments: object) -> Iterator[Choice]:
        answer: Script = script
        made.append(ScriptedBackend(answer, form="structured" if form == "structured" else "prose"))
        yield Choice(made[-1])

    monkeypatch.setattr("chathpc.llm.spec.choices", choices)
    return made


def of_catalogue(explanation: ExplanationRecord) -> bool:
    kept = [one for one in explanation.statements if one.dropped_because is None]
    return explanation.model is None and all(one.by == CATALOGUE for one in kept)


def by_model(explanation: ExplanationRecord) -> list[str]:
    """What the model said that is printed."""
    return [one.text for one in explanation.statements if one.by == explanation.model and one.dropped_because is None]


def test_without_a_model_the_words_are_the_catalogues_and_nothing_is_noted(profile: Profile) -> None:
    explanation = explained(profile, "none").explanation
    assert of_catalogue(explanation)
    assert explanation.note is None


def test_each_fact_is_told_in_the_models_sentence_or_in_the_catalogues(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = narrate(diagnose(profile))
    lie = "The GPU copies 812 GB over the bus in 99.7 s."
    says(monkeypatch, f"{facts[2].text} {lie} {facts[0].text}")
    report = explained(profile, "local")
    told = report.explanation
    assert told.text == " ".join(fact.text for fact in facts)
    assert by_model(told) == [facts[0].text, facts[2].text]
    assert [one.cites for one in told.statements[:3]] == [list(fact.cites) for fact in facts[:3]]
    assert [(one.text, bool(one.dropped_because)) for one in told.statements if one.dropped_because] == [(lie, True)]
    assert lie not in told.text
    assert (
        author(report) == "quotes are from custom (scripted), a language model, with the numbers and names of the facts"
    )


@pytest.mark.parametrize("script", ["liar", "puppet", "silent", "endless"])
def test_a_model_that_says_nothing_true_leaves_the_words_to_the_catalogue(profile: Profile, script: str) -> None:
    report = explained(profile, f"scripted:{script}")
    if script != "puppet":  # it repeats what the advice says to write, which is true
        assert of_catalogue(report.explanation)
        assert report.explanation.note
    for falsehood in ("123456", "4711", "42 times", "MPI_Allreduce"):
        assert falsehood not in report.explanation.text


def test_what_a_model_said_is_kept_with_why_it_is_not_printed(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    lie = "The GPU copies 812 GB over the bus in 99.7 s."
    says(monkeypatch, f"{lie} The run is limited by the network.")
    told = explained(profile, "local").explanation
    assert of_catalogue(told)
    assert told.lack == "unsupported"
    dropped = [one for one in told.statements if one.dropped_because]
    assert [one.text for one in dropped] == [lie, "The run is limited by the network."]
    assert {one.by for one in dropped} == {"custom (scripted)"}


def test_the_findings_do_not_depend_on_the_model(profile: Profile) -> None:
    plain, worded = explained(profile, "none"), explained(profile, "scripted:liar")
    assert (plain.verdict, plain.findings, plain.evidence) == (worded.verdict, worded.findings, worded.evidence)


READ = {
    "hypotheses": [
        {
            "cause": "omp-load-imbalance",
            "name": "",
            "place": "P1",
            "confidence": "likely",
            "mechanism": "The work of `work_item` grows with `i`, and the iterations are shared out evenly by their number.",
            "cites": ["E1", "stencil_omp.c:60"],
            "against": "",
            "change": [],
        }
    ],
    "statements": [
        {"kind": "reading", "text": "Threads wait {E1} in the OpenMP runtime.", "cites": ["E1"]},
        {"kind": "reading", "text": "They wait 9 hours.", "cites": ["E1"]},
    ],
}


def test_a_model_that_reads_suspects_and_says_under_its_name(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    made = says(monkeypatch, json.dumps(READ), form="structured")
    report = explained(profile, "openai:any")
    assert [(each.cause, each.where.function) for each in report.suspected] == [
        ("omp-load-imbalance", "triangular_work")
    ]
    assert report.suspected[0].by == report.explanation.model
    assert by_model(report.explanation) == ["Threads wait 4.36 s in the OpenMP runtime."]
    assert report.explanation.text == chathpc.explain(profile).explanation.text  # the catalogue's words stand
    assert report.verdict == chathpc.explain(profile).verdict
    request = made[0].requests[0]
    assert request.json_schema is not None
    assert "schedule(static)" in request.user


@pytest.mark.parametrize(
    ("confidence", "verdict"), [("likely", "suspected"), ("possible", "hot-spot"), ("unlikely", "hot-spot")]
)
def test_what_a_model_holds_likely_raises_a_hot_spot_to_a_suspicion_and_nothing_else(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, confidence: str, verdict: str
) -> None:
    from chathpc import pipeline

    hot = replace(diagnose(profile), verdict=Verdict.HOT_SPOT)
    monkeypatch.setattr(pipeline, "diagnose", lambda *_: hot)
    read = {**READ, "hypotheses": [{**READ["hypotheses"][0], "confidence": confidence}]}  # type: ignore[dict-item]
    says(monkeypatch, json.dumps(read), form="structured")
    assert chathpc.explain(profile, llm="openai:any").verdict == verdict


def test_json_that_is_none_leaves_the_words_to_the_catalogue(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, '{"sentences": [{"text": "cut off', form="structured")
    assert of_catalogue(explained(profile, "openai:any").explanation)


def test_no_installed_model_is_no_error_and_says_how_to_get_one(profile: Profile) -> None:
    explanation = explained(profile, "auto").explanation
    assert of_catalogue(explanation)
    assert "chathpc models list" in (explanation.note or "")


def test_a_model_that_was_asked_for_and_is_missing_is_noted(profile: Profile) -> None:
    explanation = explained(profile, "local:qwen2.5-coder-0.5b").explanation
    assert of_catalogue(explanation)
    assert "models pull" in (explanation.note or "")


def test_a_server_that_is_not_there_is_noted_and_the_report_comes(profile: Profile) -> None:
    report = chathpc.explain(profile, llm="openai:any", base_url="http://127.0.0.1:9/v1")
    assert of_catalogue(report.explanation)
    assert report.explanation.note
    assert report.findings


def test_a_word_that_names_no_model_is_wrong_usage(profile: Profile) -> None:
    with pytest.raises(UsageError):
        explained(profile, "gpt")


def test_too_little_data_is_not_worded_by_a_model(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    from chathpc.diagnosis.records import Verdict
    from chathpc.pruners.prune import prune

    made = says(monkeypatch, "anything")
    poor = replace(diagnose(profile), verdict=Verdict.INSUFFICIENT)
    explanation, hypotheses = explain_in_words(profile, poor, prune(profile), llm="local", settings=Settings())
    assert not hypotheses
    assert of_catalogue(explanation)
    assert made[0].requests == []


def test_from_the_command_line_a_missing_model_that_was_asked_for_is_exit_code_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from chathpc.commands.main import main

    code = main(["explain", str(DATABASE), "--llm", "local:qwen2.5-coder-0.5b", "-o", str(tmp_path / "r.txt")])
    assert code == ModelUnavailableError.exit_code
    assert "OpenMP load imbalance" in (tmp_path / "r.txt").read_text()
    assert "No model worded this report" in capsys.readouterr().err


def test_the_catalogues_words_name_the_evidence_behind_them(profile: Profile) -> None:
    explanation = from_catalogue(narrate(diagnose(profile)))
    known = {item.id for item in diagnose(profile).evidence}
    used = {one for statement in explanation.statements for one in statement.cites}
    assert used
    assert used <= known


def in_turn(monkeypatch: pytest.MonkeyPatch, *choices: Choice) -> None:
    monkeypatch.setattr("chathpc.llm.spec.choices", lambda *_arguments: iter(choices))


class Broken(ScriptedBackend):
    """A model whose server is gone, or whose time is up in the middle of an answer."""

    def __init__(self, error: Exception) -> None:
        super().__init__("silent")
        self._error = error

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        raise self._error


def truth(profile: Profile) -> ScriptedBackend:
    facts = [fact.text for fact in narrate(diagnose(profile))[:2]]
    return ScriptedBackend(lambda _request: iter([" ".join(facts)]))


@pytest.mark.parametrize(
    "first",
    [
        Choice(Broken(ModelUnavailableError("The server is gone."))),
        Choice(Broken(BudgetSpentError("The time is up."))),
        Choice(ScriptedBackend("liar")),
        Choice(None, "It is not installed.", lack="unavailable"),
    ],
    ids=["server gone", "time up", "liar", "not installed"],
)
def test_where_one_model_cannot_the_next_one_words_the_report(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, first: Choice
) -> None:
    in_turn(monkeypatch, first, Choice(truth(profile)))
    explanation = explained(profile, "local").explanation
    assert explanation.model == "custom (scripted)"
    assert explanation.lack is None
    assert explanation.note  # what went wrong with the first one is told


@pytest.mark.parametrize(
    ("error", "lack"),
    [(ModelUnavailableError("Gone."), "unavailable"), (BudgetSpentError("Too long."), "budget")],
)
def test_where_none_can_the_report_is_complete_and_says_why(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, error: Exception, lack: str
) -> None:
    in_turn(monkeypatch, Choice(None, "First.", lack="unavailable"), Choice(Broken(error)))
    report = explained(profile, "local")
    assert of_catalogue(report.explanation)
    assert report.explanation.lack == lack
    assert report.explanation.note == f"First. {error}"
    assert report.findings == explained(profile, "none").findings


@pytest.mark.parametrize(("error", "code"), [(ModelUnavailableError("Gone."), 4), (BudgetSpentError("Late."), 5)])
def test_the_exit_code_says_what_was_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    from chathpc.commands.main import main

    in_turn(monkeypatch, Choice(Broken(error)))
    arguments = ["explain", str(DATABASE), "-o", str(tmp_path / "r.txt")]
    assert main([*arguments, "--llm", "local"]) == code
    assert "OpenMP load imbalance" in (tmp_path / "r.txt").read_text()
    assert main(arguments) == 0  # nobody asked for one
    in_turn(monkeypatch, Choice(Broken(error)), Choice(None))
    assert main([*arguments, "--llm", "local,none"]) == 0  # none was allowed


def test_an_answer_in_the_wrong_form_is_asked_for_once_more(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    good = json.dumps(READ)
    answers = iter(["Here you are: {not JSON}", good])
    backend = ScriptedBackend(lambda _request: iter([next(answers)]), form="structured")
    in_turn(monkeypatch, Choice(backend))
    explanation = explained(profile, "local").explanation
    assert explanation.model is not None
    assert explanation.usage is not None
    assert explanation.usage.tries == 2
    first, second = backend.requests
    assert second.user.startswith(first.user)
    assert "it is not one JSON object" in second.user
    assert second.deadline < first.deadline


def test_what_a_hosted_model_has_cost_stands_in_the_last_line(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counted(ScriptedBackend):
        def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
            return replace(super().complete(request), prompt_tokens=2100, completion_tokens=150)

    statements = " ".join(fact.text for fact in narrate(diagnose(profile))[:2])
    in_turn(
        monkeypatch,
        Choice(Counted(lambda _request: iter([statements])), hosted=True, price=Price(input=2.0, output=8.0)),
    )
    report = explained(profile, "openai:m")
    usage = report.explanation.usage
    assert usage is not None
    assert (usage.cost, usage.currency) == (pytest.approx(2100 * 2e-6 + 150 * 8e-6), "USD")
    assert checked(report).endswith("Model: custom (scripted), 2,100 + 150 tokens, 0.00540 USD.")


def test_a_manager_reads_less_and_a_newcomer_more(profile: Profile) -> None:
    manager, expert, newcomer = (
        chathpc.explain(profile, audience=audience).explanation for audience in ("manager", "expert", "newcomer")
    )
    assert len(manager.text) < len(expert.text) < len(newcomer.text)
    assert [one.audience for one in (manager, expert, newcomer)] == ["manager", "expert", "newcomer"]
    finding = chathpc.explain(profile).findings[0]
    entry = cause(finding.cause)
    assert " ".join(entry.why.split()) in newcomer.text
    assert manager.statements[0].text == finding.summary


def test_each_audience_has_a_prompt_of_its_own(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}
    for form in ("prose", "structured"):
        for audience in get_args(Audience):
            made = says(monkeypatch, "nothing", form=form)
            chathpc.explain(profile, llm="local", audience=audience)
            request = made[0].requests[0]
            assert not any(f"{{{part}}}" in request.system for part in ("reader", "scope"))
            asked[form, audience] = request
    assert len({request.system for request in asked.values()}) == 6
    meaning = cause(chathpc.explain(profile).findings[0].cause).meaning
    told = [key for key, request in asked.items() if meaning in request.user]
    assert told[:2] == [("prose", "expert"), ("prose", "newcomer")]  # and all that read: in the list of causes
    assert "stencil_omp.c" not in asked["prose", "manager"].user


def test_the_command_shows_each_statement_with_its_fate(
    monkeypatch: pytest.MonkeyPatch, profile: Profile, capsys: pytest.CaptureFixture[str]
) -> None:
    from click.testing import CliRunner

    from chathpc.commands.explain import command

    says(monkeypatch, f"{narrate(diagnose(profile))[0].text} The loop is memory-bound.")
    result = CliRunner().invoke(command, [str(DATABASE), "--llm", "scripted:anything", "--show-statements", "-q"])
    assert result.exit_code == 0
    told = " ".join(result.stdout.split("\nStatements", 1)[1].split())
    assert "(retold: printed)" in told
    assert "The loop is memory-bound. (retold: most of its words are not the fact's)" in told
