"""The strategy `agent`: a model that reads, asks, edits, builds and times as an engineer does, and whose changes the gates judge."""

from chathpc.fix.agent.strategy import Agent, Bounds, Manner

__all__ = ["Agent", "Bounds", "Manner"]
