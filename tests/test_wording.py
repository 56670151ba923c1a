"""The model stage: what a model says reaches the report only as far as the evidence supports it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import chathpc
from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Verdict
from chathpc.errors import BudgetSpentError, ModelUnavailableError, UsageError
from chathpc.llm.backend import Completion, OnToken, Request
from chathpc.llm.price import Price
from chathpc.llm.scripted import Script, ScriptedBackend
from chathpc.llm.settings import Settings
from chathpc.llm.spec import Choice
from chathpc.profile.profile import Profile
from chathpc.prompts.loader import AUDIENCES
from chathpc.report import ExplanationRecord, Report
from chathpc.reports import renderers
from chathpc.reports.style import Style
from chathpc.reports.wording import author, checked, judged
from chathpc.wording import explain_in_words, from_catalogue

DATABASE = Path(__file__).parents[1] / "examples" / "omp-triangle" / "database"


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings, weights or keys of the machine that the tests run on."""
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "1")
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
    return explanation.model is None and all(one.status == "catalogue" for one in explanation.sentences)


def test_without_a_model_the_words_are_the_catalogues_and_nothing_is_noted(profile: Profile) -> None:
    explanation = explained(profile, "none").explanation
    assert of_catalogue(explanation)
    assert explanation.note is None
    assert explanation.claims.checked == 0


def test_what_a_model_copies_from_the_evidence_is_kept_with_its_ids(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = {item.id: item.statement for item in diagnose(profile).evidence}
    says(monkeypatch, f"{statements['E1']} {statements['E2']}")
    explanation = explained(profile, "local").explanation
    assert explanation.model is not None
    assert [one.status for one in explanation.sentences] == ["supported", "supported", *["catalogue"] * 3]
    assert [one.evidence for one in explanation.sentences[:2]] == [["E1"], ["E2"]]
    assert explanation.claims.struck == 0


def test_the_gain_and_what_to_do_are_told_also_where_a_model_does_not(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = {item.id: item.statement for item in diagnose(profile).evidence}
    first = diagnose(profile).findings[0]
    says(monkeypatch, f"{statements['E1']} {statements['E2']}")
    report = explained(profile, "local")
    gain, advice, beside = (one.text for one in report.explanation.sentences[2:])
    assert gain == "Without this problem, the run could be at most 1.94x as fast."
    assert first.advice[0][1:] in advice
    assert beside.startswith("Beside that: all threads spend much of their time at barriers")
    assert report.explanation.text.endswith(f"{gain} {advice} {beside}")
    assert "the catalogue's" in author(report)


def test_what_is_wrong_and_where_comes_first_where_a_model_leaves_out_the_place(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    diagnosis = diagnose(profile)
    first = diagnosis.findings[0]
    name = first.where.function
    assert name
    assert name in first.summary
    statements = {item.id: item.statement for item in diagnosis.evidence if name not in item.statement}
    true = next(iter(statements.values()))
    says(monkeypatch, true)
    told = explained(profile, "local").explanation
    assert told.sentences[0].text == first.summary
    assert told.sentences[0].status == "catalogue"
    assert told.text.startswith(f"{first.summary} ")
    says(monkeypatch, f"{first.summary} {true}")
    told = explained(profile, "local").explanation
    assert told.text.count(first.summary) == 1
    assert told.sentences[0].status == "supported"


def test_causes_whose_facts_a_model_cites_are_not_told_again(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    diagnosis = diagnose(profile)
    second = diagnosis.findings[1]
    statements = {item.id: item.statement for item in diagnosis.evidence}
    says(monkeypatch, " ".join(statements[one] for one in (*diagnosis.findings[0].evidence, *second.evidence)))
    told = explained(profile, "local").explanation
    assert [one.text.split(":")[0] for one in told.sentences if one.status == "catalogue"] == [
        "Without this problem, the run could be at most 1.94x as fast.",
        "What to do first",
    ]


def test_a_false_sentence_among_true_ones_is_struck_and_counted(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = {item.id: item.statement for item in diagnose(profile).evidence}
    lie = "The GPU copies 812 GB over the bus in 99.7 s."
    says(monkeypatch, f"{statements['E1']} {lie} {statements['E2']}")
    explanation = explained(profile, "local").explanation
    assert lie not in explanation.text
    assert [one.status for one in explanation.sentences][:3] == ["supported", "struck", "supported"]
    assert explanation.claims.struck > 0


@pytest.mark.parametrize("script", ["liar", "puppet", "silent", "endless"])
def test_a_model_that_says_nothing_true_leaves_the_words_to_the_catalogue(profile: Profile, script: str) -> None:
    report = explained(profile, f"scripted:{script}")
    assert of_catalogue(report.explanation)
    assert report.explanation.note
    for falsehood in ("123456", "4711", "42 times", "MPI_Allreduce"):
        assert falsehood not in report.explanation.text


def test_what_a_model_said_is_kept_where_the_catalogue_speaks_instead(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    lie = "The GPU copies 812 GB over the bus in 99.7 s."
    says(monkeypatch, f"{lie} The run is limited by the network.")
    report = explained(profile, "local")
    assert of_catalogue(report.explanation)
    first = report.explanation.refused[0]
    assert (first.text, first.status) == (lie, "struck")
    assert lie not in report.explanation.text
    assert any(one.text == lie for one in judged(report))
    assert explained(profile, "none").explanation.refused == []


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
    assert [each.text for each in report.explanation.statements if each.dropped_because is None] == [
        "Threads wait 4.36 s in the OpenMP runtime."
    ]
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
    assert "chathpc models pull" in (explanation.note or "")


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
    explanation = from_catalogue(diagnose(profile))
    known = {item.id for item in diagnose(profile).evidence}
    used = {one for sentence in explanation.sentences for one in sentence.evidence}
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
    statements = [item.statement for item in diagnose(profile).evidence[:2]]
    return ScriptedBackend(lambda _request: iter([" ".join(statements)]))


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

    statements = " ".join(item.statement for item in diagnose(profile).evidence[:2])
    in_turn(monkeypatch, Choice(Counted(lambda _request: iter([statements])), hosted=True, price=Price(2.0, 8.0)))
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
    assert manager.sentences[0].text == finding.summary


def test_each_audience_has_a_prompt_of_its_own(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}
    for form in ("prose", "structured"):
        for audience in AUDIENCES:
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


def test_the_words_come_in_another_language_if_numbers_and_names_stay(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = [item.statement for item in diagnose(profile).evidence[:2]]

    def script(request: Request) -> Iterator[str]:
        if "Translate into German" not in request.user:
            yield " ".join(statements)
            return
        first, second, *_ = [line.partition(". ")[2] for line in request.user.splitlines() if line[:1].isdigit()]
        yield f"1. {first.replace('Waiting', 'Warten')}\n2. {second.replace('1.47', '1.48')}"

    in_turn(monkeypatch, Choice(ScriptedBackend(script)))
    report = chathpc.explain(profile, llm="local", language="German")
    first, second, *lacking = report.explanation.sentences
    assert {one.status for one in lacking} == {"catalogue"}
    assert "Warten" in (first.translation or "")
    assert second.translation is None
    assert report.explanation.language == "de"
    assert "4 of 5 sentences stay in English" in (report.explanation.note or "")
    text = " ".join(renderers()["text"](report, Style(width=100)).split())
    assert "Warten in the OpenMP runtime takes 4.36 s" in text
    assert "translated by a language model; numbers and names were compared" in text
    assert second.shown == second.text


def test_without_a_model_the_words_stay_in_english_and_the_note_says_so(profile: Profile) -> None:
    explanation = chathpc.explain(profile, language="de").explanation
    assert all(one.translation is None for one in explanation.sentences)
    with pytest.raises(UsageError, match="is not known"):
        chathpc.explain(profile, language="xx")


def test_the_claims_of_a_models_sentences_are_in_the_report(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    first = profile.table("function").iloc[0]
    says(
        monkeypatch,
        f"{diagnose(profile).evidence[0].statement} {first['name']} takes {first['exclusive']:.4g} s. It is big.",
    )
    told = explained(profile, "scripted:anything").explanation.sentences
    sentences = [sentence for sentence in told if sentence.status != "catalogue"]
    assert [sentence.status for sentence in sentences[:2]] == ["supported", "supported"]
    assert all(claim.evidence == ["E1"] for claim in sentences[0].claims)
    assert {claim.query for claim in sentences[1].claims if claim.kind == "number"} <= {"evidence", "time of"}
    assert sentences[2].status == "struck"
    assert sentences[2].reason


def test_the_command_shows_the_claims(
    monkeypatch: pytest.MonkeyPatch, profile: Profile, capsys: pytest.CaptureFixture[str]
) -> None:
    from click.testing import CliRunner

    from chathpc.commands.explain import command

    evidence = diagnose(profile).evidence
    says(monkeypatch, f"{evidence[0].statement} {evidence[1].statement} The loop is memory-bound.")
    result = CliRunner().invoke(command, [str(DATABASE), "--llm", "scripted:anything", "--show-claims", "-q"])
    assert result.exit_code == 0
    claims = result.stdout.split("\nClaims", 1)[1]
    assert "supported by E1" in claims
    assert "(struck: cause)" in claims


def test_the_profile_answers_for_the_time_of_functions_by_name(profile: Profile) -> None:
    from chathpc.profile_queries import ProfileQueries

    table = profile.table("function")
    answers = ProfileQueries(profile)
    unique = table[~table["name"].duplicated(keep=False)]
    for name, exclusive, inclusive in zip(unique["name"], unique["exclusive"], unique["inclusive"], strict=True):
        found = answers.time_of(name)
        if found is not None:
            assert (found.exclusive, found.inclusive) == (exclusive, inclusive)
            assert found.total == pytest.approx(profile.total("cpu.time"))
    assert answers.time_of("triangular_work") is not None or answers.time_of(unique["name"].iloc[0]) is not None
    assert answers.time_of("no_such_function") is None


def test_a_profile_without_times_answers_nothing() -> None:
    from chathpc.profile_queries import ProfileQueries

    class Timeless:
        def table(self, by: str) -> None:
            raise UsageError(f"no time by {by}")

    assert ProfileQueries(Timeless()).time_of("main") is None  # type: ignore[arg-type]
