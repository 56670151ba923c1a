"""The engine of llama-cpp-python, through its class Llama."""

from __future__ import annotations

import ctypes
import queue
import re
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any

import llama_cpp

from chathpc.errors import ModelUnavailableError
from chathpc.llm.backend import FinishReason, Request
from chathpc.llm.engine import BATCH, ContextOverflowError, EngineOptions, Generation
from chathpc.profile.text import clean

#: What llama.cpp said last: nothing is printed, but an error message can quote it.
_LOG: deque[str] = deque(maxlen=8)
_ERROR_LEVEL = 4  # GGML_LOG_LEVEL_ERROR in ggml.h


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _keep(level: int, text: bytes, _data: ctypes.c_void_p) -> None:
    if level >= _ERROR_LEVEL:
        _LOG.append(clean(text.decode("utf-8", "replace").strip()))


_TOO_LONG = re.compile(r"Requested tokens \((\d+)\) exceed")


def load(options: EngineOptions) -> LlamaCppEngine:
    """Load a model; raises ModelUnavailableError if llama.cpp cannot read the file."""
    return LlamaCppEngine(options)


@dataclass(slots=True)
class _Turn:
    """One answer: when it must end, and whether it was given up."""

    until: float
    aborted: bool = False


class LlamaCppEngine:
    """A model in llama-cpp-python. Its last prompt stays in memory, and what the next one begins with is not read again."""

    def __init__(self, options: EngineOptions) -> None:
        llama_cpp.llama_log_set(_keep, ctypes.c_void_p(0))
        _LOG.clear()
        try:
            self._llama = llama_cpp.Llama(
                str(options.path),
                n_ctx=options.context,
                n_threads=options.threads,
                n_threads_batch=options.threads,
                n_batch=BATCH,
                n_ubatch=BATCH,
                n_gpu_layers=options.gpu_layers,
                verbose=False,
            )
        except (ValueError, RuntimeError) as error:
            reason = _LOG[0] if _LOG else str(error)
            raise ModelUnavailableError(
                f"{options.path}: llama.cpp cannot load this model: {reason}.",
                hint="The file may be damaged, or newer than the engine.",
            ) from error
        # Llama tells in its log alone how much of a prompt it still knows: what it reads anew passes here.
        self._read: list[int] = []
        read = self._llama.eval

        def counted(tokens: list[int]) -> None:
            self._read.append(len(tokens))
            read(tokens)

        self._llama.eval = counted
        # One thread for all answers: after an interrupt at an unlucky moment (while a thread is started) two would compute at once.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="chathpc-llm")
        self._worker.submit(int).result()
        self._turn = _Turn(0.0)
        # llama.cpp asks this between the operations of a batch; without it, a long prompt could not be given up.
        self._abort = llama_cpp.ggml_abort_callback(self._is_over)
        llama_cpp.llama_set_abort_callback(self._llama.ctx, self._abort, None)

    @property
    def trained_context(self) -> int | None:
        """Tokens that the model was trained for, where it says so."""
        facts = self._llama.metadata
        value = facts.get(f"{facts.get('general.architecture')}.context_length", "")
        return int(value) if value.isdigit() else None

    def _is_over(self, _data: ctypes.c_void_p) -> bool:
        turn = self._turn
        turn.aborted = turn.aborted or monotonic() > turn.until
        return turn.aborted

    def generate(self, request: Request, emit: Callable[[str], None], until: float) -> Generation:
        """Generate an answer; see Engine.

        llama.cpp runs in a thread, so that signals reach Python while it computes: an exception that a signal handler
        raises below C code would be lost.
        """
        turn = _Turn(until)
        pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        try:
            result = self._worker.submit(self._generate, turn, request, pieces)
            while (piece := pieces.get()) is not None:
                emit(piece)
        except BaseException:
            turn.aborted = True
            self._worker.submit(int).result()  # when llama.cpp has noticed
            raise
        return result.result()

    def _generate(self, turn: _Turn, request: Request, pieces: queue.SimpleQueue[str | None]) -> Generation:
        self._turn = turn
        lengths: list[int] = []
        self._read.clear()

        def count(tokens: Any, scores: Any) -> Any:
            lengths.append(len(tokens))
            return scores

        finish: FinishReason = "stop"
        try:
            stream = self._llama.create_chat_completion(
                request.messages(),
                max_tokens=request.max_tokens,
                temperature=request.temperature,
                seed=request.seed,
                stream=True,
                response_format=_response_format(request),
                logits_processor=llama_cpp.LogitsProcessorList([count]),
            )
            for chunk in stream:
                choice = chunk["choices"][0]
                piece = choice["delta"].get("content")
                if piece:
                    pieces.put(piece)
                if choice["finish_reason"] is not None:
                    finish = "length" if choice["finish_reason"] == "length" else "stop"
        except ValueError as error:
            too_long = _TOO_LONG.search(str(error))
            if too_long is None:
                raise ModelUnavailableError(f"llama.cpp refuses the request: {error}.") from error
            raise ContextOverflowError(int(too_long[1]) + request.max_tokens) from None
        except RuntimeError as error:
            self._llama.reset()
            if not turn.aborted:
                raise ModelUnavailableError(f"llama.cpp failed: {_LOG[-1] if _LOG else error}.") from error
            finish = "deadline"
        finally:
            pieces.put(None)
        return Generation(
            prompt_tokens=lengths[0] if lengths else None,
            completion_tokens=len(lengths),
            finish_reason=finish,
            cached_tokens=lengths[0] - self._read[0] if lengths else None,
        )

    def close(self) -> None:
        """Free the model's memory."""
        self._worker.shutdown()
        self._llama.close()


def _response_format(request: Request) -> dict[str, object] | None:
    if request.json_schema is None:
        return None
    return {"type": "json_object", "schema": dict(request.json_schema)}
