"""Questions about a profile: the read-only tools that the conversation, other agents and notebooks share, and the conversation."""
