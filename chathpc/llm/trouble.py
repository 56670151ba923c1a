"""Requests to a model's server that failed: why, which are worth another try, after how long and how often, and what a user is told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.llm.keys import Endpoint, Key
from chathpc.profile.text import clean

_TOO_LONG = re.compile(r"context (?:length|size|window)|too many tokens|prompt is too long", re.IGNORECASE)


class Trouble(Exception):
    """A request that failed: what was said, the HTTP status (0: there was none), and whether to try again."""

    def __init__(
        self,
        message: str,
        status: int = 0,
        code: str = "",
        retry: Retry | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.retry = retry
        self.retry_after = retry_after

    @property
    def too_long(self) -> bool:
        """Whether the prompt does not fit the model."""
        return self.status in (400, 413) and bool(_TOO_LONG.search(self.message) or "context" in self.code)

    @property
    def refuses_schema(self) -> bool:
        """Whether it may be the schema that the server does not take; some fail at it with status 500."""
        return self.status in (400, 422, 500, 501) and not self.too_long


def transport() -> Any:
    """The package that openai sends with: httpx, and httpx2 from openai 3."""
    import openai

    return import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])


def failures() -> tuple[type[Exception], ...]:
    """What openai and the transport under it raise."""
    import openai

    http = transport()
    return (openai.OpenAIError, http.HTTPError, http.StreamError, http.InvalidURL, OSError, ValueError)


def trouble_of(error: Exception) -> Trouble:
    """What an exception of the package or its transport means."""
    import openai

    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        body = error.body if isinstance(error.body, dict) else {}
        code = f"{body.get('code') or ''} {body.get('type') or ''} {body.get('param') or ''}"
        said = body.get("message")
        message = str(said) if said else "no reason given"
        again = None if "insufficient_quota" in code else STATUS.get(status)
        return Trouble(message, status, code, again, _seconds(error.response.headers.get("retry-after")))
    if isinstance(error, openai.APITimeoutError):
        return Trouble("does not answer")
    detail = error.__cause__ or error
    return Trouble(f"cannot be reached: {detail}", retry=CONNECTION)


def final_error(trouble: Trouble, tried: int, endpoint: Endpoint, key: Key) -> Exception:
    """What a user is told of a request that failed for good, after so many tries."""
    host = clean(endpoint.host)
    message = key.redact(trouble.message).rstrip(".")
    again = f" ({tried} tries)" if tried > 1 else ""
    if trouble.status == 0:
        hint = "Is the server running, and the base URL right?"
        return ModelUnavailableError(f"{host} {message}{again}.", hint=hint)
    said = f"{host} answered with HTTP status {trouble.status}{again}: {message}."
    if trouble.too_long:
        return BudgetSpentError(said, hint="The prompt is too long for this model; use one with a larger context.")
    if trouble.status in (401, 403):
        sent = "It refused the key." if key.secret else "No key was sent."
        hint = f"{sent} Set OPENAI_API_KEY (sent over https, or beside OPENAI_BASE_URL) or api_key_file."
    elif 300 <= trouble.status < 400:
        hint = "Redirections are not followed: give the final address as the base URL."
    elif trouble.status == 404:
        hint = "Does the base URL end as the server wants it, usually in /v1, and is the model's name right?"
    elif trouble.status == 429:
        hint = "Its limit on requests or money is reached; wait, or use --llm local or --llm none."
    else:
        hint = "Use --llm none for a report without a model."
    return ModelUnavailableError(said, hint=hint)


def check_type(response: Any) -> None:
    """Raises Trouble for what no model's server sends, such as the page of a proxy or a login."""
    kind = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
    if kind not in ("text/event-stream", "application/json", ""):
        raise Trouble(f"sent {clean(kind)[:80]} instead of an answer")


def _seconds(value: str | None) -> float | None:
    """Retry-After in seconds; its other form, a date, is not used by such servers."""
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Retry:
    """`times` more tries; the pause before the first is `pause` seconds, and doubles."""

    times: int
    pause: float


#: HTTP status (RFC 9110, section 15; 529 is "overloaded" at some providers) → what to do. Others are final.
STATUS = {
    408: Retry(2, 0.5),
    425: Retry(2, 0.5),
    429: Retry(4, 1.0),
    500: Retry(2, 0.5),
    502: Retry(3, 0.5),
    503: Retry(4, 1.0),
    504: Retry(2, 1.0),
    529: Retry(4, 2.0),
}
#: The connection was refused or reset: the server may be starting.
CONNECTION = Retry(2, 0.3)
#: The answer was cut off, or was no answer.
BROKEN_ANSWER = Retry(1, 0.3)

#: A server that asks for a longer pause than this is taken at its word, and not asked again (seconds).
LONGEST_PAUSE = 30.0


def pause_before(retry: Retry | None, tried: int, asked: float | None, remaining: float) -> float | None:
    """Seconds to wait before the next try, or None if there is to be none.

    `tried` counts the tries so far, `asked` is the server's Retry-After in seconds, `remaining` what the deadline leaves.
    """
    if retry is None or tried > retry.times:
        return None
    pause = retry.pause * 2.0 ** (tried - 1)
    if asked is not None:
        pause = max(pause, asked)
    return pause if pause <= LONGEST_PAUSE and pause < remaining else None
