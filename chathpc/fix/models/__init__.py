"""What asks models without tools: a question a suggestion, and edits from the answer's text."""

from chathpc.fix.models.advice import Advice

__all__ = ["Advice"]
