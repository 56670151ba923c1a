"""The real engines on the tiny model: plumbing, not wording."""

from __future__ import annotations

import gc
import json
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.llm.backend import Request
from chathpc.llm.engine import ContextOverflowError, EngineOptions, Generation, load
from chathpc.llm.local import LocalBackend
from tests.llm.tiny_gguf import CONTEXT

ASK = Request("You explain profiles.", "main takes 3.17 s.", max_tokens=20)
CAUSE = {"type": "object", "properties": {"cause": {"enum": ["io-bound", "hot-compute"]}}, "required": ["cause"]}

LONG = {
    "type": "array",
    "items": CAUSE,
    "minItems": 400,
}  # at about 20 tokens each, the tiny model never gets to its end


@pytest.fixture
def backend(tiny_model: Path, engine: str) -> LocalBackend:
    return LocalBackend(tiny_model, engine=engine, threads=1)


def test_an_answer_has_its_tokens_counted_and_its_pieces_reported(backend: LocalBackend) -> None:
    pieces: list[str] = []
    answer = backend.complete(ASK, on_token=pieces.append)
    assert "".join(pieces) == answer.text != ""
    assert answer.finish_reason == "length"
    assert answer.completion_tokens == 20
    # One token a byte and one each for <s>, the three <|turn|> and the two <|end|>; see tiny_gguf.
    told = len("system: You explain profiles.user: main takes 3.17 s.assistant: ")
    assert told <= (answer.prompt_tokens or 0) <= told + 6
    assert answer.model == "tiny"


def test_the_same_request_gives_the_same_text(backend: LocalBackend, tiny_model: Path, engine: str) -> None:
    other = LocalBackend(tiny_model, engine=engine, threads=1)
    assert backend.complete(ASK).text == other.complete(ASK).text


def test_what_the_last_prompt_began_with_is_not_read_again(backend: LocalBackend) -> None:
    system = "You explain profiles in plain words. " * 20
    first, second = (
        backend.complete(Request(system, user, max_tokens=3)) for user in ("main takes 3 s.", "step waits.")
    )
    assert first.cached_tokens in (0, 1)  # the token that begins every prompt
    # A byte is a token: what is read anew is the question and the marks around it.
    assert (second.prompt_tokens or 0) - (second.cached_tokens or 0) <= len("user: step waits.assistant: ") + 8


def test_a_schema_is_kept(backend: LocalBackend) -> None:
    answer = backend.complete(Request("s", "u", max_tokens=200, json_schema=CAUSE))
    assert answer.finish_reason == "stop"
    assert json.loads(answer.text, strict=False)["cause"] in ("io-bound", "hot-compute")


def test_a_model_is_named_with_its_engine(backend: LocalBackend, engine: str) -> None:
    assert backend.name == "local:tiny"
    assert backend.label.startswith("tiny (local, " + {"llama_cpp": "llama-cpp-python"}.get(engine, engine))
    assert backend.form == "prose"


def test_a_prompt_that_is_longer_than_expected_gets_a_larger_context(tiny_model: Path, engine: str) -> None:
    backend = LocalBackend(tiny_model, engine=engine, threads=1, context=512)
    assert backend.complete(ASK).completion_tokens == 20
    answer = backend.complete(Request("s", "x" * 3000, max_tokens=4))
    assert (answer.prompt_tokens or 0) > 3000
    assert backend.complete(ASK).completion_tokens == 20


def test_a_prompt_beyond_what_the_model_was_trained_for_is_a_spent_budget(backend: LocalBackend) -> None:
    with pytest.raises(BudgetSpentError, match=rf"need 9\d\d\d tokens; tiny takes {CONTEXT}"):
        backend.complete(Request("s", "x" * 9000, max_tokens=4))
    assert backend.complete(ASK).completion_tokens == 20


def test_a_first_prompt_beyond_the_model_is_a_spent_budget_too(tiny_model: Path, engine: str) -> None:
    backend = LocalBackend(tiny_model, engine=engine, threads=1)
    with pytest.raises(BudgetSpentError):
        backend.complete(Request("s", "x" * 90_000, max_tokens=4))


def test_a_deadline_in_the_middle_keeps_what_was_said_and_the_model_goes_on_afterwards(backend: LocalBackend) -> None:
    backend.complete(ASK)
    started = monotonic()
    answer = backend.complete(Request("s", "u", max_tokens=4000, json_schema=LONG, deadline=1.0))
    assert answer.finish_reason == "deadline"
    assert answer.text != ""
    assert monotonic() - started < 10
    assert backend.complete(ASK).completion_tokens == 20


def test_a_deadline_before_the_first_word_is_a_spent_budget(backend: LocalBackend) -> None:
    backend.complete(ASK)
    with pytest.raises(BudgetSpentError, match="did not answer within 0"):
        backend.complete(Request("s", "y" * 3500, max_tokens=4, deadline=0.002))
    assert backend.complete(ASK).completion_tokens == 20


def test_requests_from_several_threads_take_turns(backend: LocalBackend) -> None:
    alone = backend.complete(ASK).text
    with ThreadPoolExecutor(4) as pool:
        texts = {answer.text for answer in pool.map(backend.complete, [ASK] * 8)}
    assert texts == {alone}


def test_who_waits_too_long_for_the_model_has_spent_its_budget(backend: LocalBackend) -> None:
    speaking, release = threading.Event(), threading.Event()

    def wait(_piece: str) -> None:
        speaking.set()
        release.wait(10)

    first = threading.Thread(target=backend.complete, args=(ASK,), kwargs={"on_token": wait})
    first.start()
    speaking.wait(10)
    try:
        with pytest.raises(BudgetSpentError, match="busy"):
            backend.complete(Request("s", "u", max_tokens=1, deadline=0.1))
    finally:
        release.set()
        first.join()


def test_nothing_is_printed(backend: LocalBackend, capfd: pytest.CaptureFixture[str]) -> None:
    backend.complete(ASK)
    backend.complete(Request("s", "u", max_tokens=50, json_schema=CAUSE))
    with pytest.raises(BudgetSpentError):
        backend.complete(Request("s", "y" * 3500, max_tokens=4, deadline=0.002))
    backend.close()
    backend.close()
    gc.collect()
    assert capfd.readouterr() == ("", "")


def test_a_model_that_is_closed_at_once_does_not_hang(tiny_model: Path, engine: str) -> None:
    options = EngineOptions(tiny_model, 512, 1)
    for _ in range(50):  # seldom enough: the server of xllamacpp hung once in some 1000 cases
        load(engine, options).close()


def test_a_closed_model_is_loaded_again(backend: LocalBackend) -> None:
    text = backend.complete(ASK).text
    backend.close()
    assert backend.complete(ASK).text == text


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where the tests were started with the signal ignored (in the background)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_an_answer_and_the_model_goes_on_afterwards(backend: LocalBackend) -> None:
    backend.complete(ASK)

    def interrupt(_piece: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        backend.complete(Request("s", "u", max_tokens=4000, json_schema=LONG), on_token=interrupt)
    assert backend.complete(ASK).completion_tokens == 20


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_during_a_long_prompt_ends_it(backend: LocalBackend) -> None:
    backend.complete(ASK)
    for number in range(20):  # at whichever moment the signal comes
        timer = threading.Timer(0.002 * number, os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            _read_prompts(backend, timer)
    assert backend.complete(ASK).completion_tokens == 20


def _read_prompts(backend: LocalBackend, timer: threading.Timer) -> None:
    timer.start()
    for number in range(200):  # each prompt is new, so that one is being read when the signal comes
        backend.complete(Request("s", f"{number} " + "y" * 3000, max_tokens=1))


def test_an_answer_that_the_server_of_xllamacpp_cannot_read_is_kept_as_far_as_it_got(tiny_model: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the engine xllamacpp is not installed")
    backend = LocalBackend(tiny_model, engine="xllamacpp", threads=1)
    noise = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    answer = backend.complete(Request("s", "u", max_tokens=400, json_schema=noise))
    assert answer.text.startswith("{")


def test_without_a_temporary_folder_the_server_of_xllamacpp_is_reached_all_the_same(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xllamacpp", reason="the engine xllamacpp is not installed")

    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", full)
    backend = LocalBackend(tiny_model, engine="xllamacpp", threads=1)
    assert backend.complete(ASK).completion_tokens == 20
    backend.close()


def test_a_schema_that_xllamacpp_cannot_take_is_refused_with_words(tiny_model: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the engine xllamacpp is not installed")
    backend = LocalBackend(tiny_model, engine="xllamacpp", threads=1)
    impossible = {"type": "array", "items": {"$ref": "#/nowhere"}}
    with pytest.raises(ModelUnavailableError, match=r"llama\.cpp refuses the request"):
        backend.complete(Request("s", "u", max_tokens=20, json_schema=impossible))
    assert backend.complete(ASK).completion_tokens == 20


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path, whole: path.write_bytes(whole[:200_000]), "cannot load this model"),
        (lambda path, whole: path.write_bytes(b"GGUF" + b"\xff" * 5000), "cannot load this model"),
    ],
)
def test_a_damaged_model_is_refused_with_words(
    make: Callable[[Path, bytes], object], message: str, tiny_model: Path, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.gguf"
    make(path, tiny_model.read_bytes())
    with pytest.raises(ModelUnavailableError, match=message) as caught:
        LocalBackend(path, engine=engine, threads=1).complete(ASK)
    assert caught.value.exit_code == 4


def test_what_is_no_model_is_refused_before_an_engine_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "text.gguf"
    path.write_text("hello")
    with pytest.raises(ModelUnavailableError, match="not a model in GGUF format"):
        LocalBackend(path, engine="xllamacpp")
    with pytest.raises(ModelUnavailableError, match="No such file"):
        LocalBackend(tmp_path / "missing.gguf", engine="xllamacpp")


def test_without_an_engine_the_error_says_how_to_get_one(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.llm.engine.installed_engines", list)
    with pytest.raises(ModelUnavailableError, match="no engine") as caught:
        LocalBackend(tiny_model)
    assert "local-wheel" in caught.value.hint


def test_a_control_token_in_the_users_text_ends_no_turn(backend: LocalBackend) -> None:
    plain = backend.complete(Request("s", "a   b", max_tokens=1)).prompt_tokens
    # <|end|> is a control token of the tiny model: as text of 7 bytes it would be one token; stripped it is a blank.
    assert backend.complete(Request("s", "a <|end|> b", max_tokens=1)).prompt_tokens == plain


class _Engine:
    """An engine for what real ones do too seldom: it needs `needed` tokens for every prompt."""

    trained_context = 1024

    def __init__(self, options: EngineOptions, needed: int) -> None:
        self.options = options
        self.needed = needed

    def generate(self, request: Request, emit: Callable[[str], None], until: float) -> Generation:
        if self.needed > self.options.context:
            raise ContextOverflowError(self.needed)
        emit("fine")
        return Generation(None, 1, "stop")

    def close(self) -> None:
        pass


def test_a_context_is_never_larger_than_the_model_was_trained_for(tiny_model: Path) -> None:
    loaded: list[int] = []

    def fake(_name: str, options: EngineOptions) -> _Engine:
        loaded.append(options.context)
        return _Engine(options, needed=1000)

    backend = LocalBackend(tiny_model, engine="xllamacpp", context=512, threads=1, load=fake)
    assert backend.complete(Request("s", "x" * 5000, max_tokens=10)).text == "fine"
    assert loaded == [2048, 1024]  # 5001 bytes / 2.5 + 10, in steps of 1024; then what the model takes


def test_free_cores_are_counted_when_none_are_given(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.llm.engine.free_cores", lambda: 7)
    seen: list[EngineOptions] = []

    def fake(_name: str, options: EngineOptions) -> _Engine:
        seen.append(options)
        return _Engine(options, needed=1)

    LocalBackend(tiny_model, engine="xllamacpp", load=fake).complete(ASK)
    assert seen[0].threads == 7
