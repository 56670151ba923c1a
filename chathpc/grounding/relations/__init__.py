"""Whether what a sentence says of things to each other is so: comparisons, states, roles, who waits."""
