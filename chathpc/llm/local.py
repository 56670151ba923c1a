"""A language model on this machine: a GGUF file in llama.cpp."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import monotonic

from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.llm import engine as engines
from chathpc.llm.backend import MORE_TIME, Completion, Form, OnToken, Request
from chathpc.llm.engine import ContextOverflowError, Engine, EngineOptions, Generation
from chathpc.llm.price import prompt_tokens
from chathpc.profile.text import clean

_CONTEXT_STEP = 1024


class LocalBackend:
    """Completes requests with a local model, which is loaded by the first one and kept.

    Requests from several threads wait for each other: a model has one state. `threads` null means the cores that are free
    when the model is loaded; `context` is a floor, and a longer prompt loads the model again with more, up to what it was
    trained for.
    """

    def __init__(
        self,
        path: Path,
        *,
        model: str | None = None,
        engine: str | None = None,
        context: int = 4096,
        threads: int | None = None,
        gpu_layers: int = 0,
        form: Form = "prose",
        load: Callable[[str, EngineOptions], Engine] = engines.load,
    ) -> None:
        installed = engines.installed_engines()
        if engine is None and not installed:
            raise ModelUnavailableError("There is no engine for local models.", hint=engines.INSTALL_HINT)
        _check_file(path)
        self._engine_name = engine or installed[0]
        self._model = clean(model or path.stem)
        self._form = form
        self._threads = threads
        self._floor = context
        self._options = EngineOptions(path, context, threads or 1, gpu_layers)
        self._load = load
        self._lock = threading.Lock()
        self._engine: Engine | None = None

    @property
    def name(self) -> str:
        """`local:` and the model."""
        return f"local:{self._model}"

    @property
    def label(self) -> str:
        """The model and its engine with version."""
        version = engines.engine_version(self._engine_name)
        return f"{self._model} (local, {engines.ENGINES[self._engine_name]} {version})"

    @property
    def form(self) -> Form:
        """Prose, unless the model has shown more."""
        return self._form

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """Answer `request`; see Backend."""
        started = monotonic()
        until = started + request.deadline
        if not self._lock.acquire(timeout=request.deadline):
            raise BudgetSpentError(f"{self._model} was busy with another request for {request.deadline:g} s.")
        try:
            pieces: list[str] = []

            def emit(piece: str) -> None:
                pieces.append(piece)
                if on_token is not None:
                    on_token(piece)

            generation = self._generate(request, emit, until)
        finally:
            self._lock.release()
        seconds = monotonic() - started
        text = "".join(pieces)
        if generation.finish_reason == "deadline" and not text.strip():
            raise BudgetSpentError(
                f"{self._model} did not answer within {request.deadline:g} s.",
                hint=f"{MORE_TIME}, use a smaller model, or --llm none.",
            )
        return Completion(
            text=text,
            model=self._model,
            prompt_tokens=generation.prompt_tokens,
            completion_tokens=generation.completion_tokens,
            finish_reason=generation.finish_reason,
            seconds=seconds,
            cached_tokens=generation.cached_tokens,
        )

    def _generate(self, request: Request, emit: Callable[[str], None], until: float) -> Generation:
        guess = prompt_tokens(request) + request.max_tokens
        try:
            return self._loaded(guess).generate(request, emit, until)
        except ContextOverflowError as overflow:
            needed = overflow.needed
        try:
            return self._loaded(needed).generate(request, emit, until)
        except ContextOverflowError as overflow:
            raise BudgetSpentError(
                f"The prompt and its answer need {overflow.needed} tokens; {self._model} takes {self._options.context}.",
                hint="Ask for a shorter prompt, or use a model with a larger context.",
            ) from None

    def _loaded(self, tokens: int) -> Engine:
        """The engine, loaded with room for `tokens` if the model can take as many."""
        context = self._options.context
        if tokens > context:
            context = -(-tokens // _CONTEXT_STEP) * _CONTEXT_STEP
        if self._engine is not None:
            context = max(self._options.context, min(context, self._engine.trained_context or context))
            if context == self._options.context:
                return self._engine
            self._close()
        threads = engines.free_cores() if self._threads is None else self._threads
        self._options = replace(self._options, context=context, threads=threads)
        self._engine = self._load(self._engine_name, self._options)
        most = self._engine.trained_context
        if most is not None and self._floor < most < context:
            self._close()
            self._options = replace(self._options, context=most)
            self._engine = self._load(self._engine_name, self._options)
        return self._engine

    def _close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def close(self) -> None:
        """Free the model's memory; the next request loads it again."""
        with self._lock:
            self._close()


def _check_file(path: Path) -> None:
    """Raises ModelUnavailableError unless `path` is a file that begins like a GGUF model."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelUnavailableError(f"{path}: cannot be read: {error.strerror}.") from error
    if magic != b"GGUF":
        raise ModelUnavailableError(f"{path}: not a model in GGUF format.", hint="Get one with: chathpc models pull")
