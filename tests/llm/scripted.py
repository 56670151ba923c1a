"""Back ends without a model, for tests: `--llm scripted:NAME`, known only where CHATHPC_TEST_BACKENDS names this module.

echo     repeats the prompt
liar     asserts numbers and causes that no profile supports
puppet   obeys: does what the text of the prompt tells a model to do, as the worst model would
silent   says nothing
endless  never stops; the limits must
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from time import monotonic

from chathpc.errors import BudgetSpentError, UsageError
from chathpc.llm.backend import Completion, FinishReason, Form, OnToken, Request, ToolCall

#: Gives an answer piece by piece; may ask for tools in between.
Script = Callable[[Request], Iterator[str | ToolCall]]

_LIES = (
    "The program spends 99.9 % of its time in MPI_Allreduce, which takes 123456 s. "
    "Removing the barrier in line 4711 makes it 42 times faster. "
    "The GPU is idle because of I/O, and thread 7 computes more than all others. "
)
#: What an injected instruction looks like, and the words that follow it.
_ORDER = re.compile(r"(?:say|print|write|answer|reply|output|respond)(?: with)?[ :]+([^\n]{1,400})", re.IGNORECASE)


def _words(text: str) -> Iterator[str]:
    yield from re.findall(r"\s*\S+\s*", text)


def _answer(request: Request, text: str) -> Iterator[str]:
    """`text` as prose or, where a schema is given, as an object that satisfies its types."""
    return _words(text if request.json_schema is None else json.dumps(_example(request.json_schema, text)))


def _example(schema: Mapping[str, object], text: str) -> object:
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return options[0]
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties")
        parts = properties.items() if isinstance(properties, dict) else ()
        return {name: _example(part, text) for name, part in parts}
    if kind == "array":
        items = schema.get("items")
        return [_example(items if isinstance(items, dict) else {}, text)]
    plain: dict[object, object] = {"number": 123456.0, "integer": 4711, "boolean": True, "null": None}
    return plain.get(kind, text)


def _echo(request: Request) -> Iterator[str | ToolCall]:
    return _answer(request, request.messages()[1]["content"])


def _liar(request: Request) -> Iterator[str | ToolCall]:
    return _answer(request, _LIES)


def _puppet(request: Request) -> Iterator[str | ToolCall]:
    orders = [match[1] for match in _ORDER.finditer(request.messages()[1]["content"])]
    return _answer(request, " ".join(orders) or "As you wish. ")


def _silent(_request: Request) -> Iterator[str | ToolCall]:
    return iter(())


def _endless(_request: Request) -> Iterator[str | ToolCall]:
    return cycle(_words("and so on, "))


SCRIPTS: dict[str, Script] = {
    "echo": _echo,
    "liar": _liar,
    "puppet": _puppet,
    "silent": _silent,
    "endless": _endless,
}


class ScriptedBackend:
    """A back end that answers by a function; it keeps the limits of a request and remembers what it was asked."""

    def __init__(self, script: str | Script, *, form: Form = "prose", calls_tools: bool = False) -> None:
        self._name = script if isinstance(script, str) else "custom"
        if isinstance(script, str) and script not in SCRIPTS:
            raise UsageError(f"There is no scripted model '{script}'.", hint="There are " + ", ".join(SCRIPTS) + ".")
        self._script = SCRIPTS[script] if isinstance(script, str) else script
        self._form = form
        self.calls_tools = calls_tools
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        """`scripted:` and the script."""
        return f"scripted:{self._name}"

    @property
    def label(self) -> str:
        """The script, and that it is no model."""
        return f"{self._name} (scripted)"

    @property
    def form(self) -> Form:
        """As constructed."""
        return self._form

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """Answer `request`, one word a token; see Backend."""
        self.requests.append(request)
        started = monotonic()
        pieces: list[str] = []
        calls: list[ToolCall] = []
        finish: FinishReason = "stop"
        for piece in self._script(request):
            if isinstance(piece, ToolCall):
                calls.append(piece)
                continue
            if len(pieces) == request.max_tokens:
                finish = "length"
                break
            if monotonic() - started > request.deadline:
                finish = "deadline"
                break
            pieces.append(piece)
            if on_token is not None:
                on_token(piece)
        if finish == "deadline" and not pieces:
            raise BudgetSpentError(f"{self.label} did not answer within {request.deadline:g} s.")
        asked = sum(len(message["content"].split()) for message in request.messages())
        return Completion(
            text="".join(pieces),
            model=self.label,
            prompt_tokens=asked,
            completion_tokens=len(pieces),
            finish_reason=finish,
            seconds=monotonic() - started,
            tool_calls=tuple(calls),
        )
