"""Claims in, checked claims out: what a language model may say about a diagnosis."""

from __future__ import annotations

from chathpc.grounding.check import Checker, GroundedText, Statistics, check
from chathpc.grounding.evidence.queries import Measured, NoQueries, Queries, Spread
from chathpc.grounding.itemised import Claim
from chathpc.grounding.judgement import Sentence
from chathpc.grounding.structured import Claimed

__all__ = [
    "Checker",
    "Claim",
    "Claimed",
    "GroundedText",
    "Measured",
    "NoQueries",
    "Queries",
    "Sentence",
    "Spread",
    "Statistics",
    "check",
]
