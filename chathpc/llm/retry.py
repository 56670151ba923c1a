"""Which failures of a model's server are worth another try, after how long, and how often."""

from __future__ import annotations

from dataclasses import dataclass


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
