"""What recipes know of a program: its syntax, what statements do, dependences, types, and edits of texts."""
