"""How good chathpc is, measured on labelled profiles: read the labels, run each case, score, compare with floors, tell."""
