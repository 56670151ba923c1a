"""Questions in plain language, matched to the tool that answers them; for use without a model, or with one that cannot choose."""

from __future__ import annotations

from chathpc.chat.intents.match import Intent, Last, match

__all__ = ["Intent", "Last", "match"]
