"""Propose a change, build it, check it, time it, profile it again, and only then believe it."""
