"""What stands between chathpc and every model: credentials go, names become placeholders where others would read them, and what
was said is kept in the user's log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chathpc.errors import ChathpcError
from chathpc.llm.backend import Backend, Completion, Form, OnToken, Request, ToolCall
from chathpc.llm.log import Entry, Log, open_log
from chathpc.llm.price import Notice, Purse
from chathpc.privacy.credentials import redact
from chathpc.privacy.placeholders import Mode, Placeholders, Restorer

if TYPE_CHECKING:
    from chathpc.llm.recorded import Recording
    from chathpc.llm.settings import Settings
    from chathpc.llm.spec import Choice


class GuardedBackend:
    """A back end whose requests leave with placeholders for names, and whose answers come back with the names.

    A caller sees the names only; the back end behind, and the log, the placeholders only. A `purse` stops what would cost too much.
    """

    def __init__(
        self,
        backend: Backend,
        placeholders: Placeholders,
        log: Log | None = None,
        purse: Purse | None = None,
        recording: Recording | None = None,
    ) -> None:
        self._backend = backend
        self._placeholders = placeholders
        self._log = log
        self._purse = purse
        self._recording = recording

    @property
    def name(self) -> str:
        """That of the back end behind."""
        return self._backend.name

    @property
    def label(self) -> str:
        """That of the back end behind."""
        return self._backend.label

    @property
    def form(self) -> Form:
        """That of the back end behind."""
        return self._backend.form

    @property
    def calls_tools(self) -> bool:
        """Whether the back end behind can be offered tools."""
        return bool(getattr(self._backend, "calls_tools", False))

    @property
    def mode(self) -> Mode:
        """What is replaced."""
        return self._placeholders.mode

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """Answer `request`; see Backend."""
        if self._recording is None:
            return self._complete(request, on_token)
        asked = changed(request, redact)
        found = self._recording.find(asked)
        if found is None:
            found = self._complete(request, on_token)
            self._recording.keep(asked, found)
        elif on_token is not None:
            on_token(found.text)
        return found

    def _complete(self, request: Request, on_token: OnToken | None) -> Completion:
        sent = self.concealed(request)
        if self._purse is not None:
            self._purse.afford(sent)
        restorer = None if on_token is None else Restorer(self._placeholders, on_token)
        try:
            completion = self._backend.complete(sent, on_token=restorer)
        except ChathpcError as error:
            self._paid(sent, None)
            self._keep(sent, None, str(error))
            raise
        if restorer is not None:
            restorer.finish()
        self._paid(sent, completion)
        self._keep(sent, completion, "")
        return replace(
            completion,
            text=self._placeholders.restore(completion.text),
            tool_calls=tuple(self._restored(call) for call in completion.tool_calls),
        )

    def begin(self) -> None:
        """Another answer begins; see Purse."""
        if self._purse is not None:
            self._purse.begin()

    def _paid(self, sent: Request, completion: Completion | None) -> None:
        if self._purse is not None:
            self._purse.pay(sent, completion)

    def _restored(self, call: ToolCall) -> ToolCall:
        """A call with names for the placeholders in its arguments, where these are the JSON object that they should be."""
        try:
            arguments = json.loads(call.arguments)
        except (ValueError, RecursionError):
            return call  # the tool will say what is wrong with it
        if not isinstance(arguments, dict):
            return call
        restored = {
            key: self._placeholders.restore(value) if isinstance(value, str) else value
            for key, value in arguments.items()
        }
        return replace(call, arguments=json.dumps(restored, ensure_ascii=False))

    def concealed(self, request: Request) -> Request:
        """`request` as the back end behind gets it."""
        return changed(request, self._leaving)

    def outgoing(self, request: Request) -> bytes:
        """The bytes that `complete` would send for `request`, or, where nothing is sent, the messages as JSON; nothing is called."""
        from chathpc.llm.hosted import HostedBackend, json_bytes

        sent = self.concealed(request)
        if isinstance(self._backend, HostedBackend):
            return self._backend.body(sent)
        return json_bytes({"messages": sent.messages()})

    def _leaving(self, text: str) -> str:
        return self._placeholders.conceal(redact(text))

    def _keep(self, sent: Request, completion: Completion | None, error: str) -> None:
        if self._log is None:
            return
        messages = sent.messages()
        self._log.append(
            Entry(
                model=self._backend.name,
                label=self._backend.label,
                confidential=self.mode,
                system=messages[0]["content"],
                user="\n\n".join(_as_text(message) for message in messages[1:]),
                answer="" if completion is None else redact(completion.text),
                finish="" if completion is None else completion.finish_reason,
                prompt_tokens=None if completion is None else completion.prompt_tokens,
                completion_tokens=None if completion is None else completion.completion_tokens,
                seconds=0.0 if completion is None else completion.seconds,
                error=redact(error),
            )
        )


def changed(request: Request, change: Callable[[str], str]) -> Request:
    """`request` with `change` made to each of its texts."""
    return replace(
        request,
        system=change(request.system),
        user=change(request.user),
        turns=tuple(
            replace(
                turn,
                content=change(turn.content),
                calls=tuple(replace(call, arguments=change(call.arguments)) for call in turn.calls),
            )
            for turn in request.turns
        ),
    )


def _as_text(message: Mapping[str, Any]) -> str:
    """A message of the user as it stands; one that came later with its role and the tools that it asks for."""
    calls = [call["function"] for call in message.get("tool_calls", ())]
    asked = "".join(f"\n{call['name']}({call['arguments']})" for call in calls)
    return str(message["content"]) if message["role"] == "user" else f"{message['role']}: {message['content']}{asked}"


def guarded(
    choice: Choice,
    settings: Settings,
    placeholders: Callable[[Mode], Placeholders],
    notice: Notice | None = None,
) -> GuardedBackend:
    """The back end of `choice`, which there must be, behind the guard that `settings` ask for.

    `placeholders` makes the mapping for a mode, and is called once; `notice` is told what a request to a server needs.
    What goes to a server gets placeholders, also on this machine: behind a local port there may be a tunnel. A model that runs
    in this process gets the names.
    """
    if choice.backend is None:
        raise ValueError("there is no back end to guard")
    from chathpc.llm.hosted import HostedBackend

    mode = settings.confidential if isinstance(choice.backend, HostedBackend) else "none"
    return GuardedBackend(
        choice.backend, placeholders(mode), open_log(settings), Purse(choice, settings, notice), choice.recording
    )


def new_answer(backend: Backend) -> None:
    """Tell the guard before `backend`, if there is one, that another answer begins, so that the money for it counts from nothing."""
    if isinstance(backend, GuardedBackend):
        backend.begin()
