"""Questions in plain language, matched to the tool that answers them; for use without a model, or with one that cannot choose."""

from __future__ import annotations

from chathpc.chat.intents.match import Intent, match

__all__ = ["Intent", "match"]
