"""Whether a number is one that the evidence has, or follows from it."""
