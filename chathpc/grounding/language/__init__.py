"""A sentence read: words, numbers, clauses and what they are about, knowing nothing of any diagnosis."""
