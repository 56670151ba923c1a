"""The strategy `agent`: a model that reads, asks, edits, builds and times as an engineer does, and whose changes the gates judge."""

from chathpc.fix.agent.agent import Agent

__all__ = ["Agent"]
