"""Claims in, checked claims out: what a language model may say about a diagnosis."""

from __future__ import annotations

from chathpc.grounding.check import GroundedText, Sentence, Statistics, check
from chathpc.grounding.structured import Claimed

__all__ = ["Claimed", "GroundedText", "Sentence", "Statistics", "check"]
