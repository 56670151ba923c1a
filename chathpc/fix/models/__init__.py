"""Changes that a language model proposes: its answer is text, of which only whole, parsable edits of allowed files are taken."""

from __future__ import annotations

from chathpc.fix.models.advice import Advice
from chathpc.fix.models.direct import Direct
from chathpc.fix.models.team import Team

__all__ = ["Advice", "Direct", "Team"]
