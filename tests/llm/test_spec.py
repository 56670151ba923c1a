from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.errors import ModelUnavailableError, UsageError
from chathpc.llm import fitness, spec, weights
from chathpc.llm.fitness import Fitness, Reads, Retells
from chathpc.llm.hosted import HostedBackend
from chathpc.llm.local import LocalBackend
from chathpc.llm.price import Price
from chathpc.llm.settings import Settings, load_settings
from chathpc.llm.spec import Spec, choices, find_local, parse, resolve

NOWHERE = Path("/nonexistent/config.yaml")


@pytest.fixture
def installed(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny model in the place of the default one; the file."""
    data = tiny_model.read_bytes()
    default = replace(weights.find_weights(), bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    monkeypatch.setattr(weights, "_manifest", lambda: (default.name, {default.name: default}))
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / default.file).write_bytes(data)
    monkeypatch.setenv("CHATHPC_MODELS", str(folder))
    monkeypatch.setattr(spec, "installed_engines", lambda: ["xllamacpp"])
    monkeypatch.setattr("chathpc.llm.engine.installed_engines", lambda: ["xllamacpp"])
    return folder / default.file


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("none", Spec("none")),
        (" auto ", Spec("auto")),
        ("local", Spec("local")),
        ("local:qwen", Spec("local", "qwen")),
        ("local:/a/b:c.gguf", Spec("local", "/a/b:c.gguf")),
        ("openai:org/model:free", Spec("openai", "org/model:free")),
    ],
)
def test_a_spec_is_parsed(text: str, parsed: Spec) -> None:
    assert parse(text) == parsed
    assert str(parsed) == text.strip()


@pytest.mark.parametrize(
    "text", ["", "gpt", "openai", "openai:", "local:", "none:x", "auto:x", "LOCAL", "scripted:echo", "\x1b"]
)
def test_what_is_no_spec_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(UsageError, match="does not name a language model") as caught:
        parse(text)
    assert "openai:MODEL, replay:FILE" in caught.value.hint
    assert "\x1b" not in str(caught.value)


def test_scripted_models_are_for_tests_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "tests.llm.scripted")
    choice = resolve("scripted:echo", Settings())
    assert choice.backend is not None
    assert choice.backend.name == "scripted:echo"
    with pytest.raises(UsageError, match="no scripted model 'x'"):
        resolve("scripted:x", Settings())


def test_none_is_none_and_needs_no_words() -> None:
    choice = resolve("none", Settings(llm="openai:x"))
    assert (choice.backend, choice.note) == (None, "")


def test_auto_takes_what_is_configured(installed: Path) -> None:
    settings = Settings(llm="openai:gpt", base_url="http://127.0.0.1:1/v1")
    for wanted in ("auto", None):
        assert isinstance(resolve(wanted, settings).backend, HostedBackend)
    assert isinstance(resolve("local", settings.model_copy(update={"models": installed.parent})).backend, LocalBackend)


def test_local_takes_an_installed_model_for_prose(installed: Path) -> None:
    choice = resolve("local", load_settings(site=NOWHERE))
    assert isinstance(choice.backend, LocalBackend)
    assert choice.backend.name == "local:qwen2.5-coder-1.5b"
    assert choice.backend.form == "prose"
    assert choice.note == ""


def test_auto_takes_a_local_model_only_if_it_has_shown_that_it_reads(installed: Path) -> None:
    settings = load_settings(site=NOWHERE)
    choice = resolve("auto", settings)
    assert choice.backend is None
    assert "`chathpc models test qwen2.5-coder-1.5b`" in choice.note
    _remember(resolve("local", settings), structured=False, prose=True)
    choice = resolve("auto", settings)
    assert choice.backend is None
    assert "does not read source" in choice.note
    assert "--llm local:qwen2.5-coder-1.5b" in choice.note
    _remember(resolve("local", settings), structured=True, prose=False)
    backend = resolve("auto", settings).backend
    assert isinstance(backend, LocalBackend)
    assert backend.form == "structured"


def test_auto_takes_the_model_that_reads_best_also_one_that_is_in_no_list(installed: Path) -> None:
    settings = load_settings(site=NOWHERE)
    own = installed.with_name("own.gguf")
    own.write_bytes(installed.read_bytes())
    _remember(resolve("local", settings), structured=True, prose=True)
    _remember(resolve("local:own", settings), structured=True, prose=False, right=25)
    backend = resolve("auto", settings).backend
    assert backend is not None
    assert backend.name == "local:own"


def test_auto_takes_no_hosted_model_because_there_is_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0000000000")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://llm.example/v1")
    choice = resolve("auto", load_settings(site=NOWHERE))
    assert choice.backend is None
    assert choice.note == "no model: none is here that reads source; `chathpc models list` shows some"


def test_auto_without_an_engine_says_how_to_get_one(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(site=NOWHERE)
    _remember(resolve("local", settings), structured=True, prose=True)
    monkeypatch.setattr(spec, "installed_engines", list)
    choice = resolve("auto", settings)
    assert choice.backend is None
    assert "no engine" in choice.note
    assert "local-wheel" in choice.note


def _remember(
    choice: spec.Choice, *, structured: bool, prose: bool, read_speed: float | None = None, right: int = 20
) -> None:
    reads, retells = Reads(right if structured else 5, 25, 0, 25), Retells(5 if prose else 0, 5)
    assert fitness.remember(choice.identity, Fitness("m", 20.0, 1.0, read_speed, 60.0, reads, retells)) is not None


def test_a_prompt_is_as_long_as_the_model_has_shown_to_read_in_time(installed: Path) -> None:
    settings = load_settings(site=NOWHERE)
    assert resolve("local", settings).prompt_tokens is None
    _remember(resolve("local", settings), structured=True, prose=True, read_speed=150.0)
    assert resolve("local", settings).prompt_tokens == 4500  # 30 s × 150 tokens/s


def test_a_model_is_asked_in_the_form_that_it_has_shown_to_keep(installed: Path) -> None:
    settings = load_settings(site=NOWHERE)
    _remember(resolve("local", settings), structured=True, prose=True)
    backend = resolve("local", settings).backend
    assert backend is not None
    assert backend.form == "structured"
    backend = resolve("local", settings.model_copy(update={"form": "prose"})).backend
    assert backend is not None
    assert backend.form == "prose"


def test_a_model_that_failed_its_test_is_taken_if_asked_for_but_not_by_auto(installed: Path) -> None:
    settings = load_settings(site=NOWHERE)
    _remember(resolve("local", settings), structured=False, prose=False)
    choice = resolve("local", settings)
    assert choice.backend is not None
    assert "failed `chathpc models test`" in choice.note
    choice = resolve("auto", settings)
    assert choice.backend is None
    assert "does not read source" in choice.note


def test_a_hosted_model_that_keeps_no_schema_is_asked_for_prose() -> None:
    settings = Settings(base_url="http://127.0.0.1:1/v1")
    _remember(resolve("openai:m", settings), structured=False, prose=True)
    backend = resolve("openai:m", settings).backend
    assert backend is not None
    assert backend.form == "prose"
    other = resolve("openai:m", settings.model_copy(update={"base_url": "http://127.0.0.1:2/v1"})).backend
    assert other is not None
    assert other.form == "structured"


@pytest.mark.parametrize(
    ("wanted", "message", "hint"),
    [
        ("local", "No local model is installed", "chathpc models pull"),
        ("local:qwen2.5-coder-0.5b", "is not installed", "chathpc models pull qwen2.5-coder-0.5b"),
        ("local:unknown", "no local model 'unknown'", "qwen2.5-coder-1.5b"),
        ("local:./missing.gguf", "no such file", "chathpc models pull"),
        ("openai:gpt", "needs a key", "OPENAI_API_KEY"),
    ],
)
def test_a_model_that_was_asked_for_and_is_not_there_ends_in_exit_code_4(wanted: str, message: str, hint: str) -> None:
    with pytest.raises(ModelUnavailableError, match=message) as caught:
        resolve(wanted, load_settings(site=NOWHERE))
    assert hint in caught.value.hint
    assert caught.value.exit_code == 4


def test_local_models_are_found_by_name_path_and_file_name(installed: Path) -> None:
    settings = load_settings(site=NOWHERE)
    assert find_local("qwen2.5-coder-1.5b", settings) == ("qwen2.5-coder-1.5b", installed)
    assert find_local(str(installed), settings)[1] == installed
    own = installed.with_name("own.gguf")
    own.write_bytes(installed.read_bytes())
    assert find_local("own", settings) == ("own", own)
    assert isinstance(resolve("local:own", settings).backend, LocalBackend)


def test_where_a_site_forbids_hosted_models_only_this_machine_is_left() -> None:
    forbidden = Settings(
        base_url="https://llm.example/v1", hosted=False, origins={"hosted": "/etc/chathpc/config.yaml, hosted"}
    )
    with pytest.raises(UsageError, match=r"forbidden \(/etc/chathpc/config\.yaml, hosted\)"):
        resolve("openai:gpt", forbidden)
    assert resolve("openai:gpt", forbidden.model_copy(update={"base_url": "http://localhost:1/v1"})).backend is not None


def test_a_file_that_vanishes_has_an_identity_of_its_own() -> None:
    assert spec.file_identity(Path("/nonexistent/m.gguf")) == "local m.gguf 0"
    assert os.environ.get("OPENAI_API_KEY") is None


def test_alternatives_are_tried_in_turn_and_none_is_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "tests.llm.scripted")
    found = list(choices("local:missing, scripted:echo,none,scripted:liar", Settings(models=NOWHERE)))
    assert [one.backend.name if one.backend else None for one in found] == [None, "scripted:echo", None]
    assert [one.lack for one in found] == ["unavailable", None, None]
    assert "missing" in found[0].note


def test_alternatives_are_looked_up_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "tests.llm.scripted")
    assert next(choices("scripted:echo,scripted:unknown", Settings())).backend is not None


def test_a_list_with_a_word_that_is_no_model_is_refused_before_any_is_asked() -> None:
    with pytest.raises(UsageError, match="'gpt' does not name"):
        next(choices("none,gpt", Settings()))
    with pytest.raises(UsageError, match="too many"):
        next(choices(",".join(["none"] * 9), Settings()))


def test_a_list_is_configured_like_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "tests.llm.scripted")
    found = list(choices("auto", Settings(llm="scripted:liar,none")))
    assert [one.backend.name if one.backend else None for one in found] == ["scripted:liar", None]


def test_a_models_price_and_place_are_part_of_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    elsewhere = resolve(
        "openai:m", Settings(base_url="https://models.example.org/v1", prices={"m": Price(input=1.0, output=2.0)})
    )
    assert (elsewhere.hosted, elsewhere.price) == (True, Price(input=1.0, output=2.0))
    here = resolve("openai:n", Settings(base_url="http://127.0.0.1:1/v1", prices={"m": Price(input=1.0, output=2.0)}))
    assert (here.hosted, here.price) == (True, None)  # behind a local port there may be a tunnel, to what costs money
